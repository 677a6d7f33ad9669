package sharing

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Revoke ends a link for good, and with it every content URL minted through it. A link that was revoked before keeps
// the time of its first revocation.
func (s *Service) Revoke(ctx context.Context, by credential.Actor, named id.Link) (contract.RevokedLink, error) {
	l, err := s.find(ctx, by, named)
	if err != nil {
		return contract.RevokedLink{}, err
	}
	at := l.RevokedAt
	if at.IsZero() {
		now := s.Now()
		at, err = s.Changes.Revoke(ctx, Revocation{
			Link:  *l,
			At:    now,
			Event: by.Record(now, event.LinkRevoked, event.OnLink, string(l.ID), "of "+string(l.Artifact)),
		})
	}
	if err == nil && at.IsZero() {
		err = NotFound()
	}
	return contract.RevokedLink{AccessLinkID: named, RevokedAt: contract.At(at)}, err
}

// The values of visibility.
const (
	Private  = "private"
	Unlisted = "unlisted"
)

// SetVisibility makes an artifact unlisted or private. Unlisted returns a fresh URL of its share link. Private ends
// every link of the artifact at once, revision links included, and the public views of its published revisions.
func (s *Service) SetVisibility(
	ctx context.Context, by credential.Actor, t Target, word string,
) (contract.Visibility, error) {
	switch word {
	case Unlisted:
		return s.makeUnlisted(ctx, by, t)
	case Private:
		return s.makePrivate(ctx, by, t)
	}
	return contract.Visibility{}, fault.New(fault.InvalidRequest, "visibility must be private or unlisted")
}

// makeUnlisted returns the share link of an artifact, which it creates if there is none, and a fresh URL of it.
func (s *Service) makeUnlisted(ctx context.Context, by credential.Actor, t Target) (contract.Visibility, error) {
	a, l, err := s.findOrCreate(ctx, by, t, nil, link.Link{Kind: link.Share}, s.Now())
	if err != nil {
		return contract.Visibility{}, err
	}
	out := contract.Visibility{ArtifactID: a.ID, Visibility: Unlisted, AccessLinkID: l.ID}
	out.UnlistedURL, _, err = s.url(a, &l)
	return out, err
}

// makePrivate ends all links and public views. The answer names the links that the list shows; links that the list
// lacks end too, because the end is recorded on the artifact.
func (s *Service) makePrivate(ctx context.Context, by credential.Actor, t Target) (contract.Visibility, error) {
	now := s.Now()
	ended := []id.Link{}
	err := s.retry(ctx, by, t, func(a *artifact.Artifact) error {
		if !a.Active(now) {
			return artifact.NotFound()
		}
		if !a.Linked() && a.Number <= a.ViewsRevokedBefore {
			return nil // no link was created and no revision published since the last closing
		}
		links, _, err := s.Store.List(ctx, s.query(by, a.ID, "", limits.LinksListed))
		if err != nil {
			return err
		}
		ended = ended[:0]
		for _, l := range links {
			if isOpen(l, a, now) {
				ended = append(ended, l.ID)
			}
		}
		return s.Changes.RevokeAll(ctx, Closing{
			Artifact: *a,
			At:       a.NextLink(now),
			Event:    by.Record(now, event.VisibilityUpdated, event.OnArtifact, string(a.ID), Private),
		})
	})
	if err != nil {
		return contract.Visibility{}, err
	}
	return contract.Visibility{
		ArtifactID:           t.RequestedID,
		Visibility:           Private,
		PrivateURL:           s.Addresses.Private(t.RequestedID),
		RevokedAccessLinkIDs: &ended,
	}, nil
}

// Lock keeps all links of an artifact from opening it until Unlock. Locking twice is no error.
func (s *Service) Lock(ctx context.Context, by credential.Actor, t Target) (contract.WebArtifact, error) {
	return s.lock(ctx, by, t, false)
}

// Unlock lets the links of an artifact open it again, except those that ended.
func (s *Service) Unlock(ctx context.Context, by credential.Actor, t Target) (contract.WebArtifact, error) {
	return s.lock(ctx, by, t, true)
}

// lock locks all links of an artifact, or unlocks them if lift is set. Admins only.
func (s *Service) lock(ctx context.Context, by credential.Actor, t Target, lift bool) (contract.WebArtifact, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.WebArtifact{}, err
	}
	action := event.LinksLocked
	if lift {
		action = event.LinksUnlocked
	}
	now := s.Now()
	return idempotency.DoWith(t.Command, t.Record, now, func() (contract.WebArtifact, error) {
		err := s.retry(ctx, by, t, func(a *artifact.Artifact) error {
			if a.Status != artifact.Live {
				return artifact.NotFound()
			}
			return s.Changes.Lock(ctx, Lock{
				Command:  t.Command,
				Result:   []byte("{}"),
				Artifact: *a,
				Lift:     lift,
				Noop:     a.LinksLockedAt.IsZero() == lift,
				At:       now,
				Event:    by.Record(now, action, event.OnArtifact, string(a.ID), a.Title),
			})
		})
		if err != nil {
			return contract.WebArtifact{}, err
		}
		return s.detail(ctx, by, t.RequestedID, lift)
	}, func(struct{}) (contract.WebArtifact, error) { return s.detail(ctx, by, t.RequestedID, lift) })
}

// detail returns the artifact as it is now, but with its links shown as locked, or unlocked if lift is set.
func (s *Service) detail(
	ctx context.Context, by credential.Actor, named id.Artifact, lift bool,
) (contract.WebArtifact, error) {
	out, err := s.Details.Detail(ctx, by, named)
	out.Lockdown = !lift
	return out, err
}
