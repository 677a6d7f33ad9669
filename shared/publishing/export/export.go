// Package export lets members take everything out of a workspace: a series of zip archives, each with a manifest. A
// function makes them in steps, so this package holds what members ask and see; package sweep makes the archives.
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
	Pending Status = "pending" // its archives are made one after the other
	Ready   Status = "ready"
	Failed  Status = "failed"  // given up; final
	Expired Status = "expired" // it was ready; its archives are deleted or about to be
)

// Why an export failed, or expired before its time, in words for its members.
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
	Member    id.Member // who asked for it
	CreatedAt time.Time
	StartedAt time.Time // when its content was listed; zero: not yet
	EndedAt   time.Time // when it became ready, or failed
	ExpiresAt time.Time // of one that is or was ready
	Reason    string    // of one that failed, or expired before its time

	Artifacts int      // that were listed
	Skipped   int      // artifacts and revisions that had vanished
	Next      Position // what the next archive begins with
	Volumes   []Volume // that are made
	Attempts  int      // begun since the last archive was made
}

// Volume is one archive of an export.
type Volume struct {
	Size   int64
	SHA256 tree.Digest
}

// Position is how far an export is: everything before it is in archives that are made.
type Position struct {
	Artifact int    // index in the list of artifacts; those before it are done
	Revision int    // number of the last revision of that artifact that is done; zero: none
	Events   string // the last event that is done, in the words of its store; empty: none
}

// At returns the export as it is at an instant. It expires by the clock or for a reason, and the jobs follow.
func (e Export) At(now time.Time) Export {
	if e.Status == Ready && (e.Reason != "" || !now.Before(e.ExpiresAt)) {
		e.Status = Expired
	}
	return e
}

// MayHold reports whether archives of the export, those that are still made included, may hold an artifact that was
// created at an instant. What was created after the artifacts were listed is in none.
func (e Export) MayHold(created, now time.Time) bool {
	switch e.At(now).Status {
	case Pending:
		return e.StartedAt.IsZero() || !created.After(e.StartedAt)
	case Ready:
		return !created.After(e.StartedAt)
	}
	return false
}

// Size is the sum of all archives that are made.
func (e Export) Size() (n int64) {
	for _, v := range e.Volumes {
		n += v.Size
	}
	return n
}

// Object names the stored archive with a number, from 1 on.
func (e Export) Object(volume int) Object {
	return Object{Workspace: e.Workspace, Export: e.ID, Volume: volume}
}

// Object names a stored archive.
type Object struct {
	Workspace id.Workspace
	Export    id.Export
	Volume    int
}

// FileName is the name under which the archive with a number is saved.
func (e Export) FileName(volume int) string {
	name := "vitrine-export-" + e.CreatedAt.UTC().Format("2006-01-02")
	if len(e.Volumes) > 1 {
		name += fmt.Sprintf("-%d-of-%d", volume, len(e.Volumes))
	}
	return name + ".zip"
}

// CleanupAt is when the objects of an export may be deleted that another one replaces: no attempt may be under way
// then.
func (e Export) CleanupAt(now time.Time) time.Time {
	if e.Status == Failed {
		if end := e.EndedAt.Add(limits.ExportLease); end.After(now) {
			return end
		}
	}
	return now
}
