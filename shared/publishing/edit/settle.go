package edit

import (
	"context"
	"math/rand/v2"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/artifact"
)

// An edit has a draft for as long as it takes to publish it. Others wait for that, because their change would be
// refused although nothing is in its way a moment later.
const (
	shortestWait = 50 * time.Millisecond
	longestWait  = 150 * time.Millisecond
	maxWaits     = 20
)

// draftInFlight is how young a draft is that an edit is about to publish.
const draftInFlight = 5 * time.Second

// settled returns the artifact without the draft of an edit that is being published, or with it if that takes too long.
// A draft that is older than such an edit waits for its owner, and is left to the rules of upload sessions.
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

// pause waits for a random time, so that edits that wait for one another do not meet again.
func pause(ctx context.Context) error {
	timer := time.NewTimer(shortestWait + rand.N(longestWait-shortestWait))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// overtaken returns the error of a change whose artifact was read without a draft: another edit that made one since
// then was faster, and the change is made again.
func overtaken(read *artifact.Artifact, err error) error {
	if read.Draft == "" && fault.CodeOf(err) == fault.DraftRevisionConflict {
		return artifact.ErrMoved
	}
	return err
}
