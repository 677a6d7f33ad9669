package limits

import "time"

// Comparisons of revisions.
const (
	DiffAnswer    = 64 << 10  // bytes of diffs in one answer
	ComparedFile  = 256 << 10 // largest file that has a diff
	ComparedLines = 1 << 14   // lines of such a file
	ComparedLine  = 8 << 10   // bytes of such a line
	ComparedFiles = 20        // files that one answer reads from both revisions
	ComparedLook  = 2000      // lines that one page shows
	// ComparedPictures is of how many files one page shows pictures; a browser loads all at once.
	ComparedPictures = 8
	// ComparedColumns is how many columns a table has at most that is compared by cells.
	ComparedColumns = 64
	// ComparisonTime is when an answer takes no more files, so that it does not come too late.
	ComparisonTime = 1200 * time.Millisecond
)
