// Package live tells open pages whether a newer revision exists than the one that they show, or whether they must
// close.
package live

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/view"
)

// Store reads the state that decides about a poll.
type Store interface {
	readaccess.Store
	// ReadStateCopy is ReadState without strong consistency, at half the cost. The state that it returns may be outdated.
	ReadStateCopy(ctx context.Context, q readaccess.Query) (readaccess.State, error)
}

// Pointers makes pointers to the current revision of an artifact that may be read.
type Pointers interface {
	Pointer(ctx context.Context, s readaccess.State, through id.Public) (view.Pointer, error)
}

// Service answers the polls of open pages.
type Service struct {
	Store     Store
	Pointers  Pointers
	Addresses *address.URLBuilder
	Limiter   *rate.Limiter
	Now       func() time.Time
}

// Answer is the answer to a poll of a page that stays open.
type Answer struct {
	Wait    time.Duration // until the next poll
	Pointer *view.Pointer // nil: there is no newer revision
	Follows bool          // the page follows the newest revision, and does not show one for good
	Claimed bool          // somebody with an account owns the artifact
	// Feedback is the newest change of the threads about the artifact, for members; 0: there are none.
	Feedback int64
	// FeedbackHeld is the number of what a guest wrote last, for members; 0: guests wrote nothing.
	FeedbackHeld int64
}

// Share answers the poll of a page that an access link opened and that shows a revision. not_found closes the page. A
// page of a revision link learns of no other revision.
func (s *Service) Share(ctx context.Context, public id.Public, blob string, shown id.Revision) (Answer, error) {
	claims, err := s.Addresses.Links.Parse(public, blob, s.Now())
	if err != nil {
		return Answer{}, readaccess.NotFound()
	}
	q := readaccess.Query{Workspace: claims.Workspace, Artifact: claims.Artifact, Link: public}
	return s.poll(ctx, q, "live/"+string(public), shown, func() (readaccess.State, error) {
		return readaccess.Read(ctx, s.Store, q)
	})
}

// Member answers the poll of a page that a member of the artifact's workspace opened. not_found closes the page.
func (s *Service) Member(
	ctx context.Context, by credential.Actor, a id.Artifact, shown id.Revision,
) (Answer, error) {
	if _, err := a.Bits(); err != nil {
		return Answer{}, readaccess.NotFound()
	}
	q := readaccess.Query{Workspace: by.Workspace.ID, Artifact: a, Feedback: true}
	return s.poll(ctx, q, "live/"+by.Subject(), shown, func() (readaccess.State, error) { return s.ofMember(ctx, q) })
}

// ofMember reads the state for a member. An artifact of another workspace costs as much as a missing one, because
// callers choose the id, and the time of an answer must not tell that it exists.
func (s *Service) ofMember(ctx context.Context, q readaccess.Query) (readaccess.State, error) {
	state, err := s.Store.ReadState(ctx, q)
	if err != nil || state.Workspace == nil {
		return state, err
	}
	state.Artifact, err = artifact.Follow(ctx, s.Store, *state.Workspace, state.Artifact)
	return state, err
}

// poll takes a permit and reads an eventually consistent copy of the state. If the copy is open and has no newer
// revision, that is the answer, because a later poll sees a revocation that this copy misses. Everything else is
// decided by a strong read, so that a copy that lags neither closes a page nor leads it back.
func (s *Service) poll(
	ctx context.Context, q readaccess.Query, holder string, shown id.Revision, read func() (readaccess.State, error),
) (Answer, error) {
	permit, wait := s.Limiter.Poll(ctx, q.Artifact, holder)
	if permit.Refusal != nil {
		return Answer{}, permit.Refusal
	}
	state, err := s.Store.ReadStateCopy(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	if state.Allows(q, s.Now()) && !newer(state, q, shown) {
		return answerTo(wait, state, q), nil
	}
	state, err = read()
	if err != nil {
		return Answer{}, err
	}
	if !state.Allows(q, s.Now()) || state.Artifact.Current == "" {
		s.refuse(ctx, q, permit, state)
		return Answer{}, readaccess.NotFound()
	}
	answer := answerTo(wait, state, q)
	if !newer(state, q, shown) {
		return answer, nil
	}
	p, err := s.Pointers.Pointer(ctx, state, q.Link)
	answer.Pointer = &p
	return answer, err
}

// follows reports whether a page follows the newest revision.
func follows(s readaccess.State, q readaccess.Query) bool {
	return q.Link == "" || s.Link.Kind == link.Share
}

// answerTo returns the answer to a page that shows the newest revision, and may go on.
func answerTo(wait time.Duration, s readaccess.State, q readaccess.Query) Answer {
	return Answer{
		Wait:         wait,
		Follows:      follows(s, q),
		Claimed:      s.Workspace.Tier() != limits.Ephemeral,
		Feedback:     s.Feedback,
		FeedbackHeld: s.FeedbackHeld,
	}
}

// newer reports whether a page that shows a revision has to be told of the current one.
func newer(s readaccess.State, q readaccess.Query, shown id.Revision) bool {
	return s.Artifact.Current != shown && follows(s, q)
}

// refuse gives back the permit of a page that is refused although others may read the artifact. It does so for every
// page of a member, whose state does not tell whether another workspace has the artifact.
func (s *Service) refuse(ctx context.Context, q readaccess.Query, permit rate.Read, state readaccess.State) {
	if q.Link == "" || state.ArtifactAllows(q, s.Now()) {
		s.Limiter.GiveBack(ctx, permit)
	}
}
