package rate

import (
	"context"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Read is one read of an artifact by signed URL.
type Read struct {
	Over error // why it may not go on; nil: it was counted

	window Window // that counted it; of kind "": none
	holder string
}

const (
	readKind    = "artifact"
	refusedKind = "refused"
)

// giveBackTime is how long a read that is given back may keep its reader waiting.
const giveBackTime = time.Second

// Artifact counts a read of an artifact by signed URL; all hosts share its budget. holder says what way in the URL is and
// everything that gates judge it by, so that what one of them refuses is no other's: one that was refused as often as
// limits say waits by itself, and takes nothing off the others.
func (l *Limiter) Artifact(ctx context.Context, artifact id.Artifact, holder string) Read {
	if l.Limits.Off {
		return Read{}
	}
	now := l.Now()
	code := refuses{fault.RateLimitedArtifact, fault.RateLimitedArtifact}
	if until := l.known(refusedKind + holder); now.Before(until) {
		return Read{Over: refusal(code.full, until.Sub(now))}
	}
	w := WindowAt(readKind, "", string(artifact), l.Limits.Artifact.Window, now)
	if _, err := l.countIn(ctx, w, l.Limits.Artifact.Limit, code, now); err != nil {
		return Read{Over: err}
	}
	return Read{window: w, holder: holder}
}

// GiveBack is for a read whose holder the artifact refuses while others may read it: it is taken off the budget that they
// share and counted as the holder's refusals, so that neither a flood of them keeps others out nor costs writes without
// end. It happens although the reader has gone. What is lost of it is one read of one window.
func (l *Limiter) GiveBack(ctx context.Context, r Read) {
	if r.window.Kind == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
	defer cancel()
	given := make(chan struct{})
	go func() {
		defer close(given)
		_ = l.Counters.Uncount(ctx, r.window)
	}()
	_, _ = l.count(ctx, refusedKind, "", r.holder, l.Limits.Refused, refuses{fault.RateLimitedArtifact, fault.RateLimitedArtifact})
	<-given
}
