package artifact

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/token"
)

// Publications commits publications.
type Publications interface {
	// Publish commits p in one transaction. Conditions: the artifact is live, unlocked, pinned as p.Pinned says, still in
	// p.Workspace or p.ClaimedFrom, has this draft, and its number is p.Number - 1; the revision is a draft; the workspace
	// is open; the allowance of the day, if counted, has room; the threads are as p.Threads has read them. Errors:
	// *idempotency.AlreadyDone, ErrMoved, ErrThreads, artifact_not_found, write_allowance_exceeded (without Retry-After), not_authenticated (the workspace closed),
	// database_unavailable.
	Publish(ctx context.Context, p Publication) error
}

// ErrMoved means that the artifact or the revision changed since it was read. The caller reads again and decides anew.
var ErrMoved = errors.New("the artifact changed meanwhile")

// Publication is everything that publishing changes.
type Publication struct {
	Command     idempotency.Command
	Result      []byte // a publicationResult or restored
	Workspace   id.Workspace
	ClaimedFrom id.Workspace // a claimed workspace that this commit moves the artifact from; empty: none
	Artifact    id.Artifact
	Revision    Revision
	Number      int       // of the revision, one more than the artifact has
	First       bool      // counts against Allowance
	Allowance   int       // new artifacts of a day
	ExpiresAt   time.Time // of the artifact from now on
	Renews      bool      // ExpiresAt is new
	Pinned      bool      // the artifact does not expire, although ExpiresAt is set
	Republish   bool      // the revision restores files of the artifact and is no draft; the artifact must have none
	Share       *Share    // made in the same transaction; nil: none
	Bundle      bool      // queues a bundle of the revision
	Threads     any       // Closing.Changes; nil: none
	At          time.Time
	Event       event.Event
}

// Share is a new share link of the artifact.
type Share struct {
	ID       id.Link
	Public   id.Public
	At       time.Time // of Artifact.NextLink; the commit fails if it no longer is
	Replaces id.Public // a share link that has ended by itself; empty: none
}

// Target is the object of a request, as it was read when the request was authenticated. Only Publish uses Revision and
// Addresses. A method that reads the artifact itself needs only RequestedID.
type Target struct {
	Command     idempotency.Command
	Record      *idempotency.Record // finished or not; nil: none
	RequestedID id.Artifact         // from the request; the artifact may not exist
	Artifact    *Artifact
	Revision    *Revision
	Addresses   []Address // threads that the revision has dealt with
}

// publicationResult is the stored result of a publication. A repetition signs fresh URLs from it.
type publicationResult struct {
	Artifact  id.Artifact `json:"a"`
	Revision  id.Revision `json:"r"`
	Title     string      `json:"t"`
	Entry     string      `json:"e"`
	ExpiresAt time.Time   `json:"x"`
	Share     id.Public   `json:"s,omitempty"`
	ShareEnds time.Time   `json:"u,omitzero"`
	Pinned    bool        `json:"p,omitempty"`
	Closed    *Closed     `json:"f,omitempty"`
}

func resultOf(a *Artifact, r *Revision) publicationResult {
	return publicationResult{
		Artifact:  a.ID,
		Revision:  r.ID,
		Title:     r.Title,
		Entry:     r.Entrypoint,
		ExpiresAt: a.ExpiresAt,
		Share:     a.ShareLink,
		ShareEnds: a.ShareLinkUntil,
		Pinned:    !a.PinnedAt.IsZero(),
	}
}

// PublishedRevision is a published revision with its URLs. They are signed for every answer and never stored.
type PublishedRevision struct {
	Artifact   id.Artifact
	Revision   id.Revision
	Title      string
	ExpiresAt  time.Time // of the artifact
	Bundle     Availability
	ContentURL string  // of the entrypoint
	ViewURL    string  // of the agent view
	PrivateURL string  // for members; empty if ShareURL is set
	ShareURL   string  // of the share link, in an unclaimed workspace
	Closed     *Closed // nil: no thread was to be addressed
}

// Publish makes a draft the newest revision. It returns a revision that is already published again, without effect.
func (s *Service) Publish(ctx context.Context, by credential.Actor, t Target) (PublishedRevision, error) {
	now := s.Now()
	t.forgetAnother(now)
	result, err := idempotency.Do(t.Command, t.Record, now, func() (publicationResult, error) {
		return s.publish(ctx, by, t, now)
	})
	if err != nil {
		return PublishedRevision{}, err
	}
	return s.sign(by, t, result)
}

// PublishNamed is Publish for a caller that has read neither the artifact nor the revision.
func (s *Service) PublishNamed(
	ctx context.Context, by credential.Actor, c idempotency.Command, a id.Artifact, r id.Revision,
) (PublishedRevision, error) {
	t := Target{Command: c, RequestedID: a}
	var err error
	if t.Artifact, t.Revision, err = s.draft(ctx, by, a, r); err != nil {
		return PublishedRevision{}, err
	}
	return s.Publish(ctx, by, t)
}

// forgetAnother drops a record that published the revision under another artifact than the requested one. Its result
// must not be replayed, because the requested artifact has no such revision.
func (t *Target) forgetAnother(now time.Time) {
	if !t.Record.Finished(now) {
		return
	}
	first, err := idempotency.First[publicationResult](t.Record, t.Command)
	if err == nil && first.Artifact != t.RequestedID {
		t.Record = nil
	}
}

// publish publishes a draft with the state that was read with the request. It reads the state again after each lost
// race.
func (s *Service) publish(
	ctx context.Context, by credential.Actor, t Target, now time.Time,
) (publicationResult, error) {
	lost := false
	return conflict.Retry(Races, func() (publicationResult, error) {
		var err error
		if lost {
			t.Artifact, t.Revision, err = s.draft(ctx, by, t.Artifact.ID, t.Revision.ID)
		}
		if lost = true; err != nil {
			return publicationResult{}, err
		}
		return s.tryPublish(ctx, by, t, now)
	})
}

// tryPublish checks an artifact and a revision as they were read, and commits the publication.
func (s *Service) tryPublish(
	ctx context.Context, by credential.Actor, t Target, now time.Time,
) (publicationResult, error) {
	a, r := t.Artifact, t.Revision
	if err := publishable(by, a, r, now); err != nil {
		return publicationResult{}, err
	}
	if r.Status == Published {
		result := resultOf(a, r)
		if t.Addresses != nil {
			result.Closed = skipAll(t.Addresses, NoNewRevision)
		}
		return result, nil
	}
	if err := s.checkDraft(ctx, by, a, r); err != nil {
		return publicationResult{}, err
	}
	p, result := s.publication(by, t, now)
	if t.Addresses != nil {
		return s.commitClosing(ctx, by, p, result, t.Addresses)
	}
	return result, s.commit(ctx, by, p)
}

// draft reads one revision of an artifact, and the artifact as the caller's workspace has it.
func (s *Service) draft(
	ctx context.Context, by credential.Actor, a id.Artifact, r id.Revision,
) (*Artifact, *Revision, error) {
	read, revision, err := s.Store.Draft(ctx, a, r)
	if err == nil {
		read, err = Follow(ctx, s.Store, by.Workspace, read)
	}
	return read, revision, err
}

// publishable checks that an artifact and one of its revisions, a draft or not, can be published.
func publishable(by credential.Actor, a *Artifact, r *Revision, now time.Time) error {
	switch {
	case !a.Readable(now) || a.Owner != by.Workspace.ID:
		return NotFound()
	case r == nil || r.Artifact != a.ID || r.Status == Retained && r.Number == 0: // missing, or a discarded draft
		return fault.New(fault.RevisionUnpublished,
			"no such revision of this artifact, or nobody published it in time; finalize an upload session first")
	case r.Status == Retained:
		return fault.New(fault.RevisionRetained, "the bytes of this revision are gone; publish a newer one")
	}
	return nil
}

// checkDraft checks what a draft needs beyond publishable.
func (s *Service) checkDraft(ctx context.Context, by credential.Actor, a *Artifact, r *Revision) error {
	switch {
	case !r.EntrypointExists:
		return fault.New(fault.EntrypointNotInRevision,
			"the entrypoint %q is not among the files of the revision", r.Entrypoint)
	case a.Number >= by.Policy.Revisions:
		return fault.New(fault.RevisionCeilingExceeded,
			"an artifact holds at most %d published revisions; publish a new artifact", by.Policy.Revisions)
	case a.Draft != r.ID:
		return fault.New(fault.DraftRevisionConflict,
			"another draft has taken the place of this revision; finalize a new session")
	}
	return s.checkCaps(ctx, by.Policy, r)
}

// checkCaps compares a draft with the caps of a tier, which may be smaller than when the draft was made. It reads the
// files only if one of them may be too large.
func (s *Service) checkCaps(ctx context.Context, p limits.Policy, r *Revision) error {
	switch {
	case r.FileCount > p.FileCount:
		return fault.New(fault.FileCountCapExceeded, "a revision holds at most %d files here, not %d", p.FileCount, r.FileCount)
	case r.Size > p.ArtifactSize:
		return fault.New(fault.RevisionSizeCapExceeded,
			"the files have %d bytes together; at most %d are allowed here", r.Size, p.ArtifactSize)
	case r.Size <= p.FileSize:
		return nil
	}
	contents, err := s.Store.Contents(ctx, r.Artifact, r.ID)
	if err != nil || contents == nil {
		return err
	}
	for _, f := range contents.Tree {
		if f.Size > p.FileSize {
			return fault.New(fault.FileSizeCapExceeded,
				"file %q has %d bytes; at most %d are allowed here", f.Path, f.Size, p.FileSize)
		}
	}
	return nil
}

// publication returns the change that publishes a draft, and its stored result.
func (s *Service) publication(by credential.Actor, t Target, now time.Time) (Publication, publicationResult) {
	a, r := t.Artifact, *t.Revision
	result := resultOf(a, &r)
	pub := Publication{
		Command:     t.Command,
		Workspace:   by.Workspace.ID,
		ClaimedFrom: a.ClaimedFrom,
		Artifact:    a.ID,
		Revision:    r,
		Number:      a.Number + 1,
		First:       a.Number == 0 && !s.Limits.Off,
		Allowance:   by.Policy.NewArtifactsPerDay,
		ExpiresAt:   a.ExpiresAt,
		Pinned:      !a.PinnedAt.IsZero(),
		Bundle:      s.newBundle() == BundlePending,
		At:          now,
		Event:       publishedEvent(by, now, a.ID, r.ID, a.Number+1, r.Title),
	}
	if by.Workspace.Tier() == limits.Ephemeral {
		if end := limits.End(now, by.Policy.DefaultLife); a.Number == 0 || end.After(a.ExpiresAt) {
			pub.ExpiresAt = end // never earlier than that of a revision before
		}
		pub.Renews = true
		result.ExpiresAt = pub.ExpiresAt
		if a.Shared(now) == "" {
			pub.Share = newShare(a, now)
			result.Share, result.ShareEnds = pub.Share.Public, time.Time{}
		}
	}
	pub.Result = idempotency.Encode(result)
	return pub, result
}

// newShare returns a new share link of an artifact.
func newShare(a *Artifact, now time.Time) *Share {
	l := id.NewLink()
	public, _ := l.Public() // fails only for a malformed id
	return &Share{
		ID:       l,
		Public:   public,
		At:       a.NextLink(now),
		Replaces: a.ShareLink,
	}
}

// commit commits a publication. If the allowance of the day is spent, its error tells when the next day starts.
func (s *Service) commit(ctx context.Context, by credential.Actor, p Publication) error {
	err := s.Store.Publish(ctx, p)
	if fault.CodeOf(err) == fault.WriteAllowanceExceeded {
		return AllowanceSpent(p.At, "this workspace may publish %d new artifacts a day", by.Policy.NewArtifactsPerDay)
	}
	return err
}

// publishedEvent returns the event of a publication or restoration.
func publishedEvent(
	by credential.Actor, now time.Time, a id.Artifact, r id.Revision, number int, title string,
) event.Event {
	e := by.Record(now, event.ArtifactPublished, event.OnRevision, string(r), title)
	e.Artifact, e.Number = a, number
	return e
}

// sign returns the answer of a publication. Bundle is reported as it was when the request was read, or as pending if
// this request published the revision.
func (s *Service) sign(by credential.Actor, t Target, r publicationResult) (PublishedRevision, error) {
	now := s.Now()
	claims := token.Claims{
		Workspace: by.Workspace.ID,
		Artifact:  r.Artifact,
		Revision:  r.Revision,
		NoIndex:   by.Policy.NoIndex,
		Scripts:   by.Policy.Scripts.Run(false),
		Expires:   token.Until(now, r.ExpiresAt, r.Pinned),
	}
	content, err1 := s.URLs.Content(claims)
	view, err2 := s.URLs.AgentView(claims)
	bundle, err3 := s.newest(t, r, now).Availability(s.URLs, s.Limits, claims, now)
	p := PublishedRevision{
		Artifact:   r.Artifact,
		Revision:   r.Revision,
		Title:      r.Title,
		ExpiresAt:  r.ExpiresAt,
		Bundle:     bundle,
		ContentURL: content + address.Escape(r.Entry),
		ViewURL:    view,
		Closed:     r.Closed,
	}
	// An ephemeral publication has no share link if the link was ended and no revision was published since.
	if by.Workspace.Tier() != limits.Ephemeral || r.Share == "" {
		p.PrivateURL = s.URLs.Private(r.Artifact)
		return p, errors.Join(err1, err2, err3)
	}
	var err4 error
	p.ShareURL, err4 = s.URLs.Link(r.Share, by.Workspace.ID, r.Artifact, r.ShareEnds)
	return p, errors.Join(err1, err2, err3, err4)
}

// newest returns the published revision, with the fields that Availability needs.
func (s *Service) newest(t Target, r publicationResult, now time.Time) Revision {
	if t.Revision != nil && t.Revision.ID == r.Revision && t.Revision.Status == Published {
		return *t.Revision
	}
	return Revision{ID: r.Revision, PublishedAt: now, Bundle: Bundle{Status: s.newBundle()}}
}

// newBundle returns the bundle status of a revision that is published now.
func (s *Service) newBundle() BundleStatus {
	if s.Limits.Bundles == 0 {
		return NoBundle
	}
	return BundlePending
}

// AllowanceSpent returns the refusal of a workspace whose allowance of the UTC day is spent. format tells the
// allowance.
func AllowanceSpent(now time.Time, format string, args ...any) error {
	tomorrow := now.UTC().Truncate(limits.Day).Add(limits.Day)
	format += "; the next day starts at 00:00 UTC"
	return fault.New(fault.WriteAllowanceExceeded, format, args...).After(tomorrow.Sub(now))
}
