package rate

import (
	"context"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Read is one read of an artifact by signed URL.
type Read struct {
	Over error // the refusal; nil: the read was counted

	window Window // the window that counted it; kind "": none
	holder string
}

const (
	readKind    = "artifact"
	refusedKind = "refused"
)

// giveBackTime bounds how long giving back a read may delay its reader.
const giveBackTime = time.Second

// Artifact counts a read of an artifact by signed URL; all hosts share its budget. holder
// identifies the link or token and everything that readaccess judges it by. A holder that was
// refused too often waits by itself and does not consume the shared budget.
func (l *Limiter) Artifact(ctx context.Context, artifact id.Artifact, holder string) Read {
	if l.Limits.Off {
		return Read{}
	}
	now := l.Now()
	code := limitCodes{fault.RateLimitedArtifact, fault.RateLimitedArtifact}
	if until := l.known(refusedKind + holder); now.Before(until) {
		return Read{Over: refusal(code.full, until.Sub(now))}
	}
	w := WindowAt(readKind, "", string(artifact), l.Limits.Artifact.Window, now)
	if _, err := l.countIn(ctx, w, l.Limits.Artifact.Limit, code, now); err != nil {
		return Read{Over: err}
	}
	return Read{window: w, holder: holder}
}

// GiveBack undoes the count of a read whose holder the artifact refuses although others may read
// it. The read is taken off the shared budget and counted as the holder's refusal, so that a flood
// of such reads neither keeps others out nor costs unbounded writes. It runs even if the reader has
// gone. A failure loses one read of one window.
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
	_, _ = l.count(ctx, refusedKind, "", r.holder, l.Limits.Refused,
		limitCodes{fault.RateLimitedArtifact, fault.RateLimitedArtifact})
	<-given
}
