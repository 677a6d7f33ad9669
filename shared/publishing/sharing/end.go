package sharing

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Revoke ends a link for good, and with it every content URL minted through it. It returns when the link was first
// revoked.
func (s *Service) Revoke(ctx context.Context, by credential.Actor, named id.Link) (time.Time, error) {
	l, err := s.find(ctx, by, named)
	if err != nil {
		return time.Time{}, err
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
	return at, err
}

// The values of visibility.
const (
	Private  = "private"
	Unlisted = "unlisted"
)

// Visibility is the result of SetVisibility.
type Visibility struct {
	Artifact id.Artifact
	Is       string    // Private or Unlisted
	Link     id.Link   // of an unlisted artifact: its share link
	URL      string    // of that link, or of the page for members
	Ended    []id.Link // of a private artifact; never nil then
}

// SetVisibility makes an artifact unlisted or private. Unlisted returns the URL of its share link. Private ends
// every link of the artifact at once, revision links included, and the public views of its published revisions.
func (s *Service) SetVisibility(
	ctx context.Context, by credential.Actor, t Target, word string,
) (Visibility, error) {
	switch word {
	case Unlisted:
		return s.makeUnlisted(ctx, by, t)
	case Private:
		return s.makePrivate(ctx, by, t)
	}
	return Visibility{}, fault.New(fault.InvalidRequest, "visibility must be private or unlisted")
}

// makeUnlisted returns the share link of an artifact with its URL. It creates the link if there is none.
func (s *Service) makeUnlisted(ctx context.Context, by credential.Actor, t Target) (Visibility, error) {
	a, l, err := s.findOrCreate(ctx, by, t, nil, Request{Kind: link.Share}, s.Now())
	if err != nil {
		return Visibility{}, err
	}
	out := Visibility{Artifact: a.ID, Is: Unlisted, Link: l.ID}
	out.URL, err = s.url(a, &l)
	return out, err
}

// makePrivate ends all links and public views. It returns the ended links that the list shows. Links that the list
// lacks end too, because the end is recorded on the artifact.
func (s *Service) makePrivate(ctx context.Context, by credential.Actor, t Target) (Visibility, error) {
	now := s.Now()
	ended := []id.Link{}
	err := s.retry(ctx, by, t, func(a *artifact.Artifact) error {
		if !a.Active(now) {
			return artifact.NotFound()
		}
		if !a.Linked() && a.Number <= a.ViewsRevokedBefore {
			return nil // already private: no link was created and no revision published since the last closing
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
		return Visibility{}, err
	}
	return Visibility{
		Artifact: t.RequestedID,
		Is:       Private,
		URL:      s.Addresses.Private(t.RequestedID),
		Ended:    ended,
	}, nil
}

// Lock keeps all links of an artifact from opening it until Unlock. Locking twice is no error.
func (s *Service) Lock(ctx context.Context, by credential.Actor, t Target) error {
	return s.lock(ctx, by, t, false)
}

// Unlock lets the links of an artifact open it again, except those that ended.
func (s *Service) Unlock(ctx context.Context, by credential.Actor, t Target) error {
	return s.lock(ctx, by, t, true)
}

// lock locks all links of an artifact, or unlocks them if lift is set. Admins only.
func (s *Service) lock(ctx context.Context, by credential.Actor, t Target, lift bool) error {
	if err := by.Require(credential.Admin); err != nil {
		return err
	}
	action := event.LinksLocked
	if lift {
		action = event.LinksUnlocked
	}
	now := s.Now()
	_, err := idempotency.Do(t.Command, t.Record, now, func() (done struct{}, _ error) {
		return done, s.retry(ctx, by, t, func(a *artifact.Artifact) error {
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
	})
	return err
}
