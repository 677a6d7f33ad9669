package edit

import (
	"context"
	"errors"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/upload"
)

// outdated is the error of a repetition whose first result is no longer current.
type outdated struct{ revision id.Revision }

// Error implements error.
func (o outdated) Error() string { return string(o.revision) + " is not the newest revision any more" }

// maxRepeats bounds how many equal requests with one derived key take effect while their records live.
const maxRepeats = 50

// repeat runs a request under its key, and under another key while the recorded result is outdated. Clients number
// their messages anew in each session, so a derived key may belong to a repetition or to an equal request of a later
// session. While the recorded revision is the newest one, it is the right answer to both. The next key names the
// outdated revision, so that a repetition of the new request finds the record of that one.
func (s *Service) repeat(
	ctx context.Context, by credential.Actor, r Request, run func(Request) (Result, error),
) (Result, error) {
	client := r.Client
	for range maxRepeats {
		result, err := run(r)
		var old outdated
		if !errors.As(err, &old) {
			return result, err
		}
		r.Client = client + "#" + string(old.revision)
		if r.Record, err = s.Store.Record(ctx, s.task(by, r, nil).command(idempotency.CreateSession, "", 1).Key); err != nil {
			return Result{}, err
		}
	}
	return Result{}, fault.New(fault.InvalidIdempotencyKey,
		"this request was made too often with the same message id; send an idempotency_key of its own")
}

// outdated reports whether a repetition has a derived key and the revision of the first request is no longer current.
func (t *task) outdated(o upload.Opened, target artifact.Target) bool {
	done := o.ID == "" || target.Record.Finished(t.Now()) ||
		target.Revision != nil && target.Revision.Status != artifact.Draft
	return t.r.Derived && o.Revision != "" && done &&
		!(target.Artifact.Active(t.Now()) && target.Artifact.Current == o.Revision)
}
