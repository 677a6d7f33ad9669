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
	// Create commits a new session in one transaction. Conditions: the workspace is open, and its allowance of the day has
	// room for c.Bytes. Errors: *idempotency.AlreadyDone, not_authenticated (the workspace closed),
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

	Bytes     int64 // count against BytesADay; zero: not counted
	BytesADay int64 // bytes that the workspace may declare in a UTC day
}

// Opened is a session that this attempt or an earlier one opened. It is also the stored result of the command. A
// command that made no revision has no session, and Revision is the one that it found.
type Opened struct {
	ID       id.Session  `json:"s,omitempty"`
	Artifact id.Artifact `json:"a,omitempty"` // empty: stored by older code
	Revision id.Revision `json:"r,omitempty"` // likewise
	Files    int         `json:"n,omitempty"` // to be uploaded
	Bytes    int64       `json:"b,omitempty"` // of these files

	Session *Session `json:"-"` // nil: an earlier attempt opened it; Reopen reads it
	Entries []Entry  `json:"-"`
}

// Result returns the stored result of the command.
func (o Opened) Result() []byte { return idempotency.Encode(o) }

// OpenedWith returns a newly opened session.
func OpenedWith(s *Session, entries []Entry) Opened {
	o := Opened{
		ID:       s.ID,
		Artifact: s.Artifact,
		Revision: s.Revision,
		Session:  s,
		Entries:  entries,
	}
	for _, e := range entries {
		if !e.Reused && !e.Deleted {
			o.Files++
			o.Bytes += e.Size
		}
	}
	return o
}

// Created is a session with the upload targets of its files.
type Created struct {
	Session Session
	Files   []Target
}

// Target is the upload target of a declared file. A file whose bytes need no upload has only its path.
type Target struct {
	Path string
	Put  PutTarget
}

// Create opens a session for the declared files and returns their upload targets. size returns how many bytes an answer
// takes; nil: any answer fits. Its refusals are those of Open, and file_count_cap_exceeded for an answer that no function
// can give. A repetition of a resumable request answers files that are stored as reused.
func (s *Service) Create(
	ctx context.Context, by credential.Actor, cmd idempotency.Command, record *idempotency.Record,
	r contract.CreateSession, permit func() error, size func(Created) int,
) (Created, error) {
	var made Created
	o, err := s.open(ctx, by, cmd, record, r, permit, func(session *Session, entries []Entry) (err error) {
		if size != nil && len(entries) > limits.ViewFiles { // fewer fit
			made, err = s.answer(ctx, session, entries, size)
		}
		return err
	})
	if err == nil && o.Session == nil {
		made = Created{} // of a session that was not stored, if any
		if o, err = s.Reopen(ctx, o); err == nil && r.Resumable {
			o.Entries, err = s.markStored(ctx, o)
		}
	}
	if err != nil || made.Session.ID != "" {
		return made, err
	}
	return s.answer(ctx, o.Session, o.Entries, size)
}

// Open opens a session for the declared files. The caller runs in this process and stores the bytes itself. Refusals in
// order: invalid_request (shape), artifact_not_found, revision_ceiling_exceeded, draft_revision_conflict,
// file_count_cap_exceeded, file_size_cap_exceeded, revision_size_cap_exceeded, entrypoint_not_in_revision, patch_conflict,
// file_count_cap_exceeded for lists that are too long, the error of permit, write_allowance_exceeded. Open only reads before it calls permit, so that a rate limit can be counted
// meanwhile. A repetition does not call permit.
func (s *Service) Open(
	ctx context.Context, by credential.Actor, cmd idempotency.Command, record *idempotency.Record,
	r contract.CreateSession, permit func() error,
) (Opened, error) {
	return s.open(ctx, by, cmd, record, r, permit, func(*Session, []Entry) error { return nil })
}

// open is Open with a check of the planned session, which runs before permit.
func (s *Service) open(
	ctx context.Context, by credential.Actor, cmd idempotency.Command, record *idempotency.Record,
	r contract.CreateSession, permit func() error, check func(*Session, []Entry) error,
) (Opened, error) {
	now := s.Now().Truncate(time.Millisecond) // as CreatedAt is stored, because finalize adds Life to it
	return idempotency.Do(cmd, record, now, func() (Opened, error) {
		session, entries, err := s.plan(ctx, by, r, now)
		if err != nil {
			return Opened{}, err
		}
		if err := check(session, entries); err != nil {
			return Opened{}, err
		}
		if err := permit(); err != nil {
			return Opened{}, err
		}
		o := OpenedWith(session, entries)
		made := Creation{
			Command: cmd,
			Result:  o.Result(),
			Session: *session,
			Entries: entries,
			Event:   by.Record(now, event.SessionCreated, event.OnSession, string(session.ID), session.Title),
		}
		if !s.Limits.Off {
			made.Bytes, made.BytesADay = o.Bytes, by.Policy.UploadBytes()
		}
		err = s.Store.Create(ctx, made)
		if fault.CodeOf(err) == fault.WriteAllowanceExceeded {
			err = artifact.AllowanceSpent(now, "this workspace may declare %d bytes of uploads a day, of which files "+
				"that it has already and that are declared with their sha256 take nothing", made.BytesADay)
		}
		return o, err
	})
}

// Reopen reads a session that an earlier attempt opened. It refuses one that has expired.
func (s *Service) Reopen(ctx context.Context, o Opened) (Opened, error) {
	var err error
	o.Session, o.Entries, err = s.Store.Session(ctx, o.ID)
	switch {
	case err != nil:
		return Opened{}, err
	case o.Session == nil:
		return Opened{}, fault.New(fault.UploadSessionNotFound,
			"the session of this Idempotency-Key is gone; create a new one")
	case !s.Now().Before(o.Session.ExpiresAt): // its URLs would have expired
		return Opened{}, fault.New(fault.UploadSessionExpired,
			"the session of this Idempotency-Key expired; create a new one")
	}
	return o, nil
}

// plan checks a request and decides where the bytes of each file come from.
func (s *Service) plan(
	ctx context.Context, by credential.Actor, r contract.CreateSession, now time.Time,
) (*Session, []Entry, error) {
	d, err := declare(r)
	if err != nil {
		return nil, nil, err
	}
	session := newSession(by, d, r, now)
	var known tree.Tree
	if r.ArtifactID != "" {
		if known, err = s.revise(ctx, by, session, r, now); err != nil {
			return nil, nil, err
		}
	}
	if err := d.check(by.Policy, r.Entrypoint); err != nil {
		return nil, nil, err
	}
	if session.Diffs {
		if err := checkPatches(d.files, known); err != nil {
			return nil, nil, err
		}
	}
	indexed, err := s.lookup(ctx, session.Home, d.files, known)
	if err != nil {
		return nil, nil, err
	}
	entries := placeEntries(session, d.files, known, indexed)
	for _, path := range d.deleted {
		entries = append(entries, Entry{Path: path, Deleted: true})
	}
	return session, entries, s.checkLists(session, known, entries)
}

// newSession returns a session of a new artifact in the caller's workspace.
func newSession(by credential.Actor, d declaration, r contract.CreateSession, now time.Time) *Session {
	return &Session{
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
		Listing:    r.Listing,
		App:        artifact.AppOf(r.App),
		Mode:       media.Mode(r.RenderMode),
		Base:       r.BaseRevisionID,
		FileCount:  len(d.files),
		Size:       d.size(),
		Diffs:      d.patches(),
		Life:       by.Workspace.Life(by.Policy),
		CreatedAt:  now,
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
	if !session.App.Said() && a.App.Said() {
		session.App = a.App
	}
	switch {
	case !limits.Ends(a.ExpiresAt):
		session.Life = limits.Forever
	case a.PinnedAt.IsZero():
		session.Life = a.ExpiresAt.Sub(now)
	}
	if session.Reuses = a.Current; session.Base != "" {
		session.Reuses = session.Base
	}
	if _, err := session.Reuses.Bits(); err != nil { // none is published, or the base is no id, which finalize refuses
		session.Reuses = ""
		return nil, nil
	}
	known, err := s.Store.Tree(ctx, a.ID, session.Reuses)
	if err == nil && session.Base != "" {
		err = checkBaseFiles(r.BaseFiles, known)
	}
	return known.Inherited(session.Reuses), err
}

// lookup finds bytes of declared files in a home, except known ones. A session can use what it found until it ends,
// because an object is collected no sooner than limits.CollectAfter after its index entry was removed.
func (s *Service) lookup(ctx context.Context, home id.Workspace, files []declared, known tree.Tree) (tree.Tree, error) {
	seen := make(map[tree.Content]bool, len(known))
	for _, f := range known {
		seen[f.Content()] = true
	}
	var wanted []tree.Content
	for _, f := range files {
		if f.digest == nil || f.size == 0 {
			continue
		}
		if content := (tree.Content{SHA256: *f.digest, Size: f.size}); !seen[content] {
			seen[content] = true
			wanted = append(wanted, content)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	found, err := s.Index.Lookup(ctx, home, wanted)
	out := make(tree.Tree, 0, len(found))
	for content, o := range found {
		out = append(out, tree.File{
			Size:     content.Size,
			SHA256:   content.SHA256,
			Object:   o,
			Borrowed: true,
		})
	}
	return out, err
}

// placeEntries decides where the bytes of each file come from. An empty file has none. Declared digests are looked up
// in the artifact's revision, the content index and the earlier entries of this session. All other files are uploaded.
func placeEntries(s *Session, files []declared, known, indexed tree.Tree) []Entry {
	type source struct {
		tree.File
		inherited bool
	}
	at := make(map[tree.Content]source)
	for _, f := range indexed {
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
				e.Referrer = from.Referrer
				e.Reused = true
				inherits = inherits || from.inherited
			} else {
				at[content] = source{tree.File{Object: e.Object}, false}
			}
		}
		entries[i] = e
	}
	if !inherits && s.Base == "" { // no entry needs the revision, so its end need not fail the commit
		s.Reuses = ""
	}
	return entries
}

// sign returns the upload targets of a session's files.
func (s *Service) sign(ctx context.Context, session *Session, entries []Entry) ([]Target, error) {
	until := s.Now().Add(limits.PutURLLife)
	if session.ExpiresAt.Before(until) {
		until = session.ExpiresAt
	}
	targets := make([]Target, 0, len(entries))
	for _, e := range entries {
		if e.Deleted {
			continue
		}
		target := Target{Path: e.Path}
		if !e.Reused {
			object := e.Object
			object.Diff = e.Patch != nil
			var err error
			if target.Put, err = s.Objects.Presign(ctx, session.Home, object, e.Size, e.SHA256, until); err != nil {
				return nil, err
			}
		}
		targets = append(targets, target)
	}
	return targets, nil
}
