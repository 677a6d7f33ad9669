package edit

import (
	"context"
	"math/rand/v2"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/artifact"
)

// An edit has a draft only for the moment until it is published. Other edits wait that long, because an artifact with a
// draft takes no other.
const (
	shortestWait = 50 * time.Millisecond
	longestWait  = 150 * time.Millisecond
	maxWaits     = 20
)

// settled waits until the draft of another edit is published, and returns the artifact. It gives up after maxWaits. It
// does not wait for a draft older than draftInFlight, because that one waits for its owner. Opening a session
// refuses an artifact that still has a draft.
// draftInFlight is how young a draft is that an edit is about to publish.
const draftInFlight = 5 * time.Second

func (t *task) settled(ctx context.Context, a *artifact.Artifact) (*artifact.Artifact, error) {
	for range maxWaits {
		if a.Draft == "" || t.Now().Sub(a.DraftAt) >= draftInFlight {
			return a, nil
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
		var err error
		if a, err = t.Artifacts.Owned(ctx, t.by, t.change.artifact); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// pause waits for a random time, so that edits that met do not meet again.
func pause(ctx context.Context) error {
	return async.Sleep(ctx, shortestWait+rand.N(longestWait-shortestWait))
}

// overtaken returns artifact.ErrMoved for a draft conflict if the artifact had no draft when it was read. Another edit
// was faster then, and the change is made again. It returns other errors as they are.
func overtaken(read *artifact.Artifact, err error) error {
	if read.Draft == "" && fault.CodeOf(err) == fault.DraftRevisionConflict {
		return artifact.ErrMoved
	}
	return err
}
