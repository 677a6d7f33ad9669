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

// Revoke ends a link for good, and with it every content URL that was had through it. One that was ended before keeps
// its time.
func (s *Service) Revoke(ctx context.Context, by credential.Actor, named id.Link) (contract.RevokedLink, error) {
	l, err := s.find(ctx, by, named)
	if err != nil {
		return contract.RevokedLink{}, err
	}
	at := l.RevokedAt
	if at.IsZero() {
		now := s.Now()
		at, err = s.Changes.RevokeLink(ctx, Revocation{
			Link: *l, At: now, Event: by.Record(now, event.LinkRevoked, event.OnLink, string(l.ID), "of "+string(l.Artifact)),
		})
	}
	if err == nil && at.IsZero() {
		err = NotFound()
	}
	return contract.RevokedLink{AccessLinkID: named, RevokedAt: contract.At(at)}, err
}

// The words of visibility.
const (
	Private  = "private"
	Unlisted = "unlisted"
)

// SetVisibility makes an artifact reachable by a share link, whose fresh URL it answers, or by no link at all. The latter
// ends every link of the artifact at once, those to one revision too, and the public views of what was published.
func (s *Service) SetVisibility(ctx context.Context, by credential.Actor, t Target, word string) (contract.Visibility, error) {
	switch word {
	case Unlisted:
		return s.publicise(ctx, by, t)
	case Private:
		return s.close(ctx, by, t)
	}
	return contract.Visibility{}, fault.New(fault.InvalidRequest, "visibility must be private or unlisted")
}

func (s *Service) publicise(ctx context.Context, by credential.Actor, t Target) (contract.Visibility, error) {
	a, l, err := s.link(ctx, by, t, nil, link.Link{Kind: link.Share}, s.Now())
	if err != nil {
		return contract.Visibility{}, err
	}
	out := contract.Visibility{ArtifactID: a.ID, Visibility: Unlisted, AccessLinkID: l.ID}
	out.UnlistedURL, _, err = s.url(a, &l)
	return out, err
}

// close ends all links and public views. The links that it names are the ones that the index shows; all others end too.
func (s *Service) close(ctx context.Context, by credential.Actor, t Target) (contract.Visibility, error) {
	now := s.Now()
	ended := []id.Link{}
	err := s.settle(ctx, by, t, func(a *artifact.Artifact) error {
		if !a.Active(now) {
			return artifact.NotFound()
		}
		if !a.Linked() && a.Number <= a.ViewsRevokedBefore {
			return nil // nothing was made or published since
		}
		links, _, err := s.Store.Links(ctx, s.query(by, a.ID, "", limits.LinksListed))
		if err != nil {
			return err
		}
		ended = ended[:0]
		for _, l := range links {
			if opens(l, a, now) {
				ended = append(ended, l.ID)
			}
		}
		return s.Changes.CloseLinks(ctx, Closing{
			Artifact: *a, At: a.NextLink(now), Event: by.Record(now, event.VisibilityUpdated, event.OnArtifact, string(a.ID), Private),
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

// Lock keeps all links of an artifact from opening it, until Unlock. What is locked stays locked.
func (s *Service) Lock(ctx context.Context, by credential.Actor, t Target) (contract.WebArtifact, error) {
	return s.lock(ctx, by, t, false)
}

// Unlock lets the links of an artifact open it again, those that were not ended.
func (s *Service) Unlock(ctx context.Context, by credential.Actor, t Target) (contract.WebArtifact, error) {
	return s.lock(ctx, by, t, true)
}

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
		err := s.settle(ctx, by, t, func(a *artifact.Artifact) error {
			if a.Status != artifact.Live {
				return artifact.NotFound()
			}
			return s.Changes.LockLinks(ctx, Lock{
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

// detail is the artifact as it is now, but with its links locked, or not, as the command left them.
func (s *Service) detail(
	ctx context.Context, by credential.Actor, named id.Artifact, lift bool,
) (contract.WebArtifact, error) {
	out, err := s.Details.Detail(ctx, by, named)
	out.Lockdown = !lift
	return out, err
}
