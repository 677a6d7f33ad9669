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
	// Rename stores a title with its event, in one transaction that holds only while the artifact is live and unlocked, in
	// r.Workspace or on its way there. Errors: ErrMoved, not_authenticated (the workspace closed), database_unavailable.
	Rename(ctx context.Context, r Renaming) error
}

// Renaming is everything that renaming changes.
type Renaming struct {
	Workspace id.Workspace
	Artifact  Artifact // as it was read, with the new title
	At        time.Time
	Event     event.Event
}

// Rename gives a live artifact another title, until a revision with another one is published, and returns it as it was
// stored. a is as it was read; nil: there is none. It is never a repetition: the last title wins.
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
