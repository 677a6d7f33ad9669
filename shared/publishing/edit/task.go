package edit

import (
	"context"
	"strconv"
	"sync"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// change is a change of one file of an artifact.
type change struct {
	artifact id.Artifact
	path     string
	mode     media.Mode // of the path, which becomes the entrypoint; empty: the entrypoint stays
	// body computes the new text of the file from a base, whose bytes are stored under home.
	body func(ctx context.Context, home id.Workspace, base *artifact.Contents) (string, error)
}

// task is one attempt of a request.
type task struct {
	*Service
	by     credential.Actor
	r      Request
	change *change      // nil: the text is a new artifact
	text   string       // of a new artifact
	permit func() error // Request.Permit, run once for all steps
}

func (s *Service) task(by credential.Actor, r Request, c *change) *task {
	return &task{
		Service: s,
		by:      by,
		r:       r,
		change:  c,
		permit:  sync.OnceValue(r.Permit),
	}
}

// command identifies a step of a try. Later tries add a number sign to the client's key, which no key of a client
// holds.
func (t *task) command(o idempotency.Operation, target string, try int) idempotency.Command {
	client := t.r.Client
	if try > 1 {
		client += "#" + strconv.Itoa(try)
	}
	return idempotency.Command{Fingerprint: t.r.Fingerprint, Key: idempotency.Key{
		Actor:     t.by.Subject(),
		Operation: o,
		Target:    target,
		Client:    client,
	}}
}

// create publishes a text as a new artifact.
func (t *task) create(ctx context.Context, wanted contract.CreateSession, text string) (Result, error) {
	t.text = text
	wanted.Files = []contract.DeclaredFile{declare(wanted.Entrypoint, text)}
	o, err := t.Uploads.Open(ctx, t.by, t.command(idempotency.CreateSession, "", 1), t.r.Record, wanted, t.permit)
	if err != nil {
		return Result{}, err
	}
	return t.proceed(ctx, 1, o, text)
}

func declare(path, text string) contract.DeclaredFile {
	return contract.DeclaredFile{Path: path, SizeBytes: int64(len(text)), SHA256: tree.DigestOf(text).String()}
}

// races bounds how often a change is made again because another revision became current.
var races = conflict.Policy{Lost: artifact.ErrMoved, Attempts: maxTries, Exhausted: contended}

const maxTries = 3

// run makes the change from the artifact as it was read. Each time that another revision became current, it reads the
// artifact again.
func (t *task) run(ctx context.Context, a *artifact.Artifact) (Result, error) {
	try := 0
	return conflict.Retry(races, func() (Result, error) {
		if try++; try > 1 {
			a = nil
		}
		return t.try(ctx, try, a)
	})
}

func contended() error {
	return fault.New(fault.PatchConflict,
		"patch_conflict: others keep changing the artifact; read it again and send the change as a new request")
}

// try makes the change once, or goes on with the session that an earlier attempt opened for this try.
func (t *task) try(ctx context.Context, try int, a *artifact.Artifact) (Result, error) {
	c, record := t.command(idempotency.CreateSession, "", try), t.r.Record
	if try > 1 {
		var err error
		if record, err = t.Store.Record(ctx, c.Key); err != nil {
			return Result{}, err
		}
	}
	if record.Finished(t.Now()) {
		o, err := idempotency.First[upload.Opened](record, c)
		if err != nil {
			return Result{}, err
		}
		return t.proceed(ctx, try, o, "")
	}
	if try > 1 { // a pause, because more edits may be waiting
		if err := pause(ctx); err != nil {
			return Result{}, err
		}
	}
	a, base, err := t.base(ctx, a)
	if err != nil {
		return Result{}, err
	}
	text, err := t.change.body(ctx, a.StorageWorkspace, base)
	if err != nil {
		return Result{}, err
	}
	if f, ok := base.Tree.Find(t.change.path); ok && f.SHA256 == tree.DigestOf(text) {
		return t.keep(ctx, try, a, base)
	}
	o, err := t.open(ctx, c, t.change.session(a, base, text))
	if err != nil {
		return Result{}, overtaken(a, err)
	}
	result, err := t.proceed(ctx, try, o, text)
	return result, overtaken(a, err)
}

// base reads the artifact, unless it was read with the credential, and its current revision. It waits for permit.
func (t *task) base(ctx context.Context, a *artifact.Artifact) (*artifact.Artifact, *artifact.Contents, error) {
	if a == nil {
		var err error
		if a, err = t.Artifacts.Owned(ctx, t.by, t.change.artifact); err != nil {
			return nil, nil, err
		}
	}
	a, err := t.settled(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	if !a.Readable(t.Now()) || a.Owner != t.by.Workspace.ID {
		return nil, nil, artifact.NotFound()
	}
	if a.Current == "" {
		return nil, nil, fault.New(fault.NotFound, "the artifact has no published revision")
	}
	base, err := t.Store.Contents(ctx, a.ID, a.Current)
	if err == nil && base == nil {
		err = artifact.NotFound() // the artifact was purged meanwhile
	}
	if err == nil {
		err = t.permit()
	}
	return a, base, err
}

// session declares the changed file on top of a base.
func (c *change) session(a *artifact.Artifact, base *artifact.Contents, text string) contract.CreateSession {
	wanted := contract.CreateSession{
		ArtifactID:     a.ID,
		BaseRevisionID: base.Revision.ID,
		BaseFiles:      len(base.Tree),
		Title:          a.Title,
		Entrypoint:     base.Revision.Entrypoint,
		RenderMode:     string(c.mode),
		Files:          []contract.DeclaredFile{declare(c.path, text)},
	}
	if c.mode != "" {
		wanted.Entrypoint = c.path
	}
	return wanted
}

// open opens a session. After a draft conflict it looks for the record of the command, because another attempt of the
// same request may have just made that draft.
func (t *task) open(
	ctx context.Context, c idempotency.Command, wanted contract.CreateSession,
) (upload.Opened, error) {
	o, err := t.Uploads.Open(ctx, t.by, c, nil, wanted, t.permit)
	if fault.CodeOf(err) != fault.DraftRevisionConflict {
		return o, err
	}
	record, unread := t.Store.Record(ctx, c.Key)
	if unread != nil || !record.Finished(t.Now()) {
		return o, err
	}
	return idempotency.First[upload.Opened](record, c)
}

// keep records that the artifact already has the text, and returns its current revision.
func (t *task) keep(
	ctx context.Context, try int, a *artifact.Artifact, base *artifact.Contents,
) (Result, error) {
	c, now := t.command(idempotency.CreateSession, "", try), t.Now()
	o, err := idempotency.Do(c, nil, now, func() (upload.Opened, error) {
		found := upload.Opened{Artifact: a.ID, Revision: base.Revision.ID}
		return found, t.Store.Keep(ctx, c, found.Result(), t.by.Workspace.ID, now)
	})
	if err != nil {
		return Result{}, err
	}
	if o.ID != "" || o.Revision != base.Revision.ID { // the result of another attempt, which was faster
		return t.proceed(ctx, try, o, "")
	}
	revision := base.Revision
	return t.publish(ctx, o, artifact.Target{RequestedID: a.ID, Artifact: a, Revision: &revision})
}
