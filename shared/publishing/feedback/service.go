package feedback

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/tree"
)

// Service begins, changes and lists threads.
type Service struct {
	Store     Store
	Artifacts Artifacts
	Files     Files
	Anchors   Anchors
	Cursors   *cursor.Codec
	Limiter   *rate.Limiter
	Limits    *limits.Limits
	Now       func() time.Time
}

// Artifacts reads the artifacts of workspaces. artifact.Service implements it.
type Artifacts interface {
	// Owned reads an artifact of the caller's workspace in any status; artifact_not_found for another one.
	Owned(ctx context.Context, by credential.Actor, a id.Artifact) (*artifact.Artifact, error)
	// Revision reads a revision of an artifact that Owned returned, nil if there is none.
	Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error)
}

// Files reads files of published revisions. view.Service implements it.
type Files interface {
	// Source returns a file, with its bytes if they are wanted for its size; an unreadable one is not_found.
	Source(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string, wanted func(int64) bool,
	) (tree.File, []byte, error)
}

// Store keeps threads.
type Store interface {
	// Thread reads the counts of an artifact and one of its threads strongly; nil if there is none.
	Thread(ctx context.Context, a id.Artifact, t id.Thread) (Counts, *Thread, error)
	Threads
	// Messages reads messages of a thread strongly, in their order, after a number.
	Messages(ctx context.Context, a id.Artifact, t id.Thread, after, most int) ([]Message, error)
	// List reads the threads of an artifact by their last change. The answer misses no change up to Until.
	List(ctx context.Context, q Query) (Listing, error)
	// Seq returns the Counts.Seq of an artifact as it was a moment ago, at half the cost of a strong read.
	Seq(ctx context.Context, a id.Artifact) (int64, error)
	// Waiting reads what is held strongly, the oldest first.
	Waiting(ctx context.Context, a id.Artifact) ([]Held, error)
	// Guests reads the threads that guests began strongly, at most so many: the last changed, by that change.
	Guests(ctx context.Context, a id.Artifact, most int) ([]Thread, error)
	// Commit makes a change in one transaction. Conditions: the artifact is live, unlocked and published, and belongs to
	// the workspace or is claimed into it, and its counts are as they were. Errors: *idempotency.AlreadyDone, ErrMoved (of
	// package artifact), ErrRaced, not_authenticated (the workspace closed), not_found (the link takes no comments any
	// more), database_unavailable.
	Commit(ctx context.Context, c Commit) error
	// SetSettings is Commit for settings alone: Thread names the artifact, and After has what Before becomes.
	SetSettings(ctx context.Context, c Commit) error
	// Inbox lists artifacts with open threads, the last change first. It reads each artifact and its counts strongly, and
	// leaves out what is not Live then.
	Inbox(ctx context.Context, q InboxQuery) (rows []InboxRow, next string, err error)
}

// ErrRaced reports that another change of the artifact's threads came first.
var ErrRaced = errors.New("the threads have changed")

// Query selects threads of an artifact.
type Query struct {
	Artifact id.Artifact
	After    int64 // threads that were changed later than this
	State    State // empty: every state
	Deleted  bool  // tombstones too
	Limit    int
	Counts   *Counts // as they were read strongly before; nil: they are read
}

// Listing is a part of a list of threads.
type Listing struct {
	Counts
	Threads []Thread // by their last change
	// Until is the change up to which the list is complete. It is Counts.Seq unless More.
	Until int64
	More  bool
}

// Commit is everything that a change writes.
type Commit struct {
	Change
	Command   idempotency.Command
	Result    []byte
	Workspace id.Workspace
	From      id.Workspace // from which a claim takes the artifact; empty: none
	Link      *link.Link   // through which a guest writes; nil: none
	Event     event.Event
	At        time.Time
}

// Target is what a request names.
type Target struct {
	Command     idempotency.Command
	Record      *idempotency.Record
	RequestedID id.Artifact
	Artifact    *artifact.Artifact // as it was read with the request; nil: there is none
	Unread      bool               // Artifact was not read
	Thread      id.Thread          // empty for a new one
}

// Remark is a message about an artifact that begins a thread.
type Remark struct {
	Body     string
	Revision id.Revision // empty: the current one
	Path     string      // empty: about the artifact
	Anchor   Anchor
}

// result is what the record of a command keeps: ids, no words.
type result struct {
	Thread id.Thread `json:"thread_id"`
}

// Create begins a thread. Errors: artifact_not_found, not_found (the revision or file), invalid_request (the words, or what
// they are about), forbidden (threads are off), feedback_conflict.
func (s *Service) Create(ctx context.Context, by credential.Actor, who Author, t Target, r Remark) (Thread, error) {
	if err := by.Require(credential.Publish); err != nil {
		return Thread{}, err
	}
	body, err := text.Clean(r.Body, MaxBody)
	if err != nil {
		return Thread{}, err
	}
	t.Thread = id.NewThread()
	return s.write(ctx, by, t, event.FeedbackCreated, func(a *artifact.Artifact, counts Counts, _ *Thread) (Change, error) {
		if err := counts.admit(); err != nil { // before files are read
			return Change{}, err
		}
		revision := cmp.Or(r.Revision, a.Current)
		about, err := s.check(ctx, by, a, revision, r, math.MaxInt64)
		if err != nil {
			return Change{}, err
		}
		return Begin(counts, Thread{
			ID:       t.Thread,
			Artifact: a.ID,
			Revision: revision,
			Path:     r.Path,
			Anchor:   about,
			First:    Excerpt{Author: who, At: s.now()},
		}, body)
	})
}

// check holds an anchor against the revision. Of files with more than most bytes only the kind file is one.
func (s *Service) check(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, remark Remark, most int64,
) (Anchor, error) {
	about := remark.Anchor
	if about.Kind == "" {
		about.Kind = OnArtifact
		if remark.Path != "" {
			about.Kind = OnFile
		}
	}
	if (about.Kind == OnArtifact) != (remark.Path == "") {
		return about, fault.New(fault.InvalidRequest, "an anchor of kind artifact has no path, and every other one has")
	}
	if about.Kind == OnArtifact {
		if _, err := s.published(ctx, a, r); err != nil {
			return about, err
		}
		return s.Anchors.Check(about, Source{})
	}
	reads := func(size int64) bool { return size <= most && s.Anchors.Reads(about, size) }
	f, body, err := s.Files.Source(ctx, by, a, r, remark.Path, reads)
	switch {
	case err != nil:
		return about, err
	case f.Size > most && s.Anchors.Reads(about, f.Size):
		return about, fault.New(fault.InvalidRequest, "anchor_not_found: the file is too large to look in; write about the file")
	}
	return s.Anchors.Check(about, Source{Path: f.Path, Size: f.Size, Body: body})
}

// Answer is what a caller does to a thread.
type Answer struct {
	Reply     string
	Addressed id.Revision // empty: none
	Note      string
	Reopen    bool
	Resolve   bool
	Delete    bool
}

// Answer acts on a thread. Errors: artifact_not_found, not_found (the thread), invalid_request, forbidden (an agent may not
// resolve), feedback_conflict.
func (s *Service) Answer(ctx context.Context, by credential.Actor, who Author, t Target, answer Answer) (Thread, error) {
	if err := by.Require(credential.Publish); err != nil {
		return Thread{}, err
	}
	act := Act{
		By:      who,
		Reopen:  answer.Reopen,
		Resolve: answer.Resolve,
		Delete:  answer.Delete,
		At:      s.now(),
	}
	var err error
	if answer.Reply != "" {
		act.Reply, err = text.Clean(answer.Reply, MaxBody)
	}
	note := ""
	if err == nil && answer.Note != "" {
		note, err = text.Clean(answer.Note, MaxNote)
	}
	if err == nil && act.Reply == "" && answer.Addressed == "" && !answer.Resolve && !answer.Reopen && !answer.Delete {
		err = fault.New(fault.InvalidRequest, "say what to do with the thread: reply to it, or change its state")
	}
	if err != nil {
		return Thread{}, err
	}
	return s.write(ctx, by, t, eventOf(answer), func(a *artifact.Artifact, counts Counts, thread *Thread) (Change, error) {
		if thread == nil {
			return Change{}, NotFound()
		}
		act := act
		if answer.Addressed != "" {
			number, err := s.published(ctx, a, answer.Addressed)
			if err != nil {
				return Change{}, err
			}
			act.Addressed = Address{
				Revision: answer.Addressed,
				Number:   number,
				By:       who,
				Note:     note,
				At:       act.At,
			}
		}
		return Apply(counts, *thread, act)
	})
}

// published returns the number of a published revision.
func (s *Service) published(ctx context.Context, a *artifact.Artifact, r id.Revision) (int, error) {
	if r == a.Current {
		return a.Number, nil
	}
	var found *artifact.Revision
	var err error
	if _, malformed := r.Bits(); malformed == nil {
		found, err = s.Artifacts.Revision(ctx, a.ID, r)
	}
	switch {
	case err != nil:
		return 0, err
	case found == nil:
		return 0, fault.New(fault.NotFound, "the artifact has no such revision")
	case found.Status != artifact.Published:
		return 0, conflict("revision %s is not published", r)
	}
	return found.Number, nil
}

func eventOf(a Answer) event.Action {
	switch {
	case a.Delete:
		return event.FeedbackDeleted
	case a.Resolve:
		return event.FeedbackResolved
	case a.Addressed != "":
		return event.FeedbackAddressed
	case a.Reopen:
		return event.FeedbackReopened
	}
	return event.FeedbackReplied
}

// How long a change that loses races is decided anew.
const (
	patience   = 5 * time.Second
	shortPause = 200 * time.Millisecond
)

// write decides a change and commits it, again after each lost race. It writes in the commit alone.
func (s *Service) write(
	ctx context.Context, by credential.Actor, t Target, what event.Action,
	decide func(*artifact.Artifact, Counts, *Thread) (Change, error),
) (Thread, error) {
	return repeatable(ctx, s, by, t, func(a *artifact.Artifact) (Thread, error) {
		return s.attempt(ctx, by, a, t, what, decide)
	}, func(first result) (Thread, error) {
		_, thread, err := s.Store.Thread(ctx, t.RequestedID, first.Thread)
		if err == nil && thread == nil { // what began it waits, or was dropped
			thread = &Thread{ID: first.Thread, Artifact: t.RequestedID, State: Deleted}
		}
		if err != nil {
			return Thread{}, err
		}
		return *thread, nil
	})
}

// repeatable runs a command once, with a new attempt after each lost race, and answers its repetition by replay.
func repeatable[R, T any](
	ctx context.Context, s *Service, by credential.Actor, t Target,
	attempt func(*artifact.Artifact) (T, error), replay func(R) (T, error),
) (T, error) {
	var none T
	return idempotency.DoWith(t.Command, t.Record, s.now(), func() (T, error) {
		a, err := t.Artifact, error(nil)
		if t.Unread {
			a, err = s.Artifacts.Owned(ctx, by, t.RequestedID)
		}
		if err == nil {
			err = s.readable(by, a)
		}
		if err == nil {
			err = s.Limiter.Take(ctx, s.Limits.Feedback, string(a.ID))
		}
		for begun := s.Now(); ; {
			var changed T
			if err == nil {
				changed, err = attempt(a)
			}
			if !errors.Is(err, ErrRaced) && !errors.Is(err, artifact.ErrMoved) {
				return changed, err
			}
			if s.Now().Sub(begun) > patience {
				return none, fault.New(fault.DatabaseUnavailable,
					"too many write about this artifact at once; repeat the request in a moment")
			}
			if err := async.Sleep(ctx, shortPause+rand.N(shortPause)); err != nil {
				return none, err
			}
			a, err = s.Artifacts.Owned(ctx, by, t.RequestedID)
		}
	}, replay)
}

func (s *Service) attempt(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, t Target, what event.Action,
	decide func(*artifact.Artifact, Counts, *Thread) (Change, error),
) (Thread, error) {
	if err := s.readable(by, a); err != nil {
		return Thread{}, err
	}
	counts, thread, err := s.Store.Thread(ctx, a.ID, t.Thread)
	if err != nil {
		return Thread{}, err
	}
	change, err := decide(a, counts, thread)
	if err != nil {
		return Thread{}, err
	}
	if change.Thread.State == Deleted && change.Changed() { // by the deletion of its only message, too
		what = event.FeedbackDeleted
	}
	e := by.Record(s.now(), what, event.OnThread, string(t.Thread), "")
	return change.Thread, s.Store.Commit(ctx, commitOf(a, t, change, e, result{t.Thread}))
}

// commitOf returns what a change writes that an event tells. result is for the record of the command.
func commitOf(a *artifact.Artifact, t Target, c Change, e event.Event, result any) Commit {
	e.Artifact = a.ID
	return Commit{
		Change:    c,
		Command:   t.Command,
		Result:    idempotency.Encode(result),
		Workspace: e.Workspace,
		From:      a.ClaimedFrom,
		Event:     e,
		At:        e.At,
	}
}

// readable refuses what is no published artifact of the caller's workspace.
func (s *Service) readable(by credential.Actor, a *artifact.Artifact) error {
	if !a.Readable(s.Now()) || a.Owner != by.Workspace.ID || a.Current == "" {
		return artifact.NotFound()
	}
	return nil
}

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }
