package feedback

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/publishing/artifact"
)

// Held returns what guests wrote about an artifact that waits for a member, the oldest first. Errors: artifact_not_found.
func (s *Service) Held(ctx context.Context, by credential.Actor, a *artifact.Artifact) ([]Held, error) {
	panic("not built")
}

// LetThrough puts into a thread what guests wrote in it up to seen, which is Counts.HeldSeq as the member saw it, and begins
// a thread that waits. A thread that a revision has addressed is open again. Errors: artifact_not_found, not_found (nothing
// waits there), feedback_conflict (the caps; the thread is resolved).
func (s *Service) LetThrough(
	ctx context.Context, by credential.Actor, who Author, t Target, seen int64,
) (Thread, error) {
	panic("not built")
}

// Drop deletes what guests wrote in a thread up to seen, and leaves no trace of it but an event. Errors: artifact_not_found,
// not_found (nothing waits there).
func (s *Service) Drop(ctx context.Context, by credential.Actor, t Target, seen int64) error {
	panic("not built")
}
