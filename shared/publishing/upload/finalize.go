package upload

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
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

// Attempt is a request to finalize, with the session as it was read when the request was authenticated.
type Attempt struct {
	Command idempotency.Command
	Record  *idempotency.Record
	Session *Session
	Entries []Entry
	// Current is the revision that has to be current when the draft is committed, so that a change of it overwrites no
	// other change. Empty means any.
	Current id.Revision
}

// Draft is the draft that a finalized session made.
type Draft struct {
	Session    id.Session
	Artifact   id.Artifact
	Revision   id.Revision
	Title      string
	Entrypoint string
	FileCount  int
	Size       int64
	Warnings   lint.Report // findings in its pages that apply under the policy
}

// Finalize verifies that every declared file was uploaded and makes the draft. A session that is already finalized
// gives the same answer to every Idempotency-Key. If a.Current is no longer current, Finalize fails with
// artifact.ErrMoved, and so does each repetition, because no revision becomes current twice.
func (s *Service) Finalize(ctx context.Context, by credential.Actor, a Attempt) (Draft, error) {
	now := s.Now()
	if a.Session == nil || a.Session.Workspace != by.Workspace.ID {
		return Draft{}, fault.New(fault.NotFound, "no such upload session in this workspace")
	}
	d, err := idempotency.DoWith(a.Command, a.Record, now, func() (Draft, error) {
		if a.Session.Status == Finalized {
			return s.again(ctx, *a.Session), nil
		}
		return s.attempt(ctx, by, a, now)
	}, func(first totals) (Draft, error) {
		session := *a.Session    // may have been read before the first attempt ended, without the totals
		if first.FileCount > 0 { // older code stored none, and then those of the session have to do
			session.FileCount, session.Size = first.FileCount, first.Size
		}
		return s.again(ctx, session), nil
	})
	d.Warnings = d.Warnings.Under(by.Policy.Scripts)
	return d, err
}

// totals is the stored result of finalize: the totals of the revision, which differ from those of a partial
// declaration.
type totals struct {
	FileCount int   `json:"n"`
	Size      int64 `json:"b"`
}

// again returns the draft of a session that an earlier attempt finalized, with its stored warnings, or without warnings
// if they cannot be read.
func (s *Service) again(ctx context.Context, session Session) Draft {
	made, err := s.Store.Contents(ctx, session.Artifact, session.Revision)
	if err != nil || made == nil {
		return draftOf(session, lint.Report{})
	}
	return draftOf(session, made.Revision.Warnings)
}

// attempt runs the command and releases it after a failure.
func (s *Service) attempt(ctx context.Context, by credential.Actor, a Attempt, now time.Time) (Draft, error) {
	owner := rand.Text()
	warnings, err := s.makeDraft(ctx, by, a, owner, now)
	var taken *idempotency.AlreadyDone
	switch {
	case err == nil:
		return draftOf(*a.Session, warnings), nil
	case errors.As(err, &taken):
		return Draft{}, err
	}
	// Release runs although the client may be gone, so that a repetition need not wait for the end of the lease. It has no
	// effect if the commit happened after all, because the command is then finished. Its error is dropped, because the
	// lease ends by itself.
	s.Store.Release(context.WithoutCancel(ctx), a.Command, owner)
	var settled *Settled
	if errors.As(err, &settled) {
		if settled.Session.Status == Finalized {
			return s.again(ctx, settled.Session), nil
		}
		err = checkPending(settled.Session, now)
	}
	return Draft{}, err
}

// makeDraft claims the command, completes the files and commits the draft. The commit fails if another attempt has
// taken the command from owner meanwhile.
func (s *Service) makeDraft(
	ctx context.Context, by credential.Actor, a Attempt, owner string, now time.Time,
) (lint.Report, error) {
	base, err := s.claim(ctx, a, owner, now)
	if err != nil {
		return lint.Report{}, err
	}
	if base.Revision.Entrypoint == a.Session.Entrypoint { // a session with another entrypoint wants that one opened
		a.Session.Listing = a.Session.Listing || base.Revision.Listing
	}
	files, err := merge(base.Tree, a.Entries)
	if err != nil {
		return lint.Report{}, err
	}
	if err := checkTree(files, by.Policy, a.Session.Entrypoint); err != nil { // again, because the plan may have changed
		return lint.Report{}, err
	}
	if err := s.hash(ctx, a, files); err != nil {
		return lint.Report{}, err
	}
	if err := s.rebuild(ctx, a, base.Tree, files, by.Policy); err != nil {
		return lint.Report{}, err
	}
	warnings, err := s.settle(ctx, by, a, files)
	if err != nil {
		return lint.Report{}, err
	}
	a.Session.FileCount, a.Session.Size = len(files), files.Size()
	f := finalization(by, a, base.Revision.Mode, files, now)
	f.Owner = owner
	if warnings.App && !f.Revision.App.Said() {
		f.Revision.App = artifact.FoundApp
	}
	f.Revision.Warnings = warnings
	return warnings, s.Store.Finalize(ctx, f)
}

// claim takes the command. Meanwhile it lists the uploads and reads the base, which is empty for a whole manifest.
// Refusals in order: that of the command, files that are missing or not declared, the end of the session, an unusable
// base.
func (s *Service) claim(ctx context.Context, a Attempt, owner string, now time.Time) (artifact.Contents, error) {
	lease := now.Add(cmp.Or(s.Lease, limits.FinalizeLease))
	var found uploaded
	var base artifact.Contents
	var refused, unfit error
	g, reading := async.WithContext(ctx)
	g.Go(func() error {
		refused = s.Store.Claim(ctx, a.Command, owner, now, lease) // not with reading, which a failed read cancels
		return nil
	})
	g.Go(func() (err error) {
		found, err = s.uploaded(reading, a.Session, a.Entries)
		return err
	})
	g.Go(func() error {
		base, unfit = s.base(reading, a.Session)
		return nil
	})
	err := g.Wait()
	if err = cmp.Or(refused, err); err == nil {
		err = cmp.Or(checkUploaded(a.Entries, found), checkPending(*a.Session, now), unfit)
	}
	return base, err
}

// uploaded has the sizes of what was uploaded for the entries of a session, by their numbers.
type uploaded struct{ files, diffs map[int]int64 }

// uploaded lists what was uploaded for a session.
func (s *Service) uploaded(ctx context.Context, session *Session, entries []Entry) (u uploaded, err error) {
	g, ctx := async.WithContext(ctx)
	g.Go(func() (err error) {
		u.files, err = s.Objects.List(ctx, session.Home, session.ID, false)
		return err
	})
	if havePatches(entries) {
		g.Go(func() (err error) {
			u.diffs, err = s.Objects.List(ctx, session.Home, session.ID, true)
			return err
		})
	}
	err = g.Wait()
	return u, err
}

// of returns the uploads of the kind of an entry.
func (u uploaded) of(e Entry) map[int]int64 {
	if e.Patch != nil {
		return u.diffs
	}
	return u.files
}

// has reports whether the n-th entry was uploaded with its size.
func (u uploaded) has(n int, e Entry) bool {
	size, ok := u.of(e)[n]
	return ok && size == e.Size
}

// checkUploaded checks that exactly the declared entries were uploaded, with their declared sizes. It uses up what was
// uploaded. A file that an earlier attempt rebuilt from a diff may exist too.
func checkUploaded(entries []Entry, found uploaded) error {
	for i, e := range entries {
		if e.Reused || e.Deleted {
			continue
		}
		if !found.has(i, e) {
			return fault.New(fault.UploadIncomplete, "%s", e.Path)
		}
		delete(found.files, i)
		delete(found.of(e), i)
	}
	if len(found.files)+len(found.diffs) > 0 {
		return fault.New(fault.UnexpectedUploadObject,
			"the session holds objects that it did not declare; create a new session")
	}
	return nil
}

func checkPending(s Session, now time.Time) error {
	if s.Status != Pending || !now.Before(s.ExpiresAt) {
		return fault.New(fault.UploadSessionExpired, "the upload session expired; create a new one and upload again")
	}
	return nil
}

// The reasons why a base is unusable. Clients know these words and publish the whole tree instead.
const (
	baseMissing      = "base_revision_not_found"
	baseUnpublished  = "base_revision_not_publishable"
	baseForeign      = "base_revision_artifact_mismatch"
	deletedNotInBase = "deleted_path_not_in_base"
)

// base reads the revision that a partial manifest builds on. It returns an empty one for a whole manifest. Only a base
// without artifact_id is reported as foreign. A base of another artifact is reported as missing, because revisions are
// stored by artifact.
func (s *Service) base(ctx context.Context, session *Session) (base artifact.Contents, err error) {
	if session.Base == "" {
		return base, nil
	}
	if session.New {
		return base, fault.New(fault.InvalidRequest, "%s: a base needs the artifact_id that it belongs to", baseForeign)
	}
	stored, err := s.Store.Contents(ctx, session.Artifact, session.Base)
	switch {
	case err != nil:
		return base, err
	case stored == nil:
		return base, fault.New(fault.InvalidRequest, "%s: this artifact has no revision %s", baseMissing, session.Base)
	case stored.Revision.Status != artifact.Published:
		return base, fault.New(fault.InvalidRequest,
			"%s: revision %s is a draft, or its bytes are gone", baseUnpublished, session.Base)
	}
	base = *stored
	base.Tree = base.Tree.Inherited(session.Base)
	return base, nil
}

// maxLookups bounds how many borrowed objects are checked at once.
const maxLookups = 16

// settle adds references to borrowed objects while the pages are linted. It returns the findings.
func (s *Service) settle(
	ctx context.Context, by credential.Actor, a Attempt, files tree.Tree,
) (lint.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	warnings := async.Go(func() (lint.Report, error) { return s.lint(ctx, by, a.Session, files), nil })
	if err := s.borrow(ctx, a, files); err != nil {
		return lint.Report{}, err
	}
	return warnings.Wait()
}

// borrow adds references to the bytes that a revision reuses, and then checks that they exist. References come first,
// because the bytes are not collected from then on. It leaves out what is inherited from a published revision, whose
// references the commit relies on.
func (s *Service) borrow(ctx context.Context, a Attempt, files tree.Tree) error {
	objects := files.Borrowed()
	if len(objects) == 0 {
		return nil
	}
	if err := s.Index.AddReference(ctx, a.Session.Artifact, a.Session.Revision, objects); err != nil {
		return err
	}
	g, ctx := async.WithContext(ctx)
	g.SetLimit(maxLookups)
	for _, e := range a.Entries {
		if e.file().References() {
			g.Go(func() error { return s.checkBorrowed(ctx, a.Session, e) })
		}
	}
	return g.Wait()
}

// checkBorrowed refuses an entry whose borrowed bytes are gone. It removes their index entry first, so that the next
// session is asked to upload them.
func (s *Service) checkBorrowed(ctx context.Context, session *Session, e Entry) error {
	size, err := s.Objects.Head(ctx, session.Home, e.Object)
	if err == nil && size == e.Size {
		return nil
	}
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	content := tree.Content{SHA256: *e.SHA256, Size: e.Size}
	if _, err := s.Index.Remove(ctx, session.Home, content, e.Object); err != nil {
		return err
	}
	return fault.New(fault.UploadIncomplete, "%s: the bytes that it reuses are gone; create a new session", e.Path)
}

// finalization returns what the commit of an attempt writes, without owner and warnings.
func finalization(
	by credential.Actor, a Attempt, base media.Mode, files tree.Tree, now time.Time,
) Finalization {
	s := *a.Session
	_, entered := files.Find(s.Entrypoint)
	made := by.Record(now, event.DraftCreated, event.OnRevision, string(s.Revision), s.Title)
	made.Artifact = s.Artifact
	if s.New {
		made = by.Record(now, event.ArtifactCreated, event.OnArtifact, string(s.Artifact), s.Title)
		made.Revision = s.Revision
	}
	return Finalization{
		Command: a.Command,
		Result:  idempotency.Encode(totals{s.FileCount, s.Size}),
		Session: s,
		Tree:    files,
		Current: a.Current,
		At:      now,
		Artifact: artifact.Artifact{
			ID:               s.Artifact,
			Owner:            s.Workspace,
			StorageWorkspace: s.Home,
			Status:           artifact.Live,
			ExpiresAt:        limits.End(s.CreatedAt, s.Life),
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
			Listing:          s.Listing,
			App:              s.App,
			Mode:             cmp.Or(s.Mode, base, media.ModeOf(s.Entrypoint)),
			FileCount:        s.FileCount,
			Size:             s.Size,
			CreatedAt:        now,
		},
		Event: made,
	}
}

func draftOf(session Session, warnings lint.Report) Draft {
	return Draft{
		Session:    session.ID,
		Artifact:   session.Artifact,
		Revision:   session.Revision,
		Title:      session.Title,
		Entrypoint: session.Entrypoint,
		FileCount:  session.FileCount,
		Size:       session.Size,
		Warnings:   warnings,
	}
}
