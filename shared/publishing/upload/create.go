package upload

import (
	"context"
	"encoding/json"
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

// Creator creates sessions.
type Creator struct {
	Store   Sessions
	Index   ContentIndex
	Objects Objects
	Limits  *limits.Limits
	Now     func() time.Time
}

// created is the stored result; a repetition signs fresh URLs.
type created struct {
	Session id.Session `json:"s"`
}

// Create opens a session for the declared files. Refusals in order: invalid_request (shape), artifact_not_found,
// revision_ceiling_exceeded, draft_revision_conflict, file_count_cap_exceeded, file_size_cap_exceeded,
// revision_size_cap_exceeded, entrypoint_not_in_revision, the error of permit, write_allowance_exceeded. It calls
// permit before it writes and only reads until then, so that a rate limit can be counted meanwhile.
func (c *Creator) Create(
	ctx context.Context, by credential.Actor, cmd idempotency.Command, record *idempotency.Record,
	r contract.CreateSession, permit func() error,
) (contract.Session, error) {
	now := c.Now().Truncate(time.Millisecond) // as it is stored: the session remembers when its artifact ends
	if record.Finished(now) {
		return c.replay(ctx, cmd, record)
	}
	d, err := declare(r)
	if err != nil {
		return contract.Session{}, err
	}
	s := newSession(by, d, r, now)
	var known tree.Tree
	if r.ArtifactID != "" {
		if known, err = c.revise(ctx, by, &s, r, now); err != nil {
			return contract.Session{}, err
		}
	}
	if err := d.check(by.Policy, r.Entrypoint); err != nil {
		return contract.Session{}, err
	}
	hinted, err := c.lookup(ctx, s.Home, d.files, known)
	if err != nil {
		return contract.Session{}, err
	}
	entries := placeEntries(&s, d.files, known, hinted)
	for _, path := range d.deleted {
		entries = append(entries, Entry{Path: path, Deleted: true})
	}
	if err := permit(); err != nil {
		return contract.Session{}, err
	}
	made := creation(by, cmd, s, entries)
	if !c.Limits.Off {
		made.Bytes, made.BytesADay = uploadBytes(entries), by.Policy.UploadBytes()
	}
	finished, err := idempotency.Lost(c.Store.Create(ctx, made), now)
	switch {
	case finished != nil:
		return c.replay(ctx, cmd, finished)
	case fault.CodeOf(err) == fault.WriteAllowanceExceeded:
		return contract.Session{}, artifact.AllowanceSpent(now,
			"this workspace may declare %d bytes of uploads a day, of which files "+
				"that it has already and that are declared with their sha256 take nothing", made.BytesADay)
	case err != nil:
		return contract.Session{}, err
	}
	return c.answer(ctx, s, entries)
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

func creation(by credential.Actor, cmd idempotency.Command, s Session, entries []Entry) Creation {
	result, _ := json.Marshal(created{s.ID})
	return Creation{
		Command: cmd,
		Result:  result,
		Session: s,
		Entries: entries,
		Event:   by.Record(s.CreatedAt, event.SessionCreated, event.OnSession, string(s.ID), s.Title),
	}
}

// uploadBytes returns how many bytes a session lets its holder upload.
func uploadBytes(entries []Entry) (sum int64) {
	for _, e := range entries {
		if !e.Reused && !e.Deleted {
			sum += e.Size
		}
	}
	return sum
}

// revise points the session at an existing artifact and returns the files whose bytes it may reuse.
func (c *Creator) revise(
	ctx context.Context, by credential.Actor, s *Session, r contract.CreateSession, now time.Time,
) (tree.Tree, error) {
	a, err := c.Store.Artifact(ctx, r.ArtifactID)
	if err == nil {
		a, err = artifact.Follow(ctx, c.Store, by.Workspace, a)
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
	s.Artifact = a.ID
	s.Home = a.StorageWorkspace
	s.New = false
	if a.PinnedAt.IsZero() {
		s.Life = a.ExpiresAt.Sub(now)
	}
	if s.Reuses = a.Current; s.Base != "" {
		s.Reuses = s.Base
	}
	if _, err := s.Reuses.Bits(); err != nil {
		s.Reuses = ""
		return nil, nil
	}
	return c.Store.Tree(ctx, a.ID, s.Reuses)
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

// replay answers a repetition with the first session and fresh URLs.
func (c *Creator) replay(
	ctx context.Context, cmd idempotency.Command, record *idempotency.Record,
) (contract.Session, error) {
	var first created
	if err := record.Replay(cmd, &first); err != nil {
		return contract.Session{}, err
	}
	s, entries, err := c.Store.Session(ctx, first.Session)
	if err != nil {
		return contract.Session{}, err
	}
	if s == nil {
		return contract.Session{}, fault.New(fault.UploadSessionNotFound,
			"the session of this Idempotency-Key is gone; create a new one")
	}
	if !c.Now().Before(s.ExpiresAt) { // its URLs would have expired
		return contract.Session{}, fault.New(fault.UploadSessionExpired,
			"the session of this Idempotency-Key expired; create a new one")
	}
	return c.answer(ctx, *s, entries)
}

// answer returns a session with an upload URL for every entry that needs one.
func (c *Creator) answer(ctx context.Context, s Session, entries []Entry) (contract.Session, error) {
	out := contract.Session{
		UploadSessionID: s.ID,
		ArtifactID:      s.Artifact,
		RevisionID:      s.Revision,
		Status:          string(Pending),
		ExpiresAt:       contract.At(s.ExpiresAt),
		Files:           make([]contract.UploadTarget, 0, len(entries)),
	}
	until := c.Now().Add(limits.PutURLLife)
	if s.ExpiresAt.Before(until) {
		until = s.ExpiresAt
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
		put, err := c.Objects.Presign(ctx, s.Home, place, e.Size, e.SHA256, until)
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
