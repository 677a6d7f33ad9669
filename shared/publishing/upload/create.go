package upload

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// Sessions stores upload sessions.
type Sessions interface {
	// Artifact reads an artifact strongly, nil if there is none.
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	// Tree reads the files of a published revision, nil if there is none.
	Tree(ctx context.Context, a id.Artifact, r id.Revision) (tree.Tree, error)
	// Session reads a session and its entries strongly, nil if there is none.
	Session(ctx context.Context, s id.Session) (*Session, []Entry, error)
	// Create commits a new session in one transaction, conditional on the workspace being open and on its allowance of the
	// day having room for c.Bytes. Errors: *idempotency.AlreadyDone, not_authenticated (the workspace closed),
	// write_allowance_exceeded (without Retry-After), database_unavailable.
	Create(ctx context.Context, c Creation) error
	artifact.Workspaces
}

// Creation is everything that Create writes.
type Creation struct {
	Command idempotency.Command
	Result  []byte
	Session Session
	Entries []Entry
	Event   event.Event

	Bytes     int64 // counts against BytesADay; zero: not counted
	BytesADay int64 // what the workspace may declare in a UTC day
}

// Create opens a session for the declared files and answers where to upload them. Refusals are those of Open.
func (s *Service) Create(
	ctx context.Context, by credential.Actor, cmd idempotency.Command, record *idempotency.Record,
	r contract.CreateSession, permit func() error,
) (contract.Session, error) {
	o, err := s.Open(ctx, by, cmd, record, r, permit)
	if err == nil && o.Session == nil {
		o, err = s.Reopen(ctx, o)
	}
	if err != nil {
		return contract.Session{}, err
	}
	return s.signed(ctx, *o.Session, o.Entries)
}

// plan checks what was declared and decides where the bytes of each file come from.
func (s *Service) plan(
	ctx context.Context, by credential.Actor, cmd idempotency.Command, r contract.CreateSession, now time.Time,
) (Creation, error) {
	d, err := declare(r)
	if err != nil {
		return Creation{}, err
	}
	session := newSession(by, d, r, now)
	var known tree.Tree
	if r.ArtifactID != "" {
		if known, err = s.revise(ctx, by, &session, r, now); err != nil {
			return Creation{}, err
		}
	}
	if err := d.check(by.Policy, r.Entrypoint); err != nil {
		return Creation{}, err
	}
	hinted, err := s.lookup(ctx, session.Home, d.files, known)
	if err != nil {
		return Creation{}, err
	}
	entries := placeEntries(&session, d.files, known, hinted)
	for _, path := range d.deleted {
		entries = append(entries, Entry{Path: path, Deleted: true})
	}
	opened := OpenedWith(&session, entries)
	made := creation(by, cmd, opened)
	if !s.Limits.Off {
		made.Bytes, made.BytesADay = opened.Bytes, by.Policy.UploadBytes()
	}
	return made, nil
}

// newSession returns a session of a new artifact in the caller's workspace.
func newSession(by credential.Actor, d declaration, r contract.CreateSession, now time.Time) Session {
	return Session{
		ID:         id.NewSession(),
		Workspace:  by.Workspace.ID,
		Home:       by.Workspace.ID,
		Artifact:   id.NewArtifact(),
		Revision:   id.NewRevision(),
		New:        true,
		Status:     Pending,
		ExpiresAt:  now.Add(limits.SessionLife),
		Title:      d.title,
		Entrypoint: r.Entrypoint,
		Mode:       media.Mode(r.RenderMode),
		Base:       r.BaseRevisionID,
		FileCount:  len(d.files),
		Size:       d.size(),
		Diffs:      d.patches(),
		Life:       by.Workspace.Life(by.Policy),
		CreatedAt:  now,
	}
}

func creation(by credential.Actor, cmd idempotency.Command, o Opened) Creation {
	s := o.Session
	return Creation{
		Command: cmd,
		Result:  o.Result(),
		Session: *s,
		Entries: o.Entries,
		Event:   by.Record(s.CreatedAt, event.SessionCreated, event.OnSession, string(s.ID), s.Title),
	}
}

// revise points the session at an existing artifact and returns the files whose bytes it may reuse.
func (s *Service) revise(
	ctx context.Context, by credential.Actor, session *Session, r contract.CreateSession, now time.Time,
) (tree.Tree, error) {
	a, err := s.Store.Artifact(ctx, r.ArtifactID)
	if err == nil {
		a, err = artifact.Follow(ctx, s.Store, by.Workspace, a)
	}
	switch {
	case err != nil:
		return nil, err
	case !a.Readable(now) || a.Owner != by.Workspace.ID:
		return nil, fault.New(fault.ArtifactNotFound,
			"no such artifact in this workspace, or it is deleted or expired; leave artifact_id out to make a new one")
	case a.Number >= by.Policy.Revisions:
		return nil, fault.New(fault.RevisionCeilingExceeded,
			"the artifact has %d published revisions, and none can follow; leave artifact_id out to make a new artifact",
			a.Number)
	case a.Draft != "":
		return nil, fault.New(fault.DraftRevisionConflict,
			"the artifact has an unpublished draft; publish revision %s first, or wait until %s",
			a.Draft, a.DraftAt.Add(limits.DraftLife).UTC().Format(time.RFC3339))
	}
	session.Artifact = a.ID
	session.Home = a.StorageWorkspace
	session.New = false
	if a.PinnedAt.IsZero() {
		session.Life = a.ExpiresAt.Sub(now)
	}
	if session.Reuses = a.Current; session.Base != "" {
		session.Reuses = session.Base
	}
	if _, err := session.Reuses.Bits(); err != nil {
		session.Reuses = ""
		return nil, nil
	}
	return s.Store.Tree(ctx, a.ID, session.Reuses)
}

// placeEntries decides where the bytes of each file come from: an empty file has none; if the digest is known they come
// from the artifact's revision, an earlier entry of this session or the content index; else they are uploaded.
func placeEntries(s *Session, files []declared, known, hinted tree.Tree) []Entry {
	type source struct {
		tree.File
		inherited bool
	}
	at := make(map[tree.Content]source)
	for _, f := range hinted {
		at[f.Content()] = source{f, false}
	}
	for _, f := range known {
		at[f.Content()] = source{f, true}
	}
	entries, inherits := make([]Entry, len(files)), false
	for i, f := range files {
		e := Entry{
			Path:   f.path,
			Size:   f.size,
			SHA256: f.digest,
			Object: tree.Object{Session: s.ID, Entry: i},
		}
		switch {
		case f.size == 0:
			e.SHA256 = &tree.EmptyDigest
			e.Reused = true
			e.Object = tree.Object{}
		case f.digest == nil:
			e.Patch = f.patch
		default:
			content := tree.Content{SHA256: *f.digest, Size: f.size}
			if from, ok := at[content]; ok {
				e.Object = from.Object
				e.Borrowed = from.Borrowed
				e.Reused = true
				inherits = inherits || from.inherited
			} else {
				at[content] = source{tree.File{Object: e.Object}, false}
			}
		}
		entries[i] = e
	}
	if !inherits && s.Base == "" {
		s.Reuses = ""
	}
	return entries
}

// signed returns a session with an upload URL for every entry that needs one.
func (s *Service) signed(ctx context.Context, session Session, entries []Entry) (contract.Session, error) {
	out := contract.Session{
		UploadSessionID: session.ID,
		ArtifactID:      session.Artifact,
		RevisionID:      session.Revision,
		Status:          string(Pending),
		ExpiresAt:       contract.At(session.ExpiresAt),
		Files:           make([]contract.UploadTarget, 0, len(entries)),
	}
	until := s.Now().Add(limits.PutURLLife)
	if session.ExpiresAt.Before(until) {
		until = session.ExpiresAt
	}
	for _, e := range entries {
		if e.Deleted {
			continue
		}
		if e.Reused {
			out.Files = append(out.Files, contract.UploadTarget{Status: "reused", Path: e.Path})
			continue
		}
		place := e.Object
		place.Diff = e.Patch != nil
		put, err := s.Objects.Presign(ctx, session.Home, place, e.Size, e.SHA256, until)
		if err != nil {
			return contract.Session{}, err
		}
		expires := contract.At(put.Expires)
		out.Files = append(out.Files, contract.UploadTarget{
			Status:          "upload_required",
			Path:            e.Path,
			PutURL:          put.URL,
			RequiredHeaders: put.Headers,
			ExpiresAt:       &expires,
		})
	}
	return out, nil
}
