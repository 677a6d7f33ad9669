package limits

// An export of a workspace is made by one function at a time, which has it for ExportLease: longer than that function
// may run.
const (
	ExportLease   = BundleLease
	ExportLife    = 7 * Day      // of the archives of an export that is ready
	ExportVolumes = 1000         // volumes of one export
	ExportListed  = 5000         // artifacts whose ids one item lists
	ExportKeys    = 2 * LiveKeys // API keys that an export describes
)

// ExportVolume bounds one archive of an export. A revision is never split, so that one that is larger than Bytes is in
// an archive of its own.
type ExportVolume struct {
	Bytes     int64 // of files
	Files     int
	Artifacts int
}
