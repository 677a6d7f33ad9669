package edit

import (
	"cmp"
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/upload"
)

// Finish verifies the files of an upload session, whose bytes the caller has sent to the object store, and publishes
// them. session and entries are as they were read with the credential, nil if there is no such session. A session that
// was published before gives the same answer. A session that declares by digest exactly the files of the current
// revision makes no new one. Refusals are those of finalizing and publishing.
func (s *Service) Finish(
	ctx context.Context, by credential.Actor, r Request, session *upload.Session, entries []upload.Entry,
) (Result, error) {
	t := s.task(by, r, nil)
	if err := t.permit(); err != nil {
		return Result{}, err
	}
	attempt := upload.Attempt{Record: r.Record, Session: session, Entries: entries}
	if session != nil {
		attempt.Command = t.command(idempotency.FinalizeSession, string(session.ID), 1)
	}
	o, err := t.unchanged(ctx, attempt)
	if err == nil && o.Revision == "" {
		if _, err = t.Uploads.Finalize(ctx, by, attempt); err == nil {
			o = upload.OpenedWith(session, entries)
		}
	}
	if err != nil {
		return Result{}, err
	}
	target, err := t.target(ctx, 1, o)
	if err != nil {
		return Result{}, err
	}
	return t.publish(ctx, o, target)
}

// unchanged returns the current revision of a session's artifact if that already has the title and files of the
// session, and no revision otherwise. It records what it finds, so that a repetition gets the same answer.
func (t *task) unchanged(ctx context.Context, a upload.Attempt) (upload.Opened, error) {
	s, now := a.Session, t.Now()
	var none upload.Opened
	switch {
	case s == nil || s.Workspace != t.by.Workspace.ID || s.New || s.Base != "":
		return none, nil
	case a.Record.Finished(now): // the record of a finalize names no revision, and the caller goes on to Finalize
		return idempotency.First[upload.Opened](a.Record, a.Command)
	case s.Status != upload.Pending || !now.Before(s.ExpiresAt):
		return none, nil
	}
	of, err := t.Artifacts.Owned(ctx, t.by, s.Artifact)
	if err != nil || of.Current == "" || of.Title != s.Title {
		return none, err
	}
	base, err := t.Store.Contents(ctx, of.ID, of.Current)
	if err != nil || base == nil || !sameFiles(base, s, a.Entries) {
		return none, err
	}
	return idempotency.Do(a.Command, a.Record, now, func() (upload.Opened, error) {
		found := upload.Opened{Artifact: of.ID, Revision: base.Revision.ID}
		return found, t.Store.Keep(ctx, a.Command, found.Result(), t.by.Workspace.ID, now)
	})
}

// sameFiles reports whether a revision has exactly the files that a session declares, with their digests.
func sameFiles(base *artifact.Contents, s *upload.Session, entries []upload.Entry) bool {
	r := base.Revision
	if len(entries) != len(base.Tree) || r.Entrypoint != s.Entrypoint || r.Listing != s.Listing ||
		!s.App.Keeps(r.App) || r.Mode != cmp.Or(s.Mode, media.ModeOf(s.Entrypoint)) {
		return false
	}
	at := base.Tree.Index()
	for _, e := range entries {
		n, ok := at[e.Path]
		if !ok {
			return false
		}
		f := base.Tree[n]
		if e.Deleted || e.Patch != nil || e.SHA256 == nil || *e.SHA256 != f.SHA256 || e.Size != f.Size {
			return false
		}
	}
	return true
}
