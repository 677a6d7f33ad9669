package rate

import (
	"cmp"
	"context"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Read is one read of an artifact by signed URL, or one poll of it.
type Read struct {
	Refusal error // nil: the read may go on

	artifact id.Artifact // empty: no permit was asked for
	holder   string
	limit    int  // at which a permit was asked for
	full     bool // the window held limit
	permit   permit
}

// reads is the rate of all reads of an artifact.
func reads(limit int) limits.Rate {
	return limits.Rate{Limit: limit, Window: limits.ReadWindow, Counter: "artifact", Events: "reads of this artifact"}
}

// giveBackTime bounds how long the record of a refusal, or the end of a stream, may delay its reader.
const giveBackTime = time.Second

// Artifact takes a permit for a read of an artifact by signed URL; all hosts share its limit. holder identifies the
// link or token and everything that readaccess judges it by. A holder that was refused too often waits by itself and
// does not consume the shared limit. The limit depends on the tier of the artifact, which is read at the same time:
// until Confirm has it, the limit is the one that was seen last, or the smallest.
func (l *Limiter) Artifact(ctx context.Context, artifact id.Artifact, holder string) Read {
	if l.Limits.Off {
		return Read{}
	}
	now := l.Now()
	if refused := l.refusedBefore(holder, now); refused != nil {
		return Read{Refusal: refused}
	}
	w := readWindow(artifact, now)
	limit := cmp.Or(l.leases.limitOf(w), l.Limits.Tiers[limits.Ephemeral].Reads)
	return l.read(ctx, w, Read{artifact: artifact, holder: holder, limit: limit})
}

// refusedBefore refuses a holder that the artifact refused too often.
func (l *Limiter) refusedBefore(holder string, now time.Time) error {
	r := l.Limits.Refused
	if until := l.known(counted{r.Counter, holder}); now.Before(until) {
		return refusal(fault.RateLimitedArtifact, r, until, now)
	}
	return nil
}

// Begin is Artifact beside what the caller does meanwhile; the result waits for it.
func (l *Limiter) Begin(ctx context.Context, artifact id.Artifact, holder string) (wait func() Read) {
	counted := async.Go(func() (Read, error) { return l.Artifact(ctx, artifact, holder), nil })
	return func() Read {
		r, err := counted.Wait()
		if err != nil {
			r.Refusal = err
		}
		return r
	}
}

// Confirm holds a read to the limit of the tier that its artifact has. A read that was refused at a smaller limit is
// asked for once more.
func (l *Limiter) Confirm(ctx context.Context, r Read, t limits.Tier) Read {
	limit := l.Limits.Tiers[t].Reads
	if r.artifact == "" || r.limit == limit {
		return r
	}
	now := l.Now()
	w := readWindow(r.artifact, now)
	l.leases.see(w, limit, now)
	if !r.full || limit < r.limit {
		return r
	}
	r.limit = limit
	return l.read(ctx, w, r)
}

func (l *Limiter) read(ctx context.Context, w Window, r Read) Read {
	d := demand{window: w, limit: r.limit, first: 1, marks: l.Marks}
	r.permit, r.full, r.Refusal = l.take(ctx, reads(r.limit), d, fault.RateLimitedArtifact)
	return r
}

func readWindow(a id.Artifact, now time.Time) Window {
	return WindowOf(reads(0), string(a), now)
}

// GiveBack returns the permit of a read whose holder the artifact refuses although others may read it. The read is
// counted as the holder's refusal instead, so that a flood of such reads neither keeps others out nor costs unbounded
// writes. It runs even if the reader has gone.
func (l *Limiter) GiveBack(ctx context.Context, r Read) {
	if r.permit == (permit{}) {
		return
	}
	l.leases.giveBack(r.permit)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
	defer cancel()
	_ = l.Take(ctx, l.Limits.Refused, r.holder)
}
