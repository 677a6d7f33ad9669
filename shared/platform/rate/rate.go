// Package rate refuses requests that come too often. Every limiter refuses when its counter is
// unavailable.
package rate

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

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
	// Count adds one and returns the new count. ok is false if the window holds limit already.
	Count(ctx context.Context, w Window, limit int) (n int, ok bool, err error)
	// Uncount takes back one that Count added. It is sent once: if it is lost, the window counts
	// one too many until it ends.
	Uncount(ctx context.Context, w Window) error
}

// Limiter counts for one host.
type Limiter struct {
	Counters Counters
	Limits   *limits.Limits
	Host     string
	Now      func() time.Time

	mu      sync.Mutex
	refused map[string]time.Time // subjects known to be over their limit, until when
}

const (
	maxRefused  = 10_000
	failureWait = time.Second // the Retry-After when the counter is unavailable
)

// Actor counts a request of one caller and of its workspace, in parallel. rate_limited_actor takes
// precedence over rate_limited_workspace.
func (l *Limiter) Actor(ctx context.Context, workspace id.Workspace, subject string) error {
	other := make(chan error, 1)
	go func() {
		_, err := l.count(ctx, "workspace", l.Host, string(workspace), l.Limits.Workspace,
			limitCodes{fault.RateLimitedWorkspace, fault.RateLimitedWorkspace})
		other <- err
	}()
	_, err := l.count(ctx, "actor", l.Host, subject, l.Limits.Actor,
		limitCodes{fault.RateLimitedActor, fault.RateLimitedActor})
	if err2 := <-other; err == nil {
		err = err2
	}
	return err
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
	_, err = l.count(ctx, kind, "", subject, r, limitCodes{fault.RateLimitedActor, fault.DatabaseUnavailable})
	if f := fault.Of(err); err != nil && f.Code == fault.RateLimitedActor {
		return f.RetryAfter, nil
	}
	return 0, err
}

// limitCodes are the codes of a limit: full when it is reached, broken when its counter is
// unavailable.
type limitCodes struct{ full, broken fault.Code }

func (l *Limiter) count(ctx context.Context, kind, host, subject string, r limits.Rate, code limitCodes) (int, error) {
	if l.Limits.Off {
		return 0, nil
	}
	now := l.Now()
	return l.countIn(ctx, WindowAt(kind, host, subject, r.Window, now), r.Limit, code, now)
}

func (l *Limiter) countIn(ctx context.Context, w Window, limit int, code limitCodes, now time.Time) (int, error) {
	if until := l.known(w.Kind + w.Subject); now.Before(until) {
		return 0, refusal(code.full, until.Sub(now))
	}
	n, ok, err := l.Counters.Count(ctx, w, limit)
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
