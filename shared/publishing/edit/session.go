package edit

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/upload"
)

// Finish verifies the files of an upload session, whose bytes the caller has sent to the object store, and publishes
// them. session and entries are as they were read with the credential, nil if there is no such session. A session that
// was published before is answered again. Refusals are those of finalizing and publishing.
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
	if _, err := t.Uploads.Finalize(ctx, by, attempt); err != nil {
		return Result{}, err
	}
	o := upload.OpenedWith(session, entries)
	target, err := t.target(ctx, 1, o)
	if err != nil {
		return Result{}, err
	}
	return t.publish(ctx, o, target)
}
