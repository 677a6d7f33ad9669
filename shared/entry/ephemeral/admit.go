package ephemeral

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

const (
	quotaFresh = 15 * time.Second // how old a cached quota may be
	unknownFor = time.Hour        // Retry-After for a caller without an address
	quotaWait  = time.Minute      // Retry-After while the quota is out of reach
)

// Admission is the result of counting a request.
type Admission struct {
	fromAddress int // requests of this address in its window
	passed      int // workspaces made in this minute so far; 0 unless the proof of work is adaptive
}

// Admit counts a request before its body is read, both over all clients and for its address, and reads how much of the
// quota is used. The refusal for all clients takes precedence. from is the client's address as the gateway reports it;
// Admit refuses the zero value. Where the deployment makes no workspaces, it refuses with forbidden and counts nothing.
func (p *Provisioner) Admit(ctx context.Context, from netip.Addr) (Admission, error) {
	if p.AccountsOnly {
		return Admission{}, fault.New(fault.Forbidden,
			"nobody publishes here without an account; sign in with vitrine login, or at %s", p.App)
	}
	if !from.IsValid() {
		return Admission{}, fault.New(fault.ProvisionUnavailable, "the client's address is unknown").After(unknownFor)
	}
	var a Admission
	all := async.Start(func() error { return p.Limiter.Take(ctx, p.Limits.ProvisionGlobal, "all") })
	looked := async.Start(func() (err error) {
		if p.Limits.Pow != limits.PowAdaptive || p.Limits.Off {
			return nil
		}
		if a.passed, err = p.Counters.CountOf(ctx, minute(p.Now())); err != nil {
			return closed(err)
		}
		return nil
	})
	n, err := p.Limiter.Count(ctx, p.Limits.ProvisionAddress, address.Subject(from, p.Peppers))
	if err := cmp.Or(asProvision(all()), asProvision(err), looked()); err != nil {
		return Admission{}, err
	}
	a.fromAddress = n
	return a, nil
}

// asProvision replaces the codes of a counter's errors by those of provisioning.
func asProvision(err error) error {
	switch f := fault.Of(err); fault.CodeOf(err) {
	case fault.RateLimitedActor:
		return f.WithCode(fault.ProvisionRateLimited)
	case fault.DatabaseUnavailable:
		return f.WithCode(fault.ProvisionUnavailable)
	}
	return err
}

const manyWorkspaces = "many workspaces are being made"

// work checks a solution that was sent, or asks for a proof of work if one is due.
func (p *Provisioner) work(ctx context.Context, a Admission, r contract.ProvisionRequest) error {
	if p.Limits.Off || p.Limits.Pow == limits.PowOff {
		return nil
	}
	if r.Challenge != nil && r.Solution != nil {
		return p.Pow.Check(ctx, *r.Challenge, *r.Solution)
	}
	quota, err := p.setting(ctx, p.Now())
	if err != nil {
		return closed(err)
	}
	switch busy := a.passed*10 > quota.PerMinute*8; {
	case busy:
		return p.Pow.Ask(limits.PowBitsBusy, manyWorkspaces)
	case p.Limits.Pow == limits.PowAlways, a.passed*2 > quota.PerMinute, a.fromAddress > limits.PowFree:
		return p.Pow.Ask(limits.PowBits, manyWorkspaces)
	}
	return nil
}

// minute returns the counter of the quota.
func minute(now time.Time) rate.Window {
	start := now.Truncate(time.Minute)
	return rate.Window{
		Kind:    "gate",
		Subject: "provision",
		Start:   start,
		End:     start.Add(time.Minute),
	}
}

// pass takes one workspace from the quota of this minute.
func (p *Provisioner) pass(ctx context.Context, now time.Time) error {
	if p.Limits.Off {
		return nil
	}
	quota, err := p.setting(ctx, now)
	if err != nil {
		return closed(err)
	}
	w := minute(now)
	_, ok, err := p.Counters.Count(ctx, w, 1, quota.PerMinute)
	switch {
	case err != nil:
		return closed(err)
	case !ok:
		return fault.New(fault.ProvisionRateLimited, "many workspaces are being made; wait as long as Retry-After says").After(w.End.Sub(now))
	}
	return nil
}

func closed(err error) error {
	return fault.Wrap(fault.ProvisionUnavailable, err, "no new workspaces can be made now; try again later").After(quotaWait)
}

// NoQuota refuses where no quota is in effect.
func NoQuota() error {
	return fault.New(fault.ProvisionUnavailable, "the quota of new workspaces is not set; try again later").After(quotaWait)
}

// setting returns the quota. It reads the quota again once it is older than quotaFresh.
func (p *Provisioner) setting(ctx context.Context, now time.Time) (Quota, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quotaAt.IsZero() || now.Sub(p.quotaAt) >= quotaFresh {
		quota, err := p.Store.Quota(ctx)
		if err != nil {
			return Quota{}, err
		}
		p.quota, p.quotaAt = quota, now
	}
	if g := p.quota; g.PerMinute < LeastQuota || g.PerMinute > MostQuota || (!g.ValidUntil.IsZero() && !now.Before(g.ValidUntil)) {
		return Quota{}, NoQuota()
	}
	return p.quota, nil
}
