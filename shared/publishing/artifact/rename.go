package artifact

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Names is what Renamer needs of the store.
type Names interface {
	// Rename stores a title with its event, in one transaction that holds only while the artifact is live and unlocked, in
	// r.Workspace or on its way there. Errors: ErrMoved, not_authenticated (the workspace closed), database_unavailable.
	Rename(ctx context.Context, r Renaming) error
	// Artifact reads the gate of an artifact strongly, nil if there is none.
	Artifact(ctx context.Context, a id.Artifact) (*Artifact, error)
	Workspaces
}

// Renaming is everything that renaming changes.
type Renaming struct {
	Workspace id.Workspace
	Artifact  Artifact // as it was read, with the new title
	At        time.Time
	Event     event.Event
}

// Renamer gives artifacts other titles.
type Renamer struct {
	Store Names
	Now   func() time.Time
}

// Rename gives a live artifact another title, until a revision with another one is published. a is as it was read; nil:
// there is none. It is never a repetition: the last title wins.
func (r *Renamer) Rename(ctx context.Context, by credential.Actor, a *Artifact, title string) (contract.DisplayMetadata, error) {
	if err := by.Require(credential.Publish); err != nil {
		return contract.DisplayMetadata{}, err
	}
	title = strings.TrimSpace(title)
	if n := utf8.RuneCountInString(title); n < 1 || n > limits.TitleRunes {
		return contract.DisplayMetadata{}, fault.New(fault.InvalidRequest, "title must have 1 to %d characters", limits.TitleRunes)
	}
	now := r.Now()
	for range maxAttempts {
		if !a.Readable(now) || a.Owner != by.Workspace.ID {
			return contract.DisplayMetadata{}, NotFound()
		}
		err := r.Store.Rename(ctx, renaming(by, *a, title, now))
		if !errors.Is(err, ErrMoved) {
			return contract.DisplayMetadata{Title: title}, err
		}
		if a, err = r.Store.Artifact(ctx, a.ID); err == nil {
			a, err = Follow(ctx, r.Store, by.Workspace, a)
		}
		if err != nil {
			return contract.DisplayMetadata{}, err
		}
	}
	return contract.DisplayMetadata{}, Contended()
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
