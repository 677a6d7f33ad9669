// Package rate refuses requests that come too often. Every limiter refuses when its counter is
// unavailable.
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

// Counters is what Limiter needs of the store.
type Counters interface {
	// Count adds some, and returns the new count, which may exceed limit by less than was added. ok is false if
	// the window holds limit already, which is then left as it is. If its answer is lost it may add twice.
	Count(ctx context.Context, w Window, add, limit int) (n int, ok bool, err error)
}

// Limiter counts for one host.
type Limiter struct {
	Counters Counters
	Limits   *limits.Limits
	Host     string
	Now      func() time.Time
	Marks    Marks // of artifacts that are read often; nil: none are kept

	leases  leases
	mu      sync.Mutex
	refused map[counted]time.Time // subjects known to be over their limit, until when
}

const (
	maxRefused  = 10_000
	failureWait = time.Second // the Retry-After when the counter is unavailable
)

// firstActorBlock is how many permits of a caller and of its workspace are taken first, because a caller seldom comes
// once.
const firstActorBlock = 4

// Actor takes a permit of one caller and one of its workspace, in parallel. rate_limited_actor takes precedence over
// rate_limited_workspace. A request that one of them refuses is not counted by the other.
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

// take takes a permit, and refuses with code if there is none, because the window is full or the store out of reach.
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

// Take counts an event of a subject. It refuses with rate_limited_actor what r does not allow, and with
// database_unavailable if the counter is out of reach.
func (l *Limiter) Take(ctx context.Context, r limits.Rate, subject string) error {
	_, err := l.Count(ctx, r, subject)
	return err
}

// Count is Take for a caller that needs the count of the window too; 0 where limits are off.
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
	// Failures returns, by a consistent read, how many were counted in a window.
	Failures(ctx context.Context, w Window) (int, error)
}

// Check refuses with rate_limited_actor a subject that has used up r, without counting. Where only failures are taken,
// it stops serving a subject that had too many, even if its next request is right.
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

// refusal says what came too often, how much of it is allowed, and when more is.
func refusal(code fault.Code, r limits.Rate, until, now time.Time) error {
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

// WindowOf returns the window of a subject that all hosts count together.
func WindowOf(r limits.Rate, subject string, now time.Time) Window {
	return WindowAt(r.Counter, "", subject, r.Window, now)
}

// WindowAt returns the window of a subject at an instant. Windows of different subjects start at
// different times, so that limits do not all reset at once.
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

// remember keeps a refusal, so that a flood costs no further writes until its window ends.
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
