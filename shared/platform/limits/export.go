package limits

import "time"

// An export of a workspace is made by one function at a time, which has it for ExportLease: longer than that function
// may run. Attempts count since the last volume that was made.
const (
	ExportLease    = BundleLease
	ExportAttempts = 5
	ExportReplans  = 3               // how often a volume is begun anew at once because a file vanished meanwhile
	ExportTime     = Day             // one that is not ready by then fails; each deletion meanwhile makes it begin anew
	ExportLife     = 7 * Day         // of the archives of an export that is ready
	ExportURLLife  = time.Hour       // signed URL of one of its volumes
	ExportRetry    = 5 * time.Second // when a client asks again for one that is made
	ExportVolumes  = 1000            // volumes of one export
	ExportListed   = 5000            // artifacts whose ids one item lists
	ExportEvents   = 10_000          // events that one volume has
	ExportKeys     = 2 * LiveKeys    // API keys that an export describes
)

// ExportVolume bounds one archive of an export. A revision is never split, so that one that is larger than Bytes is in
// an archive of its own.
type ExportVolume struct {
	Bytes     int64 // of files
	Files     int
	Artifacts int
}
