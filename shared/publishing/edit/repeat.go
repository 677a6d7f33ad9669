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

// outdated ends a repetition whose first result is not what the artifact has by now.
type outdated struct{ revision id.Revision }

// Error implements error.
func (o outdated) Error() string { return string(o.revision) + " is not the newest revision any more" }

// maxRepeats bounds how many equal requests with one derived key take effect while their records live.
const maxRepeats = 50

// repeat runs a request under its key, and under a later one while the result of that is outdated. Clients count their
// messages anew in each session, so that a derived key does not tell the repetition of a request from an equal one of a
// later session. What the first one made tells: while it is the newest revision, both want what is there. A later key
// names the revision that is outdated, so that the repetition of a request that was made anew finds its record.
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

// outdated reports whether a repetition has a derived key, and the artifact has not what the first request made.
func (t *task) outdated(o upload.Opened, target artifact.Target) bool {
	done := o.ID == "" || target.Record.Finished(t.Now()) ||
		target.Revision != nil && target.Revision.Status != artifact.Draft
	return t.r.Derived && o.Revision != "" && done &&
		!(target.Artifact.Active(t.Now()) && target.Artifact.Current == o.Revision)
}
