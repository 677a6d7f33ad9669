// Package upload receives files: a session declares them, presigned PUTs upload them, and finalize verifies them and
// makes a draft.
package upload

import (
	"context"
	"io"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// Status is the state of a session.
type Status string

// The states of a session. A session is over at ExpiresAt, although its status changes later.
const (
	Pending   Status = "pending"
	Finalized Status = "finalized"
	Expired   Status = "expired"
)

// Session is an upload session.
type Session struct {
	ID         id.Session
	Workspace  id.Workspace
	Home       id.Workspace // under whose id its bytes are stored
	Artifact   id.Artifact  // reserved when New
	Revision   id.Revision  // reserved
	New        bool         // the artifact does not exist until this session is finalized
	Status     Status
	ExpiresAt  time.Time
	Base       id.Revision // of a partial manifest; empty: the manifest is whole
	Reuses     id.Revision // the revision whose bytes some entries reuse; empty: none
	Title      string
	Entrypoint string
	Listing    bool          // the viewer opens the list of files; finalize adds that of the base
	App        artifact.App  // as the publisher said, now or before; NoApp: finalize looks at the pages
	Mode       media.Mode    // empty: inferred
	Diffs      bool          // some of its files are uploaded as diffs
	FileCount  int           // of the declaration; once finalized, of the revision
	Size       int64         // likewise
	Life       time.Duration // of the artifact, from CreatedAt; a later publication may prolong it
	CreatedAt  time.Time
}

// Entry is a declared file or a deleted path. Files come first, in the order of the request.
type Entry struct {
	Path   string
	Size   int64        // of what is uploaded: the diff, if there is a Patch
	SHA256 *tree.Digest // nil: not declared, hashed when finalized
	Object tree.Object  // of its bytes, which may not be uploaded yet; an empty file has none
	Reused bool         // needs no upload
	// Borrowed is that of tree.File: the bytes were found in the content index or in an earlier revision.
	Borrowed bool
	Referrer id.Revision // that of tree.File: the earlier revision, or the one that it inherited the file from
	Patch    *Patch      // nil: the upload is the file itself
	Deleted  bool        // a path of the base, which is removed; all fields but Path are zero
}

// PutTarget is a presigned upload.
type PutTarget struct {
	URL     string
	Headers map[string]string // to be sent unchanged; lower-case names
	Expires time.Time
}

// Service creates upload sessions and turns them into drafts.
type Service struct {
	Store   Store
	Index   ContentIndex
	Objects Objects
	Limits  *limits.Limits
	Loads   media.Sources // what pages may load from other hosts
	Own     bool          // artifacts have origins of their own
	Now     func() time.Time
	// Lease is how long an attempt to finalize may take before another may take over. Zero means limits.FinalizeLease.
	Lease time.Duration
}

// Store is the service's view of the tables.
type Store interface {
	Sessions
	Finalizations
	// ListSize returns how many bytes the longer of two lists takes when it is stored, that of a revision's files and that
	// of a session's entries, and how many before it is compressed.
	ListSize(files tree.Tree, entries []Entry) (stored, whole int)
}

// Finalizations stores drafts and the leases of attempts.
type Finalizations interface {
	// Claim takes the command for owner until lease. It fails with *idempotency.AlreadyDone if another attempt holds or
	// finished the command. A lease that has expired may be taken.
	Claim(ctx context.Context, c idempotency.Command, owner string, now, lease time.Time) error
	// Release gives the command back if owner still holds it unfinished.
	Release(ctx context.Context, c idempotency.Command, owner string) error
	// Contents reads a revision of an artifact with its files, nil if there is none. An eventually consistent read will
	// do, because files never change.
	Contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error)
	// Finalize commits f in one transaction. Conditions: the session is pending, f.Owner holds the command, and the
	// artifact is new, or it is live, unlocked, without a draft and at f.Current. Errors: *idempotency.AlreadyDone (the
	// lease was lost), *Settled, upload_session_not_found (the session is gone), artifact.ErrMoved (another revision is
	// current), artifact_not_found, draft_revision_conflict, invalid_request (a reused revision is gone),
	// not_authenticated (the workspace closed), database_unavailable.
	Finalize(ctx context.Context, f Finalization) error
}

// Finalization is everything that Finalize writes.
type Finalization struct {
	Command  idempotency.Command
	Result   []byte // a totals
	Owner    string
	Session  Session
	Artifact artifact.Artifact // created if the session is New
	Revision artifact.Revision
	Tree     tree.Tree
	Current  id.Revision // has to be the current one; empty: any
	At       time.Time
	Event    event.Event
}

// Settled means that the session is no longer pending. Session is its stored state.
type Settled struct {
	Session Session
}

// Error implements error.
func (s *Settled) Error() string { return "the session is " + string(s.Session.Status) }

// ContentIndex finds bytes that another revision of the same home uploaded.
type ContentIndex interface {
	// Lookup returns the objects of a home for the contents that have an index entry. An entry may be stale and its bytes
	// gone, so Finalize checks them before the commit. Lookup must never return another home's objects.
	Lookup(ctx context.Context, home id.Workspace, wanted []tree.Content) (map[tree.Content]tree.Object, error)
	// Remove removes the entry of a content if the entry names this object, and reports whether it did.
	Remove(ctx context.Context, home id.Workspace, c tree.Content, o tree.Object) (was bool, err error)
	// AddReference stores references of a revision, which keep objects from being collected while the revision has its
	// files. It fails unless all are stored. Repeating it is no error.
	AddReference(ctx context.Context, a id.Artifact, r id.Revision, objects []tree.Object) error
}

// Objects stores the bytes of sessions. Failures are storage_unavailable.
type Objects interface {
	// Presign returns a URL to which size bytes (> 0) can be written once. The store refuses another length, another
	// digest, if one is given, and a second write. The target expires earlier than requested if the signing credentials
	// do.
	Presign(
		ctx context.Context, home id.Workspace, o tree.Object, size int64, digest *tree.Digest, expires time.Time,
	) (PutTarget, error)
	// List returns the sizes of a session's files, or of its diffs, by entry number. Objects that belong to no entry have
	// negative numbers.
	List(ctx context.Context, home id.Workspace, s id.Session, diffs bool) (map[int]int64, error)
	// Put writes an object that the service made. Writing the same bytes again is no error.
	Put(ctx context.Context, home id.Workspace, o tree.Object, body []byte, digest tree.Digest) error
	// Open reads size bytes of an object from an offset. A missing object is not_found.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
	// Head returns the size of an object. A missing object is not_found.
	Head(ctx context.Context, home id.Workspace, o tree.Object) (int64, error)
}
