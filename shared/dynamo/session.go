package dynamo

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/artifact"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/limits"
	"vitrine/shared/media"
	"vitrine/shared/upload"
)

func sessionItem(s upload.Session) item {
	return newItem(sessionKey(s.ID)).
		str("ws", string(s.Workspace)).str("home", string(s.Home)).str("art", string(s.Artifact)).str("rev", string(s.Revision)).
		flag("new", s.New).str("status", string(s.Status)).time("exp", s.ExpiresAt).str("base", string(s.Base)).str("reuses", string(s.Reuses)).str("title", s.Title).
		str("entry", s.Entrypoint).str("mode", string(s.Mode)).num("n", int64(s.FileCount)).num("bytes", s.Size).
		num("life", int64(s.Life/time.Millisecond)).time("created", s.CreatedAt).
		str("g2p", due(sessionDue, string(s.ID))).str("g2s", sortable(s.ExpiresAt.Add(limits.CleanupSlack)))
}

// readSession reads both items of a session; one without the other is no session.
func readSession(i, entries item, s id.Session) (*upload.Session, []upload.Entry, error) {
	if i == nil || entries == nil {
		return nil, nil, nil
	}
	files, err := unpackEntries(entries.getBin("files"))
	if err != nil {
		return nil, nil, err
	}
	session := sessionOf(i, s)
	return &session, files, nil
}

func sessionOf(i item, s id.Session) upload.Session {
	return upload.Session{
		ID: s, Workspace: id.Workspace(i.getStr("ws")), Home: id.Workspace(i.getStr("home")), Artifact: id.Artifact(i.getStr("art")),
		Revision: id.Revision(i.getStr("rev")), New: i.getFlag("new"), Status: upload.Status(i.getStr("status")), ExpiresAt: i.getTime("exp"),
		Base: id.Revision(i.getStr("base")), Reuses: id.Revision(i.getStr("reuses")), Title: i.getStr("title"), Entrypoint: i.getStr("entry"), Mode: media.Mode(i.getStr("mode")),
		FileCount: int(i.getNum("n")), Size: i.getNum("bytes"), Life: time.Duration(i.getNum("life")) * time.Millisecond, CreatedAt: i.getTime("created"),
	}
}

// Session implements upload.Sessions.
func (s *Store) Session(ctx context.Context, u id.Session) (*upload.Session, []upload.Entry, error) {
	b := batch{strong: true}
	b.want(sessionKey(u))
	b.want(entriesKey(u))
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return readSession(f.at(sessionKey(u)), f.at(entriesKey(u)), u)
}

// Create implements upload.Sessions.
func (s *Store) Create(ctx context.Context, c upload.Creation) error {
	var t transaction
	s.finish(&t, c.Command, c.Result, c.Session.CreatedAt)
	s.checkFence(&t, c.Session.Workspace)
	t.create(s.tables.Core, sessionItem(c.Session))
	t.create(s.tables.Core, newItem(entriesKey(c.Session.ID)).bin("files", packEntries(c.Entries)))
	t.create(s.tables.Events, eventItem(c.Event))
	return s.commit(ctx, &t)
}

// Finalize implements upload.Finalizations. What falls due of the artifact depends on whether it is pinned, which most are
// not: it is tried as one of them first.
func (s *Store) Finalize(ctx context.Context, f upload.Finalization) error {
	err := s.finalize(ctx, f, false)
	if errors.Is(err, errPinned) {
		err = s.finalize(ctx, f, true)
	}
	if errors.Is(err, errPinned) {
		err = unavailable(err)
	}
	return err
}

var errPinned = errors.New("the artifact was pinned, or is not pinned any more")

func (s *Store) finalize(ctx context.Context, f upload.Finalization, pinned bool) error {
	var t transaction
	s.settle(&t, f.Command, f.Owner)
	s.endUpload(&t, f)
	if f.Session.New {
		t.put(s.tables.Core, artifactItem(f.Artifact), "attribute_not_exists(#pk)", nil, noDraft)
	} else {
		s.takeDraft(&t, f, pinned)
	}
	if f.Session.Reuses != "" {
		t.check(s.tables.Core, revisionKey(f.Artifact.ID, f.Session.Reuses), "#status = :published",
			values{"published": string(artifact.Published)}, func(item) error {
				return fault.New(fault.InvalidRequest, "base_revision_not_publishable: the revision whose files are reused is gone; create a new session")
			})
	}
	s.checkFence(&t, f.Session.Workspace)
	t.create(s.tables.Core, revisionItem(f.Revision))
	t.create(s.tables.Core, newItem(treeKey(f.Artifact.ID, f.Revision.ID)).bin("files", packTree(f.Tree)))
	for _, e := range f.Events {
		t.create(s.tables.Events, eventItem(e))
	}
	return s.commit(ctx, &t)
}

// endUpload ends a session. Instead of its cleanup the hints of what it brought fall due.
func (s *Store) endUpload(t *transaction, f upload.Finalization) {
	set, v := "SET #status = :finalized, #n = :n, #bytes = :bytes REMOVE #g2p, #g2s", values{
		"n": f.Session.FileCount, "bytes": f.Session.Size, "finalized": string(upload.Finalized), "pending": string(upload.Pending), "now": f.At,
	}
	if brings(f.Tree, f.Session.ID) {
		set = "SET #status = :finalized, #n = :n, #bytes = :bytes, #g2p = :hints, #g2s = :due"
		v["hints"], v["due"] = due(hintDue, string(f.Session.ID)), sortable(f.At)
	}
	t.update(s.tables.Core, sessionKey(f.Session.ID), set, "#status = :pending AND #exp > :now", v, func(old item) error {
		return &upload.Settled{Session: sessionOf(old, f.Session.ID)}
	})
}

// takeDraft gives an existing artifact its one draft.
func (s *Store) takeDraft(t *transaction, f upload.Finalization, pinned bool) {
	changed, pin := f.Artifact, "attribute_not_exists(#pin_at)"
	if pinned {
		changed.PinnedAt, pin = f.At, "attribute_exists(#pin_at)"
	}
	v := values{
		"draft": string(f.Revision.ID), "now": f.At, "live": string(artifact.Live), "ws": string(f.Session.Workspace), "one": 1,
		"artifacts": due(artifactDue, string(changed.ID)), "due": nextDue(changed, limits.DraftLife),
	}
	owned := "#own = :ws AND (#exp > :now OR attribute_exists(#pin_at))"
	if f.Session.Home != f.Session.Workspace && changed.ExpiresAt.After(f.At) { // it came by a claim, and may still say where from and end as it did there
		owned = "(" + owned + ") OR #own = :home"
		v["home"] = string(f.Session.Home)
	}
	t.update(s.tables.Core, artifactKey(changed.ID), "SET #draft = :draft, #draft_at = :now, #updated = :now, #g2p = :artifacts, #g2s = :due ADD #ver :one",
		"#status = :live AND attribute_not_exists(#draft) AND attribute_not_exists(#lock) AND "+pin+" AND ("+owned+")", v, func(old item) error {
			if a := readArtifact(old, changed.ID); a.Readable(f.At) && a.Owner == f.Session.Workspace && a.Draft == "" && a.PinnedAt.IsZero() == pinned {
				return errPinned
			}
			if a := readArtifact(old, changed.ID); a != nil && a.Draft != "" && (a.Readable(f.At) || a.Owner != f.Session.Workspace && a.Status == artifact.Live) {
				return noDraft(old)
			}
			return artifact.NotFound()
		})
}

func noDraft(item) error {
	return fault.New(fault.DraftRevisionConflict, "the artifact has another unpublished draft; publish that one first")
}
