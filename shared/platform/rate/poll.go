package rate

import (
	"cmp"
	"context"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// firstPollBlock is how many permits of polls are taken first: those of one page for a minute.
const firstPollBlock = int(time.Minute / limits.LiveWait)

// maxLiveWait is the wait of an open page where many pages of one artifact are open.
const maxLiveWait = time.Minute

// Poll takes a permit for a poll of an open page of an artifact, and returns how long the page has to wait until the
// next one. Polls have a limit of their own, so that open pages take no reads from other readers. The wait grows with
// the polls of the last minute, so that the pages of one artifact together stay below the limit.
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

// pollWait returns the wait between two polls of a page while so many polls are counted in a window: the longest one
// where they reach the limit, and less in proportion.
func pollWait(counted, limit int) time.Duration {
	wait := maxLiveWait * time.Duration(min(counted, limit)) / time.Duration(limit)
	return max(limits.LiveWait, wait.Round(time.Second))
}

// leastElapsed is the smallest part of a window from which its rest is estimated.
const leastElapsed = 0.1

// perWindow estimates how many permits of a subject are spent in the length of a window that ends now: those of this
// window, and for the rest of its length as many as came in the window before it. Where none is known for that, they
// are taken to come evenly.
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
