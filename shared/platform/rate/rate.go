// Package rate refuses requests that come too often. Every limiter refuses when its counter is
// unavailable.
package rate

import (
	"cmp"
	"context"
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
	refused map[string]time.Time // subjects known to be over their limit, until when
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
		return l.lease(ctx, "workspace", string(workspace), l.Limits.Workspace, fault.RateLimitedWorkspace)
	})
	ofActor, err := l.lease(ctx, "actor", subject, l.Limits.Actor, fault.RateLimitedActor)
	ofWorkspace, err2 := other.Wait()
	if err = cmp.Or(err, err2); err != nil {
		l.leases.giveBack(ofActor)
		l.leases.giveBack(ofWorkspace)
	}
	return err
}

func (l *Limiter) lease(
	ctx context.Context, kind, subject string, r limits.Rate, code fault.Code,
) (permit, error) {
	p, _, err := l.take(ctx, demand{
		window: WindowAt(kind, l.Host, subject, r.Window, l.Now()),
		limit:  r.Limit,
		first:  firstActorBlock,
	}, code)
	return p, err
}

// take takes a permit, and refuses with code if there is none, because the window is full or the store out of reach.
func (l *Limiter) take(ctx context.Context, d demand, code fault.Code) (p permit, full bool, err error) {
	p, ok, err := l.leases.take(ctx, l.Counters, d, l.Now)
	switch {
	case err != nil:
		return permit{}, false, counterUnavailable(code, err)
	case !ok:
		return permit{}, true, refusal(code, d.window.End.Sub(l.Now()))
	}
	return p, false, nil
}

// Address counts a provision by one client and returns its count in this window; subject must not
// be the raw address.
func (l *Limiter) Address(ctx context.Context, subject string) (int, error) {
	return l.count(ctx, "address", "", subject, l.Limits.ProvisionAddress,
		limitCodes{fault.ProvisionRateLimited, fault.ProvisionUnavailable})
}

// Provision counts a provision by any caller.
func (l *Limiter) Provision(ctx context.Context) error {
	_, err := l.count(ctx, "provision", "", "all", l.Limits.ProvisionGlobal,
		limitCodes{fault.ProvisionRateLimited, fault.ProvisionUnavailable})
	return err
}

// Allow counts any other action of a caller. wait is zero if it may go on, else how long it has to
// wait. err reports that the counter is unavailable, in which case the caller must be refused.
func (l *Limiter) Allow(ctx context.Context, kind, subject string, r limits.Rate) (wait time.Duration, err error) {
	_, err = l.Count(ctx, kind, subject, r)
	if f := fault.Of(err); err != nil && f.Code == fault.RateLimitedActor {
		return f.RetryAfter, nil
	}
	return 0, err
}

// Count counts any other action of a caller and returns the count of its window. It refuses with rate_limited_actor,
// and with database_unavailable if the counter is unavailable.
func (l *Limiter) Count(ctx context.Context, kind, subject string, r limits.Rate) (int, error) {
	return l.count(ctx, kind, "", subject, r, limitCodes{fault.RateLimitedActor, fault.DatabaseUnavailable})
}

// limitCodes are the codes of a limit: full when it is reached, broken when its counter is
// unavailable.
type limitCodes struct{ full, broken fault.Code }

func (l *Limiter) count(ctx context.Context, kind, host, subject string, r limits.Rate, code limitCodes) (int, error) {
	if l.Limits.Off {
		return 0, nil
	}
	now := l.Now()
	w := WindowAt(kind, host, subject, r.Window, now)
	if until := l.known(w.Kind + w.Subject); now.Before(until) {
		return 0, refusal(code.full, until.Sub(now))
	}
	n, ok, err := l.Counters.Count(ctx, w, 1, r.Limit)
	switch {
	case err != nil:
		return 0, counterUnavailable(code.broken, err)
	case !ok:
		l.remember(w.Kind+w.Subject, w.End, now)
		return 0, refusal(code.full, w.End.Sub(now))
	}
	return n, nil
}

func counterUnavailable(code fault.Code, err error) error {
	if async.StackOf(err) != nil {
		return err // a panic is a fault of ours, and not of the store
	}
	return fault.Wrap(code, err, "the rate limiter is out of reach; try again in a moment").After(failureWait)
}

func refusal(code fault.Code, wait time.Duration) error {
	return fault.New(code, "too many requests; wait as long as Retry-After says").After(wait)
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

func (l *Limiter) known(subject string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused[subject]
}

// remember keeps a refusal, so that a flood costs no further writes until its window ends.
func (l *Limiter) remember(subject string, until, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused == nil || len(l.refused) >= maxRefused {
		kept := make(map[string]time.Time)
		for s, end := range l.refused {
			if now.Before(end) && len(kept) < maxRefused/2 {
				kept[s] = end
			}
		}
		l.refused = kept
	}
	l.refused[subject] = until
}
