package limits

import "time"

// Times of the deletion of a workspace.
const (
	DeletionGrace = 14 * Day         // how long a deletion can be cancelled
	RemovalWait   = 10 * time.Minute // how long a removal waits for other jobs
)
