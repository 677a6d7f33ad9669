// Package sweep does the work that time makes due, in steps that are conditional on what was read, so that a job may
// die anywhere, be repeated, run twice at once, and lose a race against any other change.
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

// Store is the sweeper's view of artifacts in the tables.
type Store interface {
	// DueArtifacts reads strongly up to n artifacts that are due. It returns an artifact of a claimed workspace as its new
	// owner has it.
	DueArtifacts(ctx context.Context, now time.Time, n int) ([]Artifact, error)
	// Discard removes the draft of an artifact and records its event. It has no effect if the artifact changed since it
	// was read.
	Discard(ctx context.Context, a Artifact, at time.Time, e event.Event) error
	// Expire ends an artifact that is live, not pinned and past its time, and records its event. It has no effect if the
	// artifact changed since it was read.
	Expire(ctx context.Context, a Artifact, at time.Time, e event.Event) error
	// RescheduleArtifact makes an artifact due at its own end or its draft's, whichever is sooner. It has no effect if the
	// artifact changed since it was read.
	RescheduleArtifact(ctx context.Context, a Artifact) error
	Queue
}

// Artifact is an artifact that is due.
type Artifact struct {
	artifact.Artifact
	QueueItem
	Version int64 // raised by every change
}

// String names the artifact in errors.
func (a Artifact) String() string { return "artifact " + string(a.ID) }

// Session is an upload session that is due.
type Session struct {
	upload.Session
	QueueItem
}

// String names the session in errors.
func (s Session) String() string { return "upload session " + string(s.ID) }

// Sessions is the sweeper's view of upload sessions in the tables.
type Sessions interface {
	// DueSessions reads strongly up to n upload sessions that are over.
	DueSessions(ctx context.Context, now time.Time, n int) ([]Session, error)
	// EndSession marks a session as expired, and returns false if it was finalized.
	EndSession(ctx context.Context, s upload.Session, at time.Time) (ended bool, err error)
	SessionCleanup
}

// Objects deletes from the object store.
type Objects interface {
	// DeleteSession deletes everything that a session uploaded. A missing object is no error.
	DeleteSession(ctx context.Context, home id.Workspace, s id.Session) error
}

// SessionCleanup is the last step of a session, once its objects are deleted or indexed.
type SessionCleanup interface {
	// ForgetSession removes a session from the queue, and the references of a session that was not finalized. The table
	// deletes the rest later: the entries of a finalized session, and all of another one.
	ForgetSession(ctx context.Context, u upload.Session) error
}

// How many items of each kind one round takes. Each of the limits.QueueShards shards returns at most an equal share, so
// one that returns its full share may have more.
const (
	batchSize = 100
	fullShare = batchSize / limits.QueueShards
)

// Sweeper expires artifacts, discards drafts, and deletes abandoned upload sessions, bundles, exports, and messages of
// deleted threads. Readers never depend on it, because every read checks expiry by the clock.
type Sweeper struct {
	Store          Store
	Sessions       Sessions
	Objects        Objects
	Bundles        StaleBundles
	Archives       BundleDeletions
	Exports        StaleExports
	ExportArchives ExportDeletions
	Threads        DeletedThreads
	Now            func() time.Time
}

// DueArtifacts does one round for artifacts.
func (s *Sweeper) DueArtifacts(ctx context.Context) (Round, error) {
	return run(ctx, round{rows: s.Store, now: s.Now}, batchSize, s.Store.DueArtifacts, s.artifact)
}

// artifact expires an artifact, discards its draft, or reschedules it. An artifact that came up too soon has to be
// rescheduled, because it would come up again and again before others.
func (s *Sweeper) artifact(ctx context.Context, a Artifact) error {
	now := s.Now()
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
	switch { // expiry first, because it ends the draft too
	case a.Status != artifact.Live:
		return nil
	case !a.Active(now):
		return s.Store.Expire(ctx, a, now, record(event.ArtifactExpired, event.OnArtifact, string(a.ID)))
	case a.Draft != "" && !now.Before(a.DraftAt.Add(limits.DraftLife)):
		e := record(event.RevisionRetained, event.OnRevision, string(a.Draft))
		e.Artifact = a.ID
		return s.Store.Discard(ctx, a, now, e)
	}
	return s.Store.RescheduleArtifact(ctx, a)
}

// DueSessions does one round for upload sessions.
func (s *Sweeper) DueSessions(ctx context.Context) (Round, error) {
	return run(ctx, round{rows: s.Store, now: s.Now}, batchSize, s.Sessions.DueSessions, s.session)
}

// session marks a session as expired first, so that it cannot be finalized while its objects are deleted, and removes
// it from the queue last, so that a job that died is repeated in full.
func (s *Sweeper) session(ctx context.Context, u Session) error {
	ended, err := s.Sessions.EndSession(ctx, u.Session, s.Now())
	if err != nil || !ended {
		return err
	}
	if err := s.Objects.DeleteSession(ctx, u.Home, u.ID); err != nil {
		return err
	}
	return s.Sessions.ForgetSession(ctx, u.Session)
}
