package dynamo

import (
	"context"
	"time"

	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// Counters counts requests, failures and streams, and remembers nonces that were used.
type Counters struct{ *db }

var (
	_ account.Allowance   = Counters{}
	_ ephemeral.Counters  = Counters{}
	_ pow.Nonces          = Counters{}
	_ rate.Counters       = Counters{}
	_ rate.FailureCounter = Counters{}
	_ rate.StreamStore    = Counters{}
	_ pow.Counters        = Counters{}
)

// maxCountAttempts is how often a count is sent. It is low, because a limiter that does not answer refuses, and must
// not make callers wait.
const maxCountAttempts = 2

// counterLife is how long counters outlive their window.
const counterLife = time.Hour

const (
	countUp    = "ADD #c :add SET #ttl = if_not_exists(#ttl, :ttl)"
	belowLimit = "attribute_not_exists(#c) OR #c < :most"
)

// Count implements rate.Counters with one write. The condition makes it exact, and a full window costs no extra read.
func (s Counters) Count(ctx context.Context, w rate.Window, add, limit int) (int, bool, error) {
	v := values{"add": add, "most": limit, "ttl": w.End.Add(counterLife).Unix()}
	i, below, err := s.changeHot(ctx, rateKey(w), countUp, belowLimit, v, attempts(maxCountAttempts))
	if err != nil || !below {
		return 0, false, err
	}
	return int(i.getNum("c")), true, nil
}

// CountOf implements ephemeral.Counters and pow.Counters. An eventually consistent read is enough, because the count
// only decides whether to ask for proof of work.
func (s Counters) CountOf(ctx context.Context, w rate.Window) (int, error) {
	i, err := s.getIn(ctx, s.tables.Hot, key{pk: rateKey(w)}, false)
	return int(i.getNum("c")), err
}

// Burn implements pow.Nonces.
func (s Counters) Burn(ctx context.Context, nonce string, until time.Time) (bool, error) {
	return s.putNew(ctx, s.tables.Hot, item{}.str("pk", nonceKey(nonce)).ttl(until.Add(counterLife)))
}

// Failures implements rate.FailureCounter.
func (s Counters) Failures(ctx context.Context, w rate.Window) (int, error) {
	i, err := s.getIn(ctx, s.tables.Hot, key{pk: rateKey(w)}, true)
	return int(i.getNum("c")), err
}

// ArtifactsToday implements account.Allowance. It returns how many artifacts a workspace published for the first time
// on a UTC day.
func (s Counters) ArtifactsToday(ctx context.Context, w id.Workspace, day time.Time) (int, error) {
	var b batch
	for n := range limits.AllowanceShards {
		b.wantHot(allowanceKey(w, day, n))
	}
	f, err := s.read(ctx, b)
	if err != nil {
		return 0, err
	}
	used := int64(0)
	for n := range limits.AllowanceShards {
		used += f.hot(allowanceKey(w, day, n)).getNum("c")
	}
	return int(used), nil
}
