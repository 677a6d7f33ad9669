// Package edit publishes text that a caller sends as a whole, and changes files of artifacts in place.
//
// It runs the steps that a client runs over HTTP, opening a session, storing the bytes, finalizing and publishing, in
// one process. A changed file is stored as a whole, because a diff would save bytes between two ends that are the same
// process here.
//
// A change carries the revision that it was made of. If another one became current before the draft is made, the change
// is made again of that one, by a session of its own. Each session has a record under a key derived from the caller's.
// A repetition goes on where an earlier attempt ended: with the session of the last record, and with the base that the
// session names, even if the artifact has a newer revision by then.
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

// Service publishes and changes texts.
type Service struct {
	Uploads   Uploads
	Artifacts Artifacts
	Store     Store
	Objects   Objects
	Now       func() time.Time
}

// Uploads opens sessions and makes drafts of them.
type Uploads interface {
	// Open opens a session for declared files, after permit; a repetition has the ids of the first one and no session.
	Open(
		ctx context.Context, by credential.Actor, cmd idempotency.Command, record *idempotency.Record,
		r contract.CreateSession, permit func() error,
	) (upload.Opened, error)
	// Reopen reads the session of a repetition, and refuses one that is over.
	Reopen(ctx context.Context, o upload.Opened) (upload.Opened, error)
	// Finalize makes the draft, or fails with artifact.ErrMoved if the artifact is not at a.Current any more.
	Finalize(ctx context.Context, by credential.Actor, a upload.Attempt) (upload.Draft, error)
}

// Artifacts reads artifacts and publishes their drafts.
type Artifacts interface {
	// Owned reads an artifact of the caller's workspace; artifact_not_found for any other.
	Owned(ctx context.Context, by credential.Actor, named id.Artifact) (*artifact.Artifact, error)
	// Publish makes a draft the newest revision. One that is published already is answered again without effect.
	Publish(ctx context.Context, by credential.Actor, t artifact.Target) (artifact.PublishedRevision, error)
}

// Store reads what changes are made of, and what earlier attempts left.
type Store interface {
	// Contents reads a revision and its files, nil if there is no such revision. A copy may serve.
	Contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error)
	// Record reads the record of a command strongly, nil if there is none.
	Record(ctx context.Context, k idempotency.Key) (*idempotency.Record, error)
	// Target reads an artifact and one of its revisions with the record of publishing it, in one strongly consistent
	// batch; nil for what does not exist.
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
	// Open reads size bytes of an object from an offset; not_found if it does not exist.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
}

// Request identifies a request, so that its repetition has one effect.
type Request struct {
	Client      string                  // the key of the caller, or one that the host derives
	Derived     bool                    // the host derives it, and a later session of the client may come to the same one
	Fingerprint idempotency.Fingerprint // of the tool and its arguments
	Record      *idempotency.Record     // of CreateSession with that key, as it was read with the credential; nil: none
	Permit      func() error            // waits for the rate limits; called before bytes are read and before any write
}

// Result is what a request published.
type Result struct {
	Published artifact.PublishedRevision
	Stats     Stats
	Warnings  lint.Report // what was found in the pages of that revision, as it was stored
	Changed   bool        // false: the artifact had these bytes already, and Published is its current revision
}

// Stats count the files of a revision by where their bytes came from. All are zero if there is no new revision.
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

// Revise publishes a text as a new revision of an artifact, which keeps its title and its other files. The text is the
// entrypoint from then on. a is the artifact as it was read with the credential; nil: it is read here.
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

// Edit replaces parts of a text file of an artifact and publishes the result as a new revision. Each edit sees the
// result of the one before. Failures of the edits are invalid_request with a Reason. a is the artifact as it was read
// with the credential; nil: it is read here.
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
