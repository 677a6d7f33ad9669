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
	Comments  *bool       // who has the share link may write feedback; nil: a new link has no comments, an old one stays
	Existing  id.Link     // the share link that there has to be, else not_found; empty: there may be another one, or none
}

// Create returns a link of a published artifact. An artifact has at most one working share link, so a request for a
// share link returns the existing one, of which it changes the comments alone. It is refused if that link expires later
// than requested. Every request for a revision link creates a new one.
func (s *Service) Create(
	ctx context.Context, by credential.Actor, t Target, r Request,
) (link.Record, error) {
	now := s.Now()
	return idempotency.Do(t.Command, t.Record, now, func() (link.Record, error) {
		err := check(r, now)
		if err == nil {
			err = checkComments(by, r)
		}
		if err != nil {
			return link.Record{}, err
		}
		_, l, err := s.findOrCreate(ctx, by, t, &t.Command, r, now)
		return r.record(l), err
	})
}

// record returns the record of a link that answers the request.
func (r Request) record(l link.Link) link.Record {
	out := l.Record()
	out.Comments = r.Comments
	return out
}

// end returns when the link shall end; zero: not by itself.
func (r Request) end() time.Time {
	if r.ExpiresAt == nil {
		return time.Time{}
	}
	return r.ExpiresAt.UTC().Truncate(time.Millisecond)
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
	case r.Kind == link.Revision && r.Comments != nil:
		return refuse("a link of type revision takes no comments: leave comments out, or make a share link")
	}
	return nil
}

// checkComments refuses to let people write whom nobody answers for: an unclaimed workspace has no member who could let
// their words through.
func checkComments(by credential.Actor, r Request) error {
	if r.Comments != nil && *r.Comments && by.Workspace.ClaimedAt.IsZero() {
		return fault.New(fault.Forbidden,
			"a link takes comments once a person has claimed the workspace: sign in to claim it, then ask again")
	}
	return nil
}

// findOrCreate returns the existing share link, with the wanted comments, or creates the wanted link. It also returns the
// artifact as it was read. It finishes the command in both cases. command is nil for requests without an Idempotency-Key.
func (s *Service) findOrCreate(
	ctx context.Context, by credential.Actor, t Target, command *idempotency.Command, wanted Request, now time.Time,
) (a *artifact.Artifact, l link.Link, err error) {
	err = s.retry(ctx, by, t, func(found *artifact.Artifact) error {
		a = found
		if err := checkLinkable(a, now); err != nil {
			return err
		}
		c := Creation{Command: command, From: a.ClaimedFrom, At: now}
		if wanted.Kind == link.Share && (a.ShareLink != "" || wanted.Existing != "") {
			shared, err := s.openShareLink(ctx, a, now)
			if err != nil {
				return err
			}
			if wanted.Existing != "" && (shared == nil || shared.ID != wanted.Existing) {
				return NotFound()
			}
			if shared != nil {
				l = *shared
				if err := checkEnd(l, wanted.end()); err != nil {
					return err
				}
				return s.answerWith(ctx, by, c, &l, wanted)
			}
			c.Replaces = a.ShareLink
		}
		l = newLink(by, a, wanted, now)
		c.Result = result(wanted, l)
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
func newLink(by credential.Actor, a *artifact.Artifact, wanted Request, now time.Time) link.Link {
	l := link.Link{
		ID:        id.NewLink(),
		Kind:      wanted.Kind,
		Revision:  wanted.Revision,
		ExpiresAt: wanted.end(),
		Comments:  wanted.Comments != nil && *wanted.Comments,
	}
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
	c.Link = l
	c.Event = by.Record(c.At, event.LinkCreated, event.OnLink, string(l.ID), detail)
	return s.Changes.Create(ctx, c)
}

// answerWith finishes a command that an existing share link answers, and gives the link the wanted comments.
func (s *Service) answerWith(
	ctx context.Context, by credential.Actor, c Creation, l *link.Link, wanted Request,
) error {
	changes := wanted.Comments != nil && *wanted.Comments != l.Comments
	if changes {
		l.Comments = *wanted.Comments
	}
	c.Link, c.Result = *l, result(wanted, *l)
	c.Link.Workspace = by.Workspace.ID
	switch {
	case changes:
		detail := "to take no comments on " + string(l.Artifact)
		if l.Comments {
			detail = "to take comments on " + string(l.Artifact)
		}
		c.Event = by.Record(c.At, event.LinkUpdated, event.OnLink, string(l.ID), detail)
		return s.Changes.SetComments(ctx, c)
	case c.Command == nil:
		return nil
	}
	return s.Changes.RecordNoop(ctx, c)
}

// result encodes what a repetition of the command returns.
func result(r Request, l link.Link) []byte { return idempotency.Encode(r.record(l)) }
