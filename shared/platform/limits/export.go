package limits

// The limits of an export. One function at a time makes an export. It holds the export for ExportLease, which is longer
// than that function may run.
const (
	ExportLease   = BundleLease
	ExportLife    = 7 * Day      // of the archives of a ready export
	ExportVolumes = 10_000       // volumes of one export
	ExportListed  = 5000         // artifacts whose ids one item lists
	ExportKeys    = 2 * LiveKeys // API keys that an export describes
)

// ExportVolume bounds one archive of an export. A file larger than Bytes gets an archive of its own.
type ExportVolume struct {
	Bytes     int64 // of files
	Entries   int   // that the manifest lists: files, removed paths, revisions without either, and what is skipped
	Artifacts int
}
