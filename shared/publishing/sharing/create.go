package sharing

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Request describes the link that a caller wants.
type Request struct {
	Kind      link.Kind
	Revision  id.Revision // of a revision link
	ExpiresAt *time.Time  // nil: it does not end by itself
}

// Create returns a link of a published artifact. An artifact has at most one working share link, so a request for a
// share link returns the existing one unchanged. It is refused if that link expires later than requested. Every request
// for a revision link creates a new one.
func (s *Service) Create(
	ctx context.Context, by credential.Actor, t Target, r Request,
) (link.Record, error) {
	now := s.Now()
	return idempotency.Do(t.Command, t.Record, now, func() (link.Record, error) {
		if err := check(r, now); err != nil {
			return link.Record{}, err
		}
		wanted := link.Link{Kind: r.Kind, Revision: r.Revision}
		if r.ExpiresAt != nil {
			wanted.ExpiresAt = r.ExpiresAt.UTC().Truncate(time.Millisecond)
		}
		_, l, err := s.findOrCreate(ctx, by, t, &t.Command, wanted, now)
		return l.Record(), err
	})
}

// check validates a request without reading any state.
func check(r Request, now time.Time) error {
	refuse := func(why string) error { return fault.New(fault.InvalidRequest, "%s", why) }
	switch {
	case r.Kind != link.Share && r.Kind != link.Revision:
		return refuse("type must be share or revision")
	case r.Kind == link.Share && r.Revision != "":
		return refuse("a share link follows the newest revision: leave revision_id out, or make a link of type revision")
	case r.Kind == link.Revision && r.Revision == "":
		return refuse("a link of type revision needs revision_id")
	case r.ExpiresAt != nil && !r.ExpiresAt.After(now):
		return refuse("expires_at must be in the future")
	}
	return nil
}

// findOrCreate returns the existing share link or creates the wanted link. It also returns the artifact as it was read.
// It finishes the command in both cases. command is nil for requests without an Idempotency-Key.
func (s *Service) findOrCreate(
	ctx context.Context, by credential.Actor, t Target, command *idempotency.Command, wanted link.Link, now time.Time,
) (a *artifact.Artifact, l link.Link, err error) {
	err = s.retry(ctx, by, t, func(found *artifact.Artifact) error {
		a = found
		if err := checkLinkable(a, now); err != nil {
			return err
		}
		c := Creation{Command: command, From: a.ClaimedFrom, At: now}
		if wanted.Kind == link.Share && a.ShareLink != "" {
			shared, err := s.openShareLink(ctx, a, now)
			if err != nil {
				return err
			}
			if shared != nil {
				l = *shared
				if err := checkEnd(l, wanted.ExpiresAt); err != nil {
					return err
				}
				return s.recordNoop(ctx, by, c, l)
			}
			c.Replaces = a.ShareLink
		}
		l = newLink(by, a, wanted, now)
		return s.createLink(ctx, by, c, l)
	})
	return a, l, err
}

// checkLinkable refuses an artifact that cannot have new links: an unreadable or unpublished one, or one with locked
// links.
func checkLinkable(a *artifact.Artifact, now time.Time) error {
	switch {
	case !a.Readable(now) || a.Current == "":
		return fault.New(fault.ArtifactNotFound,
			"no such artifact in this workspace, or it is not published, deleted or expired")
	case !a.LinksLockedAt.IsZero():
		return locked()
	}
	return nil
}

// openShareLink returns the share link of an artifact if the link opens the artifact now, else nil.
func (s *Service) openShareLink(ctx context.Context, a *artifact.Artifact, now time.Time) (*link.Link, error) {
	if a.Shared(now) == "" {
		return nil, nil
	}
	l, err := s.Store.Link(ctx, a.ShareLink)
	if err != nil || !l.Opens(a.ID, now) || !a.LinksOpen(l.CreatedAt) {
		return nil, err
	}
	return l, nil
}

// checkEnd refuses an existing share link that expires later than the caller asked. A zero end accepts any link.
func checkEnd(l link.Link, end time.Time) error {
	if end.IsZero() || !l.ExpiresAt.IsZero() && !l.ExpiresAt.After(end) {
		return nil
	}
	until := "does not end"
	if !l.ExpiresAt.IsZero() {
		until = "ends on " + l.ExpiresAt.Format(time.RFC3339)
	}
	return fault.New(fault.InvalidRequest,
		"the artifact has the share link %s, which %s: ask without an end to use it as it is, or revoke it first",
		l.ID, until)
}

// newLink returns the wanted link with its ids, its artifact and its time.
func newLink(by credential.Actor, a *artifact.Artifact, wanted link.Link, now time.Time) link.Link {
	l := wanted
	l.ID = id.NewLink()
	l.Public, _ = l.ID.Public() // a new id is well-formed
	l.Workspace = by.Workspace.ID
	l.Artifact = a.ID
	l.CreatedAt = a.NextLink(now)
	return l
}

// createLink stores a link with its event and the result of its command.
func (s *Service) createLink(ctx context.Context, by credential.Actor, c Creation, l link.Link) error {
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
	return s.Changes.Create(ctx, c)
}

// recordNoop finishes a command that an existing link answers.
func (s *Service) recordNoop(ctx context.Context, by credential.Actor, c Creation, l link.Link) error {
	if c.Command == nil {
		return nil
	}
	c.Link, c.Result = l, result(l)
	c.Link.Workspace = by.Workspace.ID
	return s.Changes.RecordNoop(ctx, c)
}

// result encodes what a repetition of the command returns.
func result(l link.Link) []byte { return idempotency.Encode(l.Record()) }
