// Package edit publishes texts that a caller sends as a whole, and changes files of artifacts in place.
package edit

import (
	"context"
	"io"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// Service publishes and changes texts. It opens a session, stores the bytes, finalizes and publishes in one process, as
// a client does over HTTP. It stores a changed file as a whole, because a diff saves no bytes within one process.
//
// A change carries its base revision. If another revision becomes current before the draft is committed, the change is
// made again from that one, in a session of its own. Each session has a record, under a key derived from the caller's.
// A repetition goes on where an earlier attempt ended: with the session of the last record and the base that this
// session names, even if the artifact has a newer revision by then.
type Service struct {
	Uploads   Uploads
	Artifacts Artifacts
	Store     Store
	Objects   Objects
	Now       func() time.Time
}

// Uploads opens sessions and makes drafts of them.
type Uploads interface {
	// Open opens a session for declared files, after permit. A repetition returns the ids of the first session, and no
	// session.
	Open(
		ctx context.Context, by credential.Actor, cmd idempotency.Command, record *idempotency.Record,
		r contract.CreateSession, permit func() error,
	) (upload.Opened, error)
	// Reopen reads the session of a repetition. It refuses one that has expired.
	Reopen(ctx context.Context, o upload.Opened) (upload.Opened, error)
	// Finalize makes the draft. It fails with artifact.ErrMoved if a.Current is no longer current.
	Finalize(ctx context.Context, by credential.Actor, a upload.Attempt) (upload.Draft, error)
}

// Artifacts reads artifacts and publishes their drafts.
type Artifacts interface {
	// Owned reads an artifact of the caller's workspace. Another artifact is artifact_not_found.
	Owned(ctx context.Context, by credential.Actor, named id.Artifact) (*artifact.Artifact, error)
	// Publish makes a draft the newest revision. It returns a revision that is already published again, without effect.
	Publish(ctx context.Context, by credential.Actor, t artifact.Target) (artifact.PublishedRevision, error)
}

// Store reads the bases of changes and the records of earlier attempts.
type Store interface {
	// Contents reads a revision and its files, nil if there is no such revision. An eventually consistent read will do.
	Contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error)
	// Record reads the record of a command strongly, nil if there is none.
	Record(ctx context.Context, k idempotency.Key) (*idempotency.Record, error)
	// Target reads an artifact, one of its revisions and the record of publishing it, in one strongly consistent batch.
	// Each is nil if it does not exist.
	Target(
		ctx context.Context, k idempotency.Key, a id.Artifact, r id.Revision,
	) (*artifact.Artifact, *artifact.Revision, *idempotency.Record, error)
	// Keep records a command that made no revision, while the workspace is open. Errors: *idempotency.AlreadyDone,
	// not_authenticated (the workspace closed), database_unavailable.
	Keep(ctx context.Context, c idempotency.Command, result []byte, w id.Workspace, now time.Time) error
	artifact.Workspaces
}

// Objects stores and reads the bytes of files. Failures are storage_unavailable.
type Objects interface {
	// Put writes an object. Writing the same bytes again is no error.
	Put(ctx context.Context, home id.Workspace, o tree.Object, body []byte, digest tree.Digest) error
	// Open reads size bytes of an object from an offset. A missing object is not_found.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
}

// Request identifies a request, so that its repetition has one effect.
type Request struct {
	Client      string                  // the key of the caller, or one that the host derives
	Derived     bool                    // the host derived Client, and a later session of the client may get the same key
	Fingerprint idempotency.Fingerprint // of the tool and its arguments
	Record      *idempotency.Record     // of CreateSession with that key, as it was read with the credential; nil: none
	Addresses   []artifact.Address      // threads that the revision deals with
	Permit      func() error            // waits for the rate limits; called before bytes are read and before any write
}

// Result is the outcome of a request.
type Result struct {
	Published artifact.PublishedRevision
	Stats     Stats
	Warnings  lint.Report // findings in the pages of that revision, as they were stored
	Changed   bool        // false: the artifact already had these bytes, and Published is its current revision
}

// Stats count the files of a new revision by the source of their bytes. All are zero if there is no new revision.
type Stats struct {
	TotalFiles, UploadedFiles, ReusedFiles int
	TotalBytes, UploadedBytes, ReusedBytes int64
}

// Publish publishes a text as a new artifact.
func (s *Service) Publish(
	ctx context.Context, by credential.Actor, r Request, title string, t Text,
) (Result, error) {
	path, err := t.check()
	if err != nil {
		return Result{}, err
	}
	return s.repeat(ctx, by, r, func(r Request) (Result, error) {
		return s.task(by, r, nil).create(ctx, contract.CreateSession{
			Title:      title,
			Entrypoint: path,
			RenderMode: string(t.Mode),
		}, t.Body)
	})
}

// Revise publishes a text as a new revision of an artifact, which keeps its title and its other files. The text becomes
// the entrypoint. a is the artifact as it was read with the credential. If it is nil, Revise reads the artifact.
func (s *Service) Revise(
	ctx context.Context, by credential.Actor, r Request, a *artifact.Artifact, named id.Artifact, t Text,
) (Result, error) {
	path, err := t.check()
	if err != nil {
		return Result{}, err
	}
	body := func(context.Context, id.Workspace, *artifact.Contents) (string, error) { return t.Body, nil }
	c := &change{
		artifact: named,
		path:     path,
		mode:     t.Mode,
		body:     body,
	}
	return s.repeat(ctx, by, r, func(r Request) (Result, error) { return s.task(by, r, c).run(ctx, a) })
}

// Edit replaces parts of a text file of an artifact and publishes the result as a new revision. Each edit applies to
// the result of the one before. Failures of the edits are invalid_request with a Reason. a is the artifact as it was
// read with the credential. If it is nil, Edit reads the artifact.
func (s *Service) Edit(
	ctx context.Context, by credential.Actor, r Request, a *artifact.Artifact, named id.Artifact, path string,
	edits []Replacement,
) (Result, error) {
	c := &change{artifact: named, path: path}
	c.body = func(ctx context.Context, home id.Workspace, base *artifact.Contents) (string, error) {
		text, err := s.read(ctx, home, base.Tree, path)
		if err != nil {
			return "", err
		}
		return replaceAll(text, edits)
	}
	return s.repeat(ctx, by, r, func(r Request) (Result, error) { return s.task(by, r, c).run(ctx, a) })
}
