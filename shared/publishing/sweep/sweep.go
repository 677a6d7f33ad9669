// Package sweep does what falls due by itself: it discards drafts that nobody publishes, ends what has expired, clears away
// upload sessions, lets sessions find bytes that are there, and collects those that nothing needs any more.
//
// Readers never wait for it: expiry is judged by the clock at every read. Every step is conditional on what was read, so
// that it may die anywhere, start again, run beside itself, and lose against whoever changes the same thing.
package sweep

import (
	"context"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/upload"
)

// Store is what Sweeper needs of the tables for artifacts.
type Store interface {
	// DueArtifacts returns up to n artifacts, read strongly, of which something falls due at an instant. An artifact of a
	// claimed workspace comes as its new owner has it.
	DueArtifacts(ctx context.Context, now time.Time, n int) ([]Artifact, error)
	// Discard takes the draft off an artifact, if it did not change since it was read, with its event. Nothing happens
	// otherwise.
	Discard(ctx context.Context, a Artifact, at time.Time, e event.Event) error
	// Expire ends an artifact that is live, not pinned and past its time, if it did not change since it was read, with its
	// event. Nothing happens otherwise.
	Expire(ctx context.Context, a Artifact, at time.Time, e event.Event) error
	// RescheduleArtifact lets an artifact fall due when the next thing happens to it, if it did not change since it was read.
	RescheduleArtifact(ctx context.Context, a Artifact) error
	Queue
}

// Artifact is one of which something falls due.
type Artifact struct {
	artifact.Artifact
	QueueItem
	Version int64 // raised by every change
}

// String names it in what is said of its failure.
func (a Artifact) String() string { return "artifact " + string(a.ID) }

// Session is an upload session of which something falls due.
type Session struct {
	upload.Session
	QueueItem
}

// String names it in what is said of its failure.
func (s Session) String() string { return "upload session " + string(s.ID) }

// Sessions is what Sweeper needs of the tables for upload sessions.
type Sessions interface {
	// DueSessions returns up to n upload sessions, read strongly, whose time is over at an instant.
	DueSessions(ctx context.Context, now time.Time, n int) ([]Session, error)
	// EndSession marks a session that nobody finalized as expired. It is false if somebody did.
	EndSession(ctx context.Context, s upload.Session, at time.Time) (ended bool, err error)
	SessionCleanup
}

// Objects is what Sweeper needs of the object store.
type Objects interface {
	// DeleteSession removes everything that a session brought; what is gone already is no failure.
	DeleteSession(ctx context.Context, home id.Workspace, s id.Session) error
}

// SessionCleanup is the last step of a session, once its objects are gone or can be found.
type SessionCleanup interface {
	// ForgetSession takes a session off the list of what is due, with the references of one that was not finalized. What
	// nobody asks for again is deleted some time after it: all of a session that was not finalized, else its entries.
	ForgetSession(ctx context.Context, u upload.Session) error
}

// How many of each kind one round takes. Each part of the list gives its share of a batch: from as many as one part gives
// on, others may wait.
const (
	batch = 100
	full  = batch / limits.QueueShards
)

// Sweeper does what is due.
type Sweeper struct {
	Store    Store
	Sessions Sessions
	Objects  Objects
	Now      func() time.Time
}

// DueArtifacts does one round for artifacts.
func (s *Sweeper) DueArtifacts(ctx context.Context) (Round, error) {
	now := s.Now()
	due, err := s.Store.DueArtifacts(ctx, now, batch)
	if err != nil {
		return Round{}, err
	}
	r := round{rows: s.Store, now: s.Now, many: full}
	return each(ctx, r, due, func(ctx context.Context, a Artifact) error { return s.artifact(ctx, a, now) })
}

// artifact does what is due of it. An artifact that came up too soon goes back to its place: it would come up again and
// again, before others.
func (s *Sweeper) artifact(ctx context.Context, a Artifact, now time.Time) error {
	record := func(action event.Action, kind, target string) event.Event {
		return event.Event{
			ID:        id.NewEvent(),
			Workspace: a.Owner,
			At:        now,
			Action:    action,
			Actor:     event.BySystem(),
			Target:    event.Target{Type: kind, ID: target},
			Detail:    a.Title,
		}
	}
	switch {
	case a.Status != artifact.Live:
		return nil
	case a.PinnedAt.IsZero() && !now.Before(a.ExpiresAt):
		return s.Store.Expire(ctx, a, now, record(event.ArtifactExpired, event.OnArtifact, string(a.ID)))
	case a.Draft != "" && !now.Before(a.DraftAt.Add(limits.DraftLife)):
		return s.Store.Discard(ctx, a, now, record(event.RevisionRetained, event.OnRevision, string(a.Draft)))
	}
	return s.Store.RescheduleArtifact(ctx, a)
}

// DueSessions does one round for upload sessions.
func (s *Sweeper) DueSessions(ctx context.Context) (Round, error) {
	now := s.Now()
	due, err := s.Sessions.DueSessions(ctx, now, batch)
	if err != nil {
		return Round{}, err
	}
	r := round{rows: s.Store, now: s.Now, many: full}
	return each(ctx, r, due, func(ctx context.Context, u Session) error { return s.session(ctx, u.Session, now) })
}

// session ends a session first, so that nobody can finalize it while its objects go, and forgets it last, so that a
// death in between is made up for.
func (s *Sweeper) session(ctx context.Context, u upload.Session, now time.Time) error {
	ended, err := s.Sessions.EndSession(ctx, u, now)
	if err != nil || !ended {
		return err
	}
	if err := s.Objects.DeleteSession(ctx, u.Home, u.ID); err != nil {
		return err
	}
	return s.Sessions.ForgetSession(ctx, u)
}
