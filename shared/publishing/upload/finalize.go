package upload

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

// Finalizations stores drafts and the leases of attempts.
type Finalizations interface {
	// Claim takes the command for owner until lease, unless another attempt holds or finished it:
	// *idempotency.AlreadyDone. A lease that has expired may be taken.
	Claim(ctx context.Context, c idempotency.Command, owner string, now, lease time.Time) error
	// Release gives the command back if owner still holds it unfinished.
	Release(ctx context.Context, c idempotency.Command, owner string) error
	// Contents reads a revision of an artifact with its files, nil if there is none. An eventually consistent read is
	// enough for what is immutable.
	Contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error)
	// Finalize commits f in one transaction, conditional on the session being pending, owner holding the command, and the
	// artifact being new, or live, unlocked, without a draft and at f.Current. Errors: *idempotency.AlreadyDone (the lease
	// was lost), *Settled, upload_session_not_found (the session is gone), artifact.ErrMoved (another revision is current),
	// artifact_not_found, draft_revision_conflict, invalid_request (a reused revision is gone), not_authenticated (the
	// workspace closed), database_unavailable.
	Finalize(ctx context.Context, f Finalization) error
}

// Finalization is everything that Finalize writes.
type Finalization struct {
	Command  idempotency.Command
	Result   []byte // what a repetition answers from
	Owner    string
	Session  Session
	Artifact artifact.Artifact // as it is made when the session is New
	Revision artifact.Revision
	Tree     tree.Tree
	Current  id.Revision // that the artifact still has to have; empty: any
	At       time.Time
	Event    event.Event
}

// Settled means that the session is no longer pending; Session is as it was found.
type Settled struct {
	Session Session
}

// Error implements error.
func (s *Settled) Error() string { return "the session is " + string(s.Session.Status) }

// Attempt is a request to finalize, with the session as it was read when the request was authenticated.
type Attempt struct {
	Command idempotency.Command
	Record  *idempotency.Record
	Session *Session
	Entries []Entry
	// Current is the revision that the artifact still has to have when the draft is made, so that a change that was made
	// of it overwrites no other; empty: any.
	Current id.Revision
}

// Finalize verifies that every declared file was uploaded and makes the draft. A session that is finalized already has
// the same answer again for every Idempotency-Key. If the artifact is not at a.Current any more, it fails with
// artifact.ErrMoved, and will do so for good, because no revision becomes the current one twice.
func (s *Service) Finalize(ctx context.Context, by credential.Actor, a Attempt) (contract.Finalized, error) {
	now := s.Now()
	if a.Session == nil || a.Session.Workspace != by.Workspace.ID {
		return contract.Finalized{}, fault.New(fault.NotFound, "no such upload session in this workspace")
	}
	return idempotency.DoWith(a.Command, a.Record, now, func() (contract.Finalized, error) {
		if a.Session.Status == Finalized {
			return s.again(ctx, a.Session), nil
		}
		return s.attempt(ctx, by, a, now)
	}, func(first finalized) (contract.Finalized, error) { return s.replay(ctx, a, first), nil })
}

// attempt runs the command, and releases it if it failed.
func (s *Service) attempt(
	ctx context.Context, by credential.Actor, a Attempt, now time.Time,
) (contract.Finalized, error) {
	owner := rand.Text()
	found, err := s.run(ctx, by, a, owner, now)
	var taken *idempotency.AlreadyDone
	switch {
	case err == nil:
		return finalizedAnswer(a.Session, found), nil
	case errors.As(err, &taken):
		return contract.Finalized{}, err
	}
	// A commit that did happen left the command finished, which Release respects.
	s.Store.Release(context.WithoutCancel(ctx), a.Command, owner)
	var settled *Settled
	if errors.As(err, &settled) {
		if settled.Session.Status == Finalized {
			return s.again(ctx, &settled.Session), nil
		}
		err = checkPending(&settled.Session, now)
	}
	return contract.Finalized{}, err
}

// finalized is the stored result: the totals of the revision, which the declaration of a partial manifest does not
// have.
type finalized struct {
	FileCount int   `json:"n"`
	Size      int64 `json:"b"`
}

// replay answers a repetition from its record, because the session may have been read before the first attempt ended.
func (s *Service) replay(ctx context.Context, a Attempt, first finalized) contract.Finalized {
	session := *a.Session
	if first.FileCount > 0 { // else it was stored by older code, which leaves the session to tell
		session.FileCount, session.Size = first.FileCount, first.Size
	}
	return s.again(ctx, &session)
}

// again answers for a session that an earlier attempt finalized.
func (s *Service) again(ctx context.Context, session *Session) contract.Finalized {
	return finalizedAnswer(session, s.found(ctx, session))
}

// run takes the command, checks the objects meanwhile, and commits. It returns what it found in the pages.
func (s *Service) run(
	ctx context.Context, by credential.Actor, a Attempt, owner string, now time.Time,
) (found lint.Report, err error) {
	lease := s.Lease
	if lease == 0 {
		lease = limits.FinalizeLease
	}
	claimed := async.Start(func() error { return s.Store.Claim(ctx, a.Command, owner, now, now.Add(lease)) })
	there, err := s.survey(ctx, a)
	if refused := claimed(); refused != nil {
		return found, refused
	}
	if err == nil {
		err = cmp.Or(there.complete(a.Entries), checkPending(a.Session, now), there.baseErr)
	}
	if err != nil {
		return found, err
	}
	files, err := s.build(ctx, a, there.base, by.Policy)
	if err != nil {
		return found, err
	}
	if found, err = s.settle(ctx, by, a, files); err != nil {
		return found, err
	}
	a.Session.FileCount, a.Session.Size = len(files), files.Size()
	f := finalization(by, a, owner, there.base, files, now)
	f.Revision.Warnings = found
	return found, s.Store.Finalize(ctx, f)
}

// settle refers to what the files borrow, and reads the pages meanwhile.
func (s *Service) settle(
	ctx context.Context, by credential.Actor, a Attempt, files tree.Tree,
) (lint.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	linted := async.Go(func() (lint.Report, error) { return s.lint(ctx, by, a.Session, files), nil })
	if err := s.borrow(ctx, a, files); err != nil {
		return lint.Report{}, err
	}
	return linted.Wait()
}

// survey is what an attempt finds: the sizes of the session's files and diffs by entry, and its base or the reason why
// it cannot serve.
type survey struct {
	files, diffs map[int]int64
	base         *artifact.Contents
	baseErr      error
}

// survey reads all of it at once.
func (s *Service) survey(ctx context.Context, a Attempt) (found survey, err error) {
	g, ctx := async.WithContext(ctx)
	g.Go(func() (err error) {
		found.files, err = s.Objects.List(ctx, a.Session.Home, a.Session.ID, false)
		return err
	})
	if slices.ContainsFunc(a.Entries, func(e Entry) bool { return e.Patch != nil }) {
		g.Go(func() (err error) {
			found.diffs, err = s.Objects.List(ctx, a.Session.Home, a.Session.ID, true)
			return err
		})
	}
	g.Go(func() error {
		found.base, found.baseErr = s.base(ctx, a.Session)
		return nil
	})
	return found, g.Wait()
}

// complete checks that exactly the declared entries were uploaded, with their declared sizes. A file that an earlier
// attempt rebuilt from a diff may exist too.
func (s survey) complete(entries []Entry) error {
	for i, e := range entries {
		if e.Reused || e.Deleted {
			continue
		}
		in := s.files
		if e.Patch != nil {
			delete(s.files, i)
			in = s.diffs
		}
		if size, ok := in[i]; !ok || size != e.Size {
			return fault.New(fault.UploadIncomplete, "%s", e.Path)
		}
		delete(in, i)
	}
	if len(s.files)+len(s.diffs) > 0 {
		return fault.New(fault.UnexpectedUploadObject,
			"the session holds objects that it did not declare; create a new session")
	}
	return nil
}

func checkPending(s *Session, now time.Time) error {
	if s.Status != Pending || !now.Before(s.ExpiresAt) {
		return fault.New(fault.UploadSessionExpired, "the upload session expired; create a new one and upload again")
	}
	return nil
}

// finalization returns everything that the commit of an attempt writes.
func finalization(
	by credential.Actor, a Attempt, owner string, base *artifact.Contents, files tree.Tree, now time.Time,
) Finalization {
	s := *a.Session
	mode := s.Mode
	if mode == "" && base != nil {
		mode = base.Revision.Mode
	}
	if mode == "" {
		mode = media.ModeOf(s.Entrypoint)
	}
	_, entered := files.Find(s.Entrypoint)
	made := by.Record(now, event.DraftCreated, event.OnRevision, string(s.Revision), s.Title)
	made.Artifact = s.Artifact
	if s.New {
		made = by.Record(now, event.ArtifactCreated, event.OnArtifact, string(s.Artifact), s.Title)
		made.Revision = s.Revision
	}
	result, _ := json.Marshal(finalized{s.FileCount, s.Size})
	return Finalization{
		Command: a.Command,
		Result:  result,
		Owner:   owner,
		Session: s,
		Tree:    files,
		Current: a.Current,
		At:      now,
		Artifact: artifact.Artifact{
			ID:               s.Artifact,
			Owner:            s.Workspace,
			StorageWorkspace: s.Home,
			Status:           artifact.Live,
			ExpiresAt:        s.CreatedAt.Add(s.Life),
			Draft:            s.Revision,
			DraftAt:          now,
			Title:            s.Title,
			Entrypoint:       s.Entrypoint,
			FileCount:        s.FileCount,
			Size:             s.Size,
			CreatedAt:        now,
			UpdatedAt:        now,
		},
		Revision: artifact.Revision{
			ID:               s.Revision,
			Artifact:         s.Artifact,
			Status:           artifact.Draft,
			Session:          s.ID,
			Title:            s.Title,
			Entrypoint:       s.Entrypoint,
			EntrypointExists: entered,
			Mode:             mode,
			FileCount:        s.FileCount,
			Size:             s.Size,
			CreatedAt:        now,
		},
		Event: made,
	}
}

func finalizedAnswer(s *Session, found lint.Report) contract.Finalized {
	return contract.Finalized{
		UploadSessionID: s.ID,
		ArtifactID:      s.Artifact,
		RevisionID:      s.Revision,
		Status:          string(artifact.Draft),
		Title:           s.Title,
		Entrypoint:      s.Entrypoint,
		FileCount:       s.FileCount,
		SizeBytes:       s.Size,
		Warnings:        found.Wire(),
		WarningsOmitted: found.More,
	}
}
