package rate

import (
	"cmp"
	"context"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// firstPollBlock is the size of the first block of polls: what one page needs for a minute.
const firstPollBlock = int(time.Minute / limits.LiveWait)

// Poll takes a permit for a poll of an open page of an artifact, and returns how long the page waits until its next
// poll. Polls have a limit of their own, so that open pages use up no reads of other readers. The wait grows with the
// polls of the last minute, so that all pages of one artifact together stay below the limit.
// maxLiveWait is the wait of an open page where many pages of one artifact are open.
const maxLiveWait = time.Minute

func (l *Limiter) Poll(ctx context.Context, artifact id.Artifact, holder string) (r Read, wait time.Duration) {
	if l.Limits.Off {
		return Read{}, limits.LiveWait
	}
	now, polls := l.Now(), l.Limits.Live
	if refused := l.refusedBefore(holder, now); refused != nil {
		return Read{Refusal: refused}, 0
	}
	r = Read{artifact: artifact, holder: holder, limit: polls.Limit}
	w := WindowOf(polls, string(artifact), now)
	var ok bool
	var err error
	r.permit, ok, err = l.leases.take(ctx, l.Counters, demand{window: w, limit: r.limit, first: firstPollBlock}, l.Now)
	switch {
	case err != nil:
		r.Refusal = counterUnavailable(fault.DatabaseUnavailable, err)
	case !ok:
		r.Refusal = refusal(fault.RateLimitedArtifact, polls, now.Add(maxLiveWait), now)
	default:
		wait = pollWait(l.leases.perWindow(w, l.Now()), r.limit)
	}
	return r, wait
}

// pollWait returns the wait between two polls of a page from the number of polls in a window. It is the longest wait at
// the limit, and less in proportion below it.
func pollWait(counted, limit int) time.Duration {
	wait := maxLiveWait * time.Duration(min(counted, limit)) / time.Duration(limit)
	return max(limits.LiveWait, wait.Round(time.Second))
}

// leastElapsed is the smallest part of a window from which its rest is estimated.
const leastElapsed = 0.1

// perWindow estimates how many permits of a subject were spent in the last full window length. It adds to the permits
// of this window a share of those of the window before. Where that count is unknown, it assumes an even rate.
func (l *leases) perWindow(w Window, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pools[w.counted()]
	if p == nil || !p.window.Start.Equal(w.Start) {
		return 0
	}
	elapsed := min(1, max(leastElapsed, now.Sub(w.Start).Seconds()/w.End.Sub(w.Start).Seconds()))
	spent := float64(max(0, p.count-p.permits))
	return int(spent + (1-elapsed)*cmp.Or(float64(p.before), spent/elapsed))
}
