// Package upload takes files in: a session declares them, presigned PUTs upload them, and finalize verifies them and
// makes a draft.
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

// Status is the state of a session.
type Status string

// The states of a session. A session expires at ExpiresAt; its status follows later.
const (
	Pending   Status = "pending"
	Finalized Status = "finalized"
	Expired   Status = "expired"
)

// Session is an upload session.
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

// Entry is a declared file, in the order of the request, or after those a path that the revision deletes.
type Entry struct {
	Path   string
	Size   int64        // of what is uploaded: the diff, if there is a Patch
	SHA256 *tree.Digest // nil: not declared, hashed when finalized
	Object tree.Object  // where its bytes are or will be; an empty file has none
	Reused bool         // needs no upload
	// Borrowed means that the bytes were found through the content index, or through the revision that this one builds on:
	// see tree.File.
	Borrowed bool
	Patch    *Patch // nil: the upload is the file
	Deleted  bool   // a path of the base; all other fields are zero
}

// PutTarget is a presigned upload.
type PutTarget struct {
	URL     string
	Headers map[string]string // to be sent exactly; lower-case names
	Expires time.Time
}

// Service creates upload sessions and turns them into drafts.
type Service struct {
	Store   Store
	Index   ContentIndex
	Objects Objects
	Limits  *limits.Limits
	Now     func() time.Time
	// Lease is how long an attempt to finalize may take before another may take over; zero means limits.FinalizeLease.
	Lease time.Duration
}

// Store is what Service needs of the store.
type Store interface {
	Sessions
	Finalizations
}

// Objects stores the bytes of sessions. Failures are storage_unavailable.
type Objects interface {
	// Presign returns a URL with which size bytes (> 0) can be written once. The store refuses another length, bytes with
	// another digest, if one is given, and a second write. The target may expire before the requested time if the signing
	// credentials do.
	Presign(
		ctx context.Context, home id.Workspace, o tree.Object, size int64, digest *tree.Digest, expires time.Time,
	) (PutTarget, error)
	// List returns the sizes of a session's files, or of its diffs, by entry. Objects that are not entries have negative
	// numbers.
	List(ctx context.Context, home id.Workspace, s id.Session, diffs bool) (map[int]int64, error)
	// Put writes an object that the service made. Writing the same bytes again is no error.
	Put(ctx context.Context, home id.Workspace, o tree.Object, body []byte, digest tree.Digest) error
	// Open reads size bytes of an object from an offset; not_found if it does not exist.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
	// Head returns the size of an object; not_found if it does not exist.
	Head(ctx context.Context, home id.Workspace, o tree.Object) (int64, error)
}
