// Package upload takes files in: a session declares them, presigned PUTs bring them, finalize verifies them and makes a draft.
package upload

import (
	"context"
	"io"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
)

// Status is where a session is in its life.
type Status string

// The states of a session. Expiry is judged by ExpiresAt; the status follows later.
const (
	Pending   Status = "pending"
	Finalized Status = "finalized"
	Expired   Status = "expired"
)

// Session is the gate item of an upload session.
type Session struct {
	ID         id.Session
	Workspace  id.Workspace
	Home       id.Workspace // where its bytes lie
	Artifact   id.Artifact  // reserved when New
	Revision   id.Revision  // reserved
	New        bool         // the artifact does not exist before this session is finalized
	Status     Status
	ExpiresAt  time.Time
	Base       id.Revision // of a partial manifest; empty: the manifest is whole
	Reuses     id.Revision // the revision whose bytes some entries reuse; empty: none
	Title      string
	Entrypoint string
	Mode       media.Mode    // empty: inferred
	Diffs      bool          // some of its files come as diffs
	FileCount  int           // of the declaration, and once finalized of the revision
	Size       int64         // the same
	Life       time.Duration // of the artifact, from CreatedAt; a later publication may prolong it
	CreatedAt  time.Time
}

// Entry is one declared file, in the order of the request, or behind those a path that the revision does not keep.
type Entry struct {
	Path   string
	Size   int64        // of what is uploaded: the diff, if there is a Patch
	SHA256 *tree.Digest // nil: not declared, hashed when finalized
	Object tree.Object  // where its bytes are or will be; an empty file has none
	Reused bool         // needs no upload
	// Borrowed says that a hint, or the revision that this one builds on, found the bytes: see tree.File.
	Borrowed bool
	Patch    *Patch // nil: the upload is the file
	Deleted  bool   // of the base; nothing else is set then
}

// PutTarget is a presigned upload.
type PutTarget struct {
	URL     string
	Headers map[string]string // to be sent exactly; lower-case names
	Expires time.Time
}

// Service opens upload sessions and turns them into drafts.
type Service struct {
	Store   Store
	Index   ContentIndex
	Objects Objects
	Limits  *limits.Limits
	Now     func() time.Time
	// Lease is how long an attempt to finalize may take before another may take over; zero: limits.FinalizeLease.
	Lease time.Duration
}

// Store is what Service needs of the store.
type Store interface {
	Sessions
	Finalizations
}

// Objects is what sessions need of the object store. Failures are storage_unavailable.
type Objects interface {
	// Presign lets the holder of the URL write size bytes (> 0) once: another length, other bytes than the digest, if
	// one is given, and a second write are refused by the store. The target may expire before the asked time when the
	// signing credentials do.
	Presign(ctx context.Context, home id.Workspace, o tree.Object, size int64, digest *tree.Digest, expires time.Time) (PutTarget, error)
	// List returns the sizes of the files that a session holds, or of its diffs, by entry. Objects that are no entry have
	// negative numbers.
	List(ctx context.Context, home id.Workspace, s id.Session, diffs bool) (map[int]int64, error)
	// Put writes an object of the service's own making. Writing the same bytes again is no failure.
	Put(ctx context.Context, home id.Workspace, o tree.Object, body []byte, digest tree.Digest) error
	// Open reads size bytes of an object from an offset; not_found if it is gone.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
	// Head returns the size of an object; not_found if it is gone.
	Head(ctx context.Context, home id.Workspace, o tree.Object) (int64, error)
}
