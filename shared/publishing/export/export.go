// Package export lets members take everything out of a workspace as a series of zip archives, which package sweep makes
// in steps.
package export

import (
	"fmt"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// Status is the state of an export.
type Status string

// The states of an export.
const (
	Pending Status = "pending" // its archives are being made, one after the other
	Ready   Status = "ready"
	Failed  Status = "failed"  // given up; final
	Expired Status = "expired" // was ready; its archives are deleted or about to be
)

// The reasons why an export failed or expired early, as members read them.
const (
	Unreadable = "some files could not be read, in several attempts"
	TooLarge   = "the workspace holds more than an export takes; delete what you do not need, or download artifacts singly"
	Overtaken  = "artifacts were deleted or locked again and again while it was made"
	Withdrawn  = "an artifact that it may hold was deleted or locked after it was made"
)

// Export is the newest export of a workspace.
type Export struct {
	ID        id.Export
	Workspace id.Workspace
	Status    Status
	Member    id.Member // the one who requested it
	CreatedAt time.Time
	StartedAt time.Time // when its artifacts were listed; zero: not yet
	EndedAt   time.Time // when it became ready or failed
	ExpiresAt time.Time // set once it is ready
	Reason    string    // why it failed or expired early; empty: it did not

	Artifacts int      // listed ones
	Skipped   int      // artifacts and revisions that had vanished
	Next      Position // where the next archive begins
	Volumes   []Volume // finished ones
	Most      int      // finished ones at most, also before it began anew; older code did not count
	Attempts  int      // begun since the last archive was made
}

// Volume is one archive of an export.
type Volume struct {
	Size   int64
	SHA256 tree.Digest
}

// Position is the progress of an export: everything before it is in finished archives.
type Position struct {
	Artifact int    // index in the list of artifacts; those before it are done
	Revision int    // number of the last done revision of that artifact; zero: none
	Changes  int    // of the revision that follows, done ones
	Events   string // the last done event, in the form of package sweep; empty: none
}

// At returns the export as it is at an instant. It expires by the clock or for a reason. The stored status follows
// later.
func (e Export) At(now time.Time) Export {
	if e.Status == Ready && (e.Reason != "" || !now.Before(e.ExpiresAt)) {
		e.Status = Expired
	}
	return e
}

// MayHold reports whether archives of the export, finished or not, may hold an artifact that was created at an instant.
// An artifact that was created after the list was made is in none.
func (e Export) MayHold(created, now time.Time) bool {
	switch e.At(now).Status {
	case Pending:
		return e.StartedAt.IsZero() || !created.After(e.StartedAt)
	case Ready:
		return !created.After(e.StartedAt)
	}
	return false
}

// Size returns the total size of the finished archives in bytes.
func (e Export) Size() (n int64) {
	for _, v := range e.Volumes {
		n += v.Size
	}
	return n
}

// Object returns the name of the stored archive with a number, from 1 on.
func (e Export) Object(volume int) Object {
	return Object{Workspace: e.Workspace, Export: e.ID, Volume: volume}
}

// Object names a stored archive.
type Object struct {
	Workspace id.Workspace
	Export    id.Export
	Volume    int
}

// FileName returns the name under which browsers save the archive with a number.
func (e Export) FileName(volume int) string {
	name := "vitrine-export-" + e.CreatedAt.UTC().Format("2006-01-02")
	if len(e.Volumes) > 1 {
		name += fmt.Sprintf("-%d-of-%d", volume, len(e.Volumes))
	}
	return name + ".zip"
}

// CleanupAt returns when the objects of a replaced export may be deleted. An attempt of a failed one may be under way
// until limits.ExportLease after its end.
func (e Export) CleanupAt(now time.Time) time.Time {
	if e.Status == Failed {
		if end := e.EndedAt.Add(limits.ExportLease); end.After(now) {
			return end
		}
	}
	return now
}
