package limits

// Comparisons of revisions.
const (
	ComparedFile  = 256 << 10 // largest file that has a diff
	ComparedLines = 1 << 14   // lines of such a file
	ComparedLine  = 8 << 10   // bytes of such a line
	ComparedFiles = 20        // files that one answer reads of both revisions
	ComparedLook  = 2000      // lines that one page shows
)
