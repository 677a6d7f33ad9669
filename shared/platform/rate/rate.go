// Package rate refuses requests that come too often, and all requests while their counter is unavailable.
package rate

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Window identifies one counter: a subject in one interval.
type Window struct {
	Kind    string // what is counted
	Host    string // the counting host; empty where all hosts share one budget
	Subject string
	Start   time.Time
	End     time.Time
}

// Counters is the store of a Limiter.
type Counters interface {
	// Count adds add to a window and returns the new count, which may exceed limit by less than add. ok is false, and
	// the count unchanged, if the window holds limit already. Count may add twice if its answer is lost.
	Count(ctx context.Context, w Window, add, limit int) (n int, ok bool, err error)
}

// Limiter counts for one host.
type Limiter struct {
	Counters Counters
	Limits   *limits.Limits
	Host     string
	Now      func() time.Time
	Marks    Marks // records artifacts that are read often; nil: none are recorded

	leases  leases
	mu      sync.Mutex
	refused map[counted]time.Time // until when a subject is known to be over its limit
}

const (
	maxRefused  = 10_000
	failureWait = time.Second // the Retry-After when the counter is unavailable
)

// firstActorBlock is the size of the first block of a caller and of its workspace. It is above 1 because a caller
// seldom sends one request alone.
const firstActorBlock = 4

// Actor takes a permit of a caller and one of its workspace, in parallel. rate_limited_actor takes precedence over
// rate_limited_workspace. A request that one limit refuses does not count against the other.
func (l *Limiter) Actor(ctx context.Context, workspace id.Workspace, subject string) error {
	if l.Limits.Off {
		return nil
	}
	other := async.Go(func() (permit, error) {
		return l.lease(ctx, l.Limits.Workspace, string(workspace), fault.RateLimitedWorkspace)
	})
	ofActor, err := l.lease(ctx, l.Limits.Actor, subject, fault.RateLimitedActor)
	ofWorkspace, err2 := other.Wait()
	if err = cmp.Or(err, err2); err != nil {
		l.leases.giveBack(ofActor)
		l.leases.giveBack(ofWorkspace)
	}
	return err
}

func (l *Limiter) lease(ctx context.Context, r limits.Rate, subject string, code fault.Code) (permit, error) {
	p, _, err := l.take(ctx, r, demand{
		window: WindowAt(r.Counter, l.Host, subject, r.Window, l.Now()),
		limit:  r.Limit,
		first:  firstActorBlock,
	}, code)
	return p, err
}

// take takes a permit. It refuses with code if the window is full or the store is out of reach; full tells which.
func (l *Limiter) take(
	ctx context.Context, r limits.Rate, d demand, code fault.Code,
) (p permit, full bool, err error) {
	p, ok, err := l.leases.take(ctx, l.Counters, d, l.Now)
	switch {
	case err != nil:
		return permit{}, false, counterUnavailable(code, err)
	case !ok:
		return permit{}, true, refusal(code, r, d.window.End, l.Now())
	}
	return p, false, nil
}

// Take counts an event of a subject. It fails with rate_limited_actor beyond r, and with database_unavailable if the
// counter is out of reach.
func (l *Limiter) Take(ctx context.Context, r limits.Rate, subject string) error {
	_, err := l.Count(ctx, r, subject)
	return err
}

// Count is Take for a caller that also needs the count of the window. The count is 0 where limits are off.
func (l *Limiter) Count(ctx context.Context, r limits.Rate, subject string) (int, error) {
	if l.Limits.Off {
		return 0, nil
	}
	now := l.Now()
	w := WindowOf(r, subject, now)
	if until := l.known(w.counted()); now.Before(until) {
		return 0, refusal(fault.RateLimitedActor, r, until, now)
	}
	n, ok, err := l.Counters.Count(ctx, w, 1, r.Limit)
	switch {
	case err != nil:
		return 0, counterUnavailable(fault.DatabaseUnavailable, err)
	case !ok:
		l.remember(w.counted(), w.End, now)
		return 0, refusal(fault.RateLimitedActor, r, w.End, now)
	}
	return n, nil
}

// FailureCounter counts failures: wrong guesses and refusals.
type FailureCounter interface {
	// Failures returns the count of a window by a consistent read.
	Failures(ctx context.Context, w Window) (int, error)
}

// Check refuses a subject that has used up r with rate_limited_actor, and counts no event itself. A route that counts
// only failures checks first, so that after too many of them even a right guess is refused.
func (l *Limiter) Check(ctx context.Context, c FailureCounter, r limits.Rate, subject string) error {
	if l.Limits.Off {
		return nil
	}
	now := l.Now()
	w := WindowOf(r, subject, now)
	n, err := c.Failures(ctx, w)
	if err != nil || n < r.Limit {
		return err
	}
	return refusal(fault.RateLimitedActor, r, w.End, now)
}

func counterUnavailable(code fault.Code, err error) error {
	if async.StackOf(err) != nil {
		return err // a panic is a fault of ours, and not of the store
	}
	return fault.Wrap(code, err, "the rate limiter is out of reach; try again in a moment").After(failureWait)
}

// refusal names what came too often, how much of it is allowed, and when more is.
func refusal(code fault.Code, r limits.Rate, until, now time.Time) error {
	// The time in the text is rounded up to the second, because a retry just before the end would be refused again.
	return fault.New(code, "too many %s: %d are allowed in %s; wait until %s",
		r.Events, r.Limit, spell(r.Window), until.Add(time.Second-1).UTC().Format("15:04:05 UTC")).After(until.Sub(now))
}

// spell returns a window in words: "a minute", "10 minutes", "an hour", "a day".
func spell(window time.Duration) string {
	switch {
	case window == limits.Day:
		return "a day"
	case window == time.Hour:
		return "an hour"
	case window == time.Minute:
		return "a minute"
	case window%time.Minute == 0:
		return fmt.Sprintf("%d minutes", window/time.Minute)
	}
	return window.String()
}

// WindowOf returns the window of a subject in a counter that all hosts share.
func WindowOf(r limits.Rate, subject string, now time.Time) Window {
	return WindowAt(r.Counter, "", subject, r.Window, now)
}

// WindowAt returns the window of a subject at an instant. Windows of different subjects start at different times, so
// that limits do not all reset at once.
func WindowAt(kind, host, subject string, length time.Duration, now time.Time) Window {
	h := fnv.New64a()
	h.Write([]byte(kind + "\x00" + subject))
	offset := time.Duration(h.Sum64() % uint64(length)).Truncate(time.Millisecond)
	start := now.Add(-offset).Truncate(length).Add(offset)
	return Window{
		Kind:    kind,
		Host:    host,
		Subject: subject,
		Start:   start,
		End:     start.Add(length),
	}
}

func (l *Limiter) known(subject counted) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused[subject]
}

// remember records a refusal, so that a flood costs no further writes until its window ends. Each time the map is full
// it keeps at most half of it, so that it is swept seldom; a forgotten refusal costs one more write.
func (l *Limiter) remember(subject counted, until, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused == nil || len(l.refused) >= maxRefused {
		kept := make(map[counted]time.Time)
		for s, end := range l.refused {
			if now.Before(end) && len(kept) < maxRefused/2 {
				kept[s] = end
			}
		}
		l.refused = kept
	}
	l.refused[subject] = until
}
