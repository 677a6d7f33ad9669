package artifact

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/text"
)

// Names commits titles.
type Names interface {
	// Rename stores a title with its event, in one transaction. Conditions: the artifact is live and unlocked, and belongs
	// to r.Workspace or is claimed into it. Errors: ErrMoved, not_authenticated (the workspace closed),
	// database_unavailable.
	Rename(ctx context.Context, r Renaming) error
}

// Renaming is everything that renaming changes.
type Renaming struct {
	Workspace id.Workspace
	Artifact  Artifact // as it was read, with the new title
	At        time.Time
	Event     event.Event
}

// Rename gives a live artifact another title and returns the title as it was stored. It holds until a revision with
// another title is published. a is the artifact as it was read, nil if there is none. Rename keeps no record of the
// command, because the last title wins.
func (s *Service) Rename(ctx context.Context, by credential.Actor, a *Artifact, title string) (string, error) {
	if err := by.Require(credential.Publish); err != nil {
		return "", err
	}
	title, err := text.Title.Clean(title)
	if err != nil {
		return "", err
	}
	now := s.Now()
	return retry(ctx, s, by, a, func(a *Artifact) (string, error) {
		if !a.Readable(now) || a.Owner != by.Workspace.ID {
			return "", NotFound()
		}
		return title, s.Store.Rename(ctx, renaming(by, *a, title, now))
	})
}

func renaming(by credential.Actor, a Artifact, title string, now time.Time) Renaming {
	e := by.Record(now, event.ArtifactRenamed, event.OnArtifact, string(a.ID), title)
	a.Title = title
	return Renaming{
		Workspace: by.Workspace.ID,
		Artifact:  a,
		At:        now,
		Event:     e,
	}
}
