package limits

import "time"

// Comparisons of revisions.
const (
	DiffAnswer    = 64 << 10  // bytes of diffs in one answer
	ComparedFile  = 256 << 10 // largest file that has a diff
	ComparedLines = 1 << 14   // lines of such a file
	ComparedLine  = 8 << 10   // bytes of such a line
	ComparedFiles = 20        // files that one answer reads of both revisions
	ComparedLook  = 2000      // lines that one page shows
	// ComparedPictures is how many files one page shows as pictures. It is low because a browser loads all at once.
	ComparedPictures = 8
	// ComparedColumns is the largest number of columns of a table that is compared cell by cell.
	ComparedColumns = 64
	// ComparisonTime is how long an answer goes on adding files, so that it is not late itself.
	ComparisonTime = 1200 * time.Millisecond
)
