package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/token"
)

// Publications is what Publisher needs of the store.
type Publications interface {
	// Publish commits p as one transaction that holds only while the artifact is live, unlocked, pinned as p.Pinned says,
	// still in p.Workspace or p.From, carries the draft and has the number before, the revision is a draft, the workspace
	// is open, and the allowance of the day, if counted, has room. Errors: *idempotency.AlreadyDone, ErrMoved,
	// artifact_not_found, write_allowance_exceeded (without Retry-After), not_authenticated (the workspace closed),
	// database_unavailable.
	Publish(ctx context.Context, p Publication) error
	// Draft reads an artifact and one of its revisions strongly; nil for what does not exist.
	Draft(ctx context.Context, a id.Artifact, r id.Revision) (*Artifact, *Revision, error)
	Workspaces
}

// ErrMoved says that the artifact or the revision changed since it was read: read again and decide anew.
var ErrMoved = errors.New("the artifact changed meanwhile")

// maxAttempts is how often a publication is decided anew.
const maxAttempts = 4

// Publication is everything that publishing changes.
type Publication struct {
	Command     idempotency.Command
	Result      []byte // what a repetition answers from
	Workspace   id.Workspace
	ClaimedFrom id.Workspace // where a claim takes the artifact from by this commit; empty: it is in Workspace already
	Artifact    id.Artifact
	Revision    Revision
	Number      int  // the revision's, one more than the artifact has
	First       bool // counts against the day's allowance
	Allowance   int
	ExpiresAt   time.Time // of the artifact from now on
	Renews      bool      // ExpiresAt is new
	Pinned      bool      // nothing falls due of the artifact, whatever ExpiresAt says
	Republish   bool      // the revision is of files that the artifact has, and is no draft: no draft may be there
	Share       *Share    // made in the same transaction; nil: none
	At          time.Time
	Event       event.Event
}

// Share is a new share link of the artifact.
type Share struct {
	ID       id.Link
	Public   id.Public
	At       time.Time // Artifact.NextLink: the commit holds only while that is so
	Replaces id.Public // a share link that has ended by itself; empty: there is none
}

// Publisher publishes drafts.
type Publisher struct {
	Store     Publications
	Addresses *address.URLBuilder
	Limits    *limits.Limits
	Now       func() time.Time
}

// Target is what a request names, as the store had it when the request was authenticated. Revision is for publishing; where
// a service reads the artifact itself, Named is enough.
type Target struct {
	Command     idempotency.Command
	Record      *idempotency.Record // finished or not; nil: none
	RequestedID id.Artifact         // in the request, whether there is one or not
	Artifact    *Artifact
	Revision    *Revision
}

// published is the stored result: enough to answer a repetition with fresh URLs.
type published struct {
	Artifact  id.Artifact `json:"a"`
	Revision  id.Revision `json:"r"`
	Title     string      `json:"t"`
	Entry     string      `json:"e"`
	ExpiresAt time.Time   `json:"x"`
	Share     id.Public   `json:"s,omitempty"`
	Pinned    bool        `json:"p,omitempty"`
}

func resultOf(a *Artifact, r *Revision) published {
	return published{a.ID, r.ID, r.Title, r.Entrypoint, a.ExpiresAt, a.ShareLink, !a.PinnedAt.IsZero()}
}

// Publish makes a draft the newest revision; a revision that is published already is answered again without effect.
func (p *Publisher) Publish(ctx context.Context, by credential.Actor, t Target) (contract.Published, error) {
	now := p.Now()
	if t.Record.Finished(now) {
		first, err := p.replay(by, t.Record, t.Command)
		if err != nil || first.ArtifactID == t.RequestedID {
			return first, err
		}
	} // of a revision under another artifact nothing is replayed: what is named does not exist
	for range maxAttempts {
		result, err := p.try(ctx, by, t, now)
		finished, err := idempotency.Lost(err, now)
		switch {
		case finished != nil:
			return p.replay(by, finished, t.Command)
		case err == nil:
			return p.answer(by, result)
		case !errors.Is(err, ErrMoved):
			return contract.Published{}, err
		}
		if t.Artifact, t.Revision, err = p.Store.Draft(ctx, t.Artifact.ID, t.Revision.ID); err != nil {
			return contract.Published{}, err
		}
		if t.Artifact, err = Follow(ctx, p.Store, by.Workspace, t.Artifact); err != nil {
			return contract.Published{}, err
		}
	}
	return contract.Published{}, Contended()
}

// try decides on the state as it was read, and commits.
func (p *Publisher) try(ctx context.Context, by credential.Actor, t Target, now time.Time) (published, error) {
	a, r := t.Artifact, t.Revision
	if err := publishable(by, a, r, now); err != nil {
		return published{}, err
	}
	if r.Status == Published {
		return resultOf(a, r), nil
	}
	if err := p.draft(by, a, r); err != nil {
		return published{}, err
	}
	pub, result := p.plan(by, t, now)
	err := p.Store.Publish(ctx, pub)
	if fault.CodeOf(err) == fault.WriteAllowanceExceeded {
		err = AllowanceSpent(now, "this workspace may publish %d new artifacts a day", by.Policy.NewArtifactsPerDay)
	}
	return result, err
}

// publishable checks what does not depend on the revision being a draft.
func publishable(by credential.Actor, a *Artifact, r *Revision, now time.Time) error {
	switch {
	case !a.Readable(now) || a.Owner != by.Workspace.ID:
		return NotFound()
	case r == nil || r.Artifact != a.ID || r.Status == Retained && r.Number == 0: // a draft that was discarded is none
		return fault.New(fault.RevisionUnpublished, "no such revision of this artifact, or nobody published it in time; finalize an upload session first")
	case r.Status == Retained:
		return fault.New(fault.RevisionRetained, "the bytes of this revision are gone; publish a newer one")
	}
	return nil
}

func (p *Publisher) draft(by credential.Actor, a *Artifact, r *Revision) error {
	switch {
	case !r.EntrypointExists:
		return fault.New(fault.EntrypointNotInRevision, "the entrypoint %q is not among the files of the revision", r.Entrypoint)
	case a.Number >= by.Policy.Revisions:
		return fault.New(fault.RevisionCeilingExceeded, "an artifact holds at most %d published revisions; publish a new artifact", by.Policy.Revisions)
	case a.Draft != r.ID:
		return fault.New(fault.DraftRevisionConflict, "another draft has taken the place of this revision; finalize a new session")
	}
	return nil
}

func (p *Publisher) plan(by credential.Actor, t Target, now time.Time) (Publication, published) {
	a, r := t.Artifact, *t.Revision
	result := resultOf(a, &r)
	pub := Publication{
		Command:     t.Command,
		Workspace:   by.Workspace.ID,
		ClaimedFrom: a.ClaimedFrom,
		Artifact:    a.ID,
		Revision:    r,
		Number:      a.Number + 1,
		First:       a.Number == 0 && !p.Limits.Off,
		Allowance:   by.Policy.NewArtifactsPerDay,
		ExpiresAt:   a.ExpiresAt,
		Pinned:      !a.PinnedAt.IsZero(),
		At:          now,
		Event:       by.Record(now, event.ArtifactPublished, event.OnRevision, string(r.ID), r.Title),
	}
	if by.Workspace.Tier() == limits.Ephemeral {
		pub.ExpiresAt, pub.Renews = now.Add(limits.EphemeralArtifact), true
		result.ExpiresAt = pub.ExpiresAt
		if a.Shared(now) == "" {
			pub.Share = newShare(a, now)
			result.Share = pub.Share.Public
		}
	}
	pub.Result, _ = json.Marshal(result)
	return pub, result
}

// newShare is a link that the publication makes.
func newShare(a *Artifact, now time.Time) *Share {
	l := id.NewLink()
	public, _ := l.Public() // it has just been made
	return &Share{
		ID:       l,
		Public:   public,
		At:       a.NextLink(now),
		Replaces: a.ShareLink,
	}
}

func (p *Publisher) replay(by credential.Actor, record *idempotency.Record, c idempotency.Command) (contract.Published, error) {
	var result published
	if err := record.Replay(c, &result); err != nil {
		return contract.Published{}, err
	}
	return p.answer(by, result)
}

// answer signs the URLs of a publication; they are never stored.
func (p *Publisher) answer(by credential.Actor, r published) (contract.Published, error) {
	now := p.Now()
	claims := token.Claims{
		Workspace: by.Workspace.ID,
		Artifact:  r.Artifact,
		Revision:  r.Revision,
		NoIndex:   by.Policy.NoIndex,
		Scripts:   by.Policy.Scripts,
		Expires:   token.Until(now, r.ExpiresAt, r.Pinned),
	}
	content, err1 := p.Addresses.Content(claims)
	view, err2 := p.Addresses.AgentView(claims)
	out := contract.Published{
		ArtifactID:         r.Artifact,
		RevisionID:         r.Revision,
		Title:              r.Title,
		RevisionContentURL: content + address.Escape(r.Entry),
		AgentViewURL:       view,
		ExpiresAt:          contract.At(r.ExpiresAt),
		Bundle:             contract.Bundle{Status: "disabled"},
	}
	if by.Workspace.Tier() != limits.Ephemeral || r.Share == "" { // its share link was ended, and nothing new was published
		out.PrivateURL = p.Addresses.Private(r.Artifact)
		return out, errors.Join(err1, err2)
	}
	var err3 error
	out.UnlistedURL, err3 = p.Addresses.Link(r.Share, by.Workspace.ID, r.Artifact, now.Add(limits.LinkURLLife))
	if by.Key.FromAgent {
		out.URL = out.UnlistedURL
	}
	return out, errors.Join(err1, err2, err3)
}

// AllowanceSpent refuses what a workspace may not do any more on this UTC day; what it may is said first.
func AllowanceSpent(now time.Time, format string, args ...any) error {
	tomorrow := now.UTC().Truncate(limits.Day).Add(limits.Day)
	format += "; the next day starts at 00:00 UTC"
	return fault.New(fault.WriteAllowanceExceeded, format, args...).After(tomorrow.Sub(now))
}
