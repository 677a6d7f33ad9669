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

	artifact id.Artifact // empty: no permit was requested
	holder   string
	limit    int  // the limit at which a permit was requested
	full     bool // the window had reached limit
	permit   permit
}

// reads is the rate of all reads of an artifact.
func reads(limit int) limits.Rate {
	return limits.Rate{Limit: limit, Window: limits.ReadWindow, Counter: "artifact", Events: "reads of this artifact"}
}

// giveBackTime bounds how long recording a refusal, or releasing a stream, may delay its reader.
const giveBackTime = time.Second

// Artifact takes a permit for a read of an artifact by signed URL. All hosts share its limit. holder identifies the
// link or token and everything by which readaccess judges it. A holder that was refused too often is refused at once
// and does not consume the shared limit. The limit depends on the tier of the artifact and on its files, which the
// caller reads at the same time. Until Confirm has both, Artifact uses the limit that was seen last, or the smallest.
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

// Begin starts Artifact in the background and returns a function that waits for its result.
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

// Confirm applies to a read the limit of the artifact's tier and of the number of files of its revision. It asks once
// more for a read that was refused at a smaller limit.
func (l *Limiter) Confirm(ctx context.Context, r Read, t limits.Tier, files int) Read {
	limit := l.Limits.Tiers[t].ReadsOf(files)
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

// GiveBack returns the permit of a read whose holder the artifact refuses although others may read it. It counts the
// read as a refusal of the holder instead, so that a flood of such reads neither keeps others out nor costs unbounded
// writes. It runs even if the reader has gone.
func (l *Limiter) GiveBack(ctx context.Context, r Read) {
	if r.permit == (permit{}) {
		return
	}
	l.leases.giveBack(r.permit)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
	defer cancel()
	_ = l.Take(ctx, l.Limits.Refused, r.holder) // the reader is refused anyway, with the answer of the artifact
}
