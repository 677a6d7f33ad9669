package limits

import "time"

// What has to do with deleting workspaces.
const (
	DeletionGrace = 14 * Day         // how long a deletion can be cancelled
	RemovalWait   = 10 * time.Minute // how long a removal waits for other jobs
)
