package sharing

import (
	"context"
	"encoding/json"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Create makes a link of an artifact that has a published revision. An artifact has one share link at most: while there
// is one that works it is the answer, as it is, with its own end, unless that is later than the one that is asked for. Links
// to one revision are new each time.
func (s *Service) Create(
	ctx context.Context, by credential.Actor, t Target, r contract.CreateLink,
) (contract.CreatedLink, error) {
	now := s.Now()
	return idempotency.Do(t.Command, t.Record, now, func() (contract.CreatedLink, error) {
		if err := check(r, now); err != nil {
			return contract.CreatedLink{}, err
		}
		wanted := link.Link{Kind: link.Kind(r.Type), Revision: r.RevisionID}
		if r.ExpiresAt != nil {
			wanted.ExpiresAt = r.ExpiresAt.UTC().Truncate(time.Millisecond)
		}
		_, l, err := s.link(ctx, by, t, &t.Command, wanted, now)
		return created(l), err
	})
}

// check judges a request by itself.
func check(r contract.CreateLink, now time.Time) error {
	refuse := func(why string) error { return fault.New(fault.InvalidRequest, "%s", why) }
	switch {
	case r.Type != string(link.Share) && r.Type != string(link.Revision):
		return refuse("type must be share or revision")
	case r.Type == string(link.Share) && r.RevisionID != "":
		return refuse("a share link follows the newest revision: leave revision_id out, or make a link of type revision")
	case r.Type == string(link.Revision) && r.RevisionID == "":
		return refuse("a link of type revision needs revision_id")
	case r.ExpiresAt != nil && !r.ExpiresAt.After(now):
		return refuse("expires_at must be in the future")
	}
	return nil
}

// link answers with a link of the artifact that is wanted, and the artifact as it is then. A command is finished by it,
// with or without a change; nil: there is none.
func (s *Service) link(
	ctx context.Context, by credential.Actor, t Target, command *idempotency.Command, wanted link.Link, now time.Time,
) (a *artifact.Artifact, l link.Link, err error) {
	err = s.settle(ctx, by, t, func(found *artifact.Artifact) error {
		a = found
		if err := linkable(a, now); err != nil {
			return err
		}
		c := Creation{Command: command, From: a.ClaimedFrom, At: now}
		if wanted.Kind == link.Share && a.ShareLink != "" {
			shared, err := s.shared(ctx, a, now)
			if err != nil {
				return err
			}
			if shared != nil {
				l = *shared
				if err := outlives(l, wanted.ExpiresAt); err != nil {
					return err
				}
				return s.keep(ctx, by, c, l)
			}
			c.Replaces = a.ShareLink
		}
		l = fresh(by, a, wanted, now)
		return s.create(ctx, by, c, l)
	})
	return a, l, err
}

// linkable refuses artifacts that nothing can be linked to.
func linkable(a *artifact.Artifact, now time.Time) error {
	switch {
	case !a.Readable(now) || a.Current == "":
		return fault.New(fault.ArtifactNotFound, "no such artifact in this workspace, or it is not published, deleted or expired")
	case !a.LinksLockedAt.IsZero():
		return locked()
	}
	return nil
}

// shared is the share link of an artifact if it works, else nil.
func (s *Service) shared(ctx context.Context, a *artifact.Artifact, now time.Time) (*link.Link, error) {
	if a.Shared(now) == "" {
		return nil, nil
	}
	l, err := s.Store.Link(ctx, a.ShareLink)
	if err != nil || !l.Opens(a.ID, now) || !a.LinksOpen(l.CreatedAt) {
		return nil, err
	}
	return l, nil
}

// outlives refuses a share link that would be open longer than somebody asked for; end is zero for whatever there is.
func outlives(l link.Link, end time.Time) error {
	if end.IsZero() || !l.ExpiresAt.IsZero() && !l.ExpiresAt.After(end) {
		return nil
	}
	until := "does not end"
	if !l.ExpiresAt.IsZero() {
		until = "ends on " + l.ExpiresAt.Format(time.RFC3339)
	}
	return fault.New(fault.InvalidRequest, "the artifact has the share link %s, which %s: ask without an end to use it as it is, or revoke it first", l.ID, until)
}

func fresh(by credential.Actor, a *artifact.Artifact, wanted link.Link, now time.Time) link.Link {
	l := wanted
	l.ID = id.NewLink()
	l.Public, _ = l.ID.Public() // it has just been made
	l.Workspace = by.Workspace.ID
	l.Artifact = a.ID
	l.CreatedAt = a.NextLink(now)
	return l
}

func (s *Service) create(ctx context.Context, by credential.Actor, c Creation, l link.Link) error {
	if l.Kind == link.Revision {
		if _, err := l.Revision.Bits(); err != nil {
			return NoRevision()
		}
	}
	detail := "to the newest revision of " + string(l.Artifact)
	if l.Kind == link.Revision {
		detail = "to revision " + string(l.Revision) + " of " + string(l.Artifact)
	}
	c.Link, c.Result = l, result(l)
	c.Event = by.Record(c.At, event.LinkCreated, event.OnLink, string(l.ID), detail)
	return s.Changes.CreateLink(ctx, c)
}

// keep finishes a command that a link answers which was there before.
func (s *Service) keep(ctx context.Context, by credential.Actor, c Creation, l link.Link) error {
	if c.Command == nil {
		return nil
	}
	c.Link, c.Result = l, result(l)
	c.Link.Workspace = by.Workspace.ID
	return s.Changes.RecordNoop(ctx, c)
}

func result(l link.Link) []byte {
	out, _ := json.Marshal(created(l))
	return out
}

func created(l link.Link) contract.CreatedLink {
	return contract.CreatedLink{
		ID:         l.ID,
		Type:       string(l.Kind),
		ArtifactID: l.Artifact,
		RevisionID: revisionOf(l),
		CreatedAt:  contract.At(l.CreatedAt),
	}
}

func revisionOf(l link.Link) *id.Revision {
	if l.Revision == "" {
		return nil
	}
	return &l.Revision
}
