package rate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// TestAFleetWritesSeldomToo has 8 functions share 1,000 reads, half of them after the end of a window.
func TestAFleetWritesSeldomToo(t *testing.T) {
	const functions, reads = 8, 1000
	f := newFleet(1, functions, limits.Default().Tiers[limits.Free].Reads)
	a := id.NewArtifact()
	f.clock = readWindow(a, f.clock).End.Add(-time.Second)
	for n := range reads {
		if r := f.read(t.Context(), n%functions, a); r.Refusal != nil {
			t.Fatal(r.Refusal)
		}
		f.clock = f.clock.Add(2 * time.Second / reads)
	}
	if f.counters.writes > reads/10 {
		t.Errorf("%d reads cost %d writes", reads, f.counters.writes)
	}
	t.Logf("%d writes in %d windows", f.counters.writes, len(f.admitted))
}

func TestBlocksGrowWhileTheyAreUsedUpQuickly(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	w := WindowAt("artifact", "", "one", time.Minute, now)
	for name, tt := range map[string]struct {
		block, count int
		ago          time.Duration
		limit, first int
		want         int
	}{
		"the first":                      {0, 0, 0, 6000, 1, 1},
		"the first of a caller":          {0, 0, 0, 120, 4, 4},
		"the first of a small limit":     {0, 0, 0, 40, 4, 2},
		"the first of the smallest":      {0, 0, 0, 1, 4, 1},
		"used up quickly":                {8, 100, 5 * time.Second, 6000, 1, 16},
		"used up slowly":                 {8, 100, 5*time.Second + 1, 6000, 1, 4},
		"never none":                     {1, 100, time.Minute, 6000, 1, 1},
		"never more than the largest":    {256, 100, 0, 60_000, 1, 256},
		"a twentieth of what was left":   {64, 5000, 0, 6000, 1, 50},
		"one by one at the end":          {64, 5990, 0, 6000, 1, 1},
		"one by one beyond a raised end": {64, 6010, 0, 6000, 1, 1},
	} {
		p := pool{window: w, block: tt.block, count: tt.count, taken: now.Add(-tt.ago)}
		if got := p.nextBlock(demand{window: w, limit: tt.limit, first: tt.first}, now); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// fleet is several functions that read one artifact.
type fleet struct {
	limiters []*Limiter
	counters *fakeCounters
	clock    time.Time
	skew     []time.Duration
	random   *rand.Rand
	admitted map[Window]int
}

func newFleet(seed uint64, functions, reads int) *fleet {
	f := &fleet{
		counters: &fakeCounters{},
		clock:    time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
		random:   rand.New(rand.NewPCG(seed, 0)),
		admitted: make(map[Window]int),
	}
	for range functions {
		f.limiters, f.skew = append(f.limiters, nil), append(f.skew, 0)
		f.start(len(f.limiters)-1, reads)
	}
	return f
}

// start starts a function, or starts it again after it died with all its permits.
func (f *fleet) start(n, reads int) {
	numbers := limits.Default()
	setReads(&numbers, reads)
	f.limiters[n] = &Limiter{
		Counters: f.counters,
		Limits:   &numbers,
		Now:      func() time.Time { return f.clock.Add(f.skew[n]) },
	}
}

// read reads through one function, and counts the read where it was admitted.
func (f *fleet) read(ctx context.Context, n int, a id.Artifact) Read {
	r := f.limiters[n].Artifact(ctx, a, "file")
	if r.Refusal == nil {
		f.admitted[r.permit.pool.window]++
	}
	return r
}

func TestNoFleetAdmitsMoreThanTheLimit(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + random.IntN(400)
		f := newFleet(seed, 8, limit)
		a := id.NewArtifact()
		for n := range f.skew {
			f.skew[n] = time.Duration(f.random.Int64N(int64(10*time.Second))) - 5*time.Second
		}
		for range 4 * limit {
			n := min(f.random.IntN(8), f.random.IntN(8)) // uneven
			f.counters.err, f.counters.lost = nil, false
			switch faults := 40 + int(seed%2)<<20; f.random.IntN(faults) { // nearly none for every other fleet
			case 0:
				f.start(n, limit)
			case 1:
				f.counters.err = errOutOfReach
			case 2:
				f.counters.err, f.counters.lost = errOutOfReach, true
			}
			r := f.read(t.Context(), n, a)
			if r.Refusal == nil && f.random.IntN(20) == 0 {
				f.admitted[r.permit.pool.window]--
				f.limiters[n].GiveBack(t.Context(), r)
			}
			f.clock = f.clock.Add(time.Duration(f.random.Int64N(int64(40*time.Second) / int64(limit))))
		}
		for w, n := range f.admitted {
			if n > limit {
				t.Errorf("seed %d: %d were admitted, the limit is %d (window of %s)", seed, n, limit, w.Start)
			}
		}
	}
}

func TestAnEvenLoadGetsNearlyTheWholeLimit(t *testing.T) {
	for _, tt := range []struct{ functions, limit, least int }{
		{1, 1, 1}, {1, 600, 600}, {1, 6000, 6000}, // one function gets exactly the limit
		{8, 1200, 1140}, {8, 6000, 5700},
	} {
		f := newFleet(1, tt.functions, tt.limit)
		a := id.NewArtifact()
		w := readWindow(a, f.clock)
		f.clock = w.Start
		for n := range 2 * tt.limit {
			f.read(t.Context(), n%tt.functions, a)
			f.clock = f.clock.Add(50 * time.Second / time.Duration(2*tt.limit))
		}
		if got := f.admitted[w]; got < tt.least || got > tt.limit {
			t.Errorf("%d functions with a limit of %d admitted %d, want at least %d", tt.functions, tt.limit, got, tt.least)
		}
	}
}

func TestPermitsInHandAreSpentWhileTheStoreIsOutOfReach(t *testing.T) {
	limiter, counters, _ := newLimiter(t)
	w, actor := id.NewWorkspace(), "actor"
	if err := limiter.Actor(t.Context(), w, actor); err != nil {
		t.Fatal(err)
	}
	counters.err = errOutOfReach
	for range firstActorBlock - 1 {
		if err := limiter.Actor(t.Context(), w, actor); err != nil {
			t.Error(err)
		}
	}
	err := limiter.Actor(t.Context(), w, actor)
	if fault.CodeOf(err) != fault.RateLimitedActor || fault.Of(err).RetryAfter != failureWait {
		t.Errorf("without a permit: %v", err)
	}
}

func TestARefusedCallerCostsItsWorkspaceNothing(t *testing.T) {
	limiter, counters, now := newLimiter(t)
	limiter.Limits.Actor.Limit, limiter.Limits.Workspace.Limit = 1, 60
	w := id.NewWorkspace()
	for range 50 {
		err := limiter.Actor(t.Context(), w, "busy")
		if f := fault.Of(err); err != nil && f.Code != fault.RateLimitedActor {
			t.Fatal(err)
		}
	}
	if n := counters.counts[WindowAt("workspace", "", string(w), time.Minute, *now)]; n > 3 {
		t.Errorf("a caller who was admitted once took %d permits of its workspace", n)
	}
}

// heldCounters answers when the test says so.
type heldCounters struct {
	fakeCounters
	answer chan struct{}
}

func (h *heldCounters) Count(ctx context.Context, w Window, add, limit int) (int, bool, error) {
	select {
	case <-h.answer:
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
	return h.fakeCounters.Count(ctx, w, add, limit)
}

// newHeldLimiter returns a limiter whose counters hold their answers back.
func newHeldLimiter(t *testing.T) (*Limiter, *heldCounters, *time.Time) {
	limiter, _, now := newLimiter(t)
	counters := &heldCounters{answer: make(chan struct{})}
	limiter.Counters = counters
	return limiter, counters, now
}

func TestRequestsForOneSubjectShareAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, counters, _ := newHeldLimiter(t)
		a := id.NewArtifact()
		leaver, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- limiter.Artifact(leaver, a, "file").Refusal }()
		synctest.Wait()
		var readers sync.WaitGroup
		for range 7 {
			readers.Go(func() {
				if err := limiter.Artifact(t.Context(), a, "file").Refusal; err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		leave()
		if err := <-left; fault.CodeOf(err) != fault.RateLimitedArtifact {
			t.Errorf("a reader that left: %v", err)
		}
		close(counters.answer)
		readers.Wait()
		if counters.writes != 3 { // blocks of 1, 2 and 4
			t.Errorf("7 readers took %d writes", counters.writes)
		}
	})
}

func TestABlockThatArrivesAfterItsWindowServesOnlyWhoWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, counters, now := newHeldLimiter(t)
		a := id.NewArtifact()
		first, next := readWindow(a, *now), readWindow(a, now.Add(limits.ReadWindow))
		waited := make(chan error)
		go func() { waited <- limiter.Artifact(t.Context(), a, "file").Refusal }()
		synctest.Wait()
		*now = now.Add(limits.ReadWindow)
		close(counters.answer)
		if err := <-waited; err != nil {
			t.Error(err)
		}
		if err := limiter.Artifact(t.Context(), a, "file").Refusal; err != nil {
			t.Error(err)
		}
		if counters.counts[first] != 1 || counters.counts[next] != 1 {
			t.Errorf("counted %v", counters.counts)
		}
	})
}

func TestAReadIsHeldToTheLimitOfItsTier(t *testing.T) {
	limiter, counters, now := newLimiter(t)
	free := limiter.Limits.Tiers[limits.Free]
	setReads(limiter.Limits, 2)
	free.Reads = 4
	limiter.Limits.Tiers[limits.Free] = free
	a := id.NewArtifact()
	read := func(tier limits.Tier) error {
		return limiter.Confirm(t.Context(), limiter.Artifact(t.Context(), a, "file"), tier, 0).Refusal
	}
	for n, tt := range []struct {
		tier   limits.Tier
		code   fault.Code
		writes int
	}{
		{limits.Ephemeral, "", 1},
		{limits.Ephemeral, "", 1},
		{limits.Ephemeral, fault.RateLimitedArtifact, 1},
		{limits.Ephemeral, fault.RateLimitedArtifact, 0},
		{limits.Free, "", 1}, // it was claimed
		{limits.Free, "", 1}, // and is asked for with its limit at once
		{limits.Free, fault.RateLimitedArtifact, 1},
		{limits.Free, fault.RateLimitedArtifact, 0},
	} {
		before := counters.writes
		if err := read(tt.tier); err != nil != (tt.code != "") || err != nil && fault.CodeOf(err) != tt.code {
			t.Errorf("read %d: %v, want %q", n, err, tt.code)
		}
		if got := counters.writes - before; got != tt.writes {
			t.Errorf("read %d took %d writes, want %d", n, got, tt.writes)
		}
	}
	*now = now.Add(limits.ReadWindow)
	if got := limiter.leases.limitOf(readWindow(a, *now)); got != free.Reads {
		t.Errorf("in the next window it is asked for at %d", got)
	}
}

// TestAPageOfManyPicturesOpensTwentyTimes reads a revision of 1,500 files as often as its files allow in a minute, and
// one that has few at its tier's limit.
func TestAPageOfManyPicturesOpensTwentyTimes(t *testing.T) {
	for _, tt := range []struct {
		tier        limits.Tier
		files, want int
	}{
		{limits.Ephemeral, 1500, 30_000},
		{limits.Free, 1500, 30_000},
		{limits.Pro, 301, 6_020},
		{limits.Free, 300, 6_000},
		{limits.Ephemeral, 61, 1_220},
		{limits.Ephemeral, 60, 1_200},
		{limits.Ephemeral, 0, 1_200}, // an archive of an export
	} {
		limiter, _, now := newLimiter(t)
		a := id.NewArtifact()
		read := func() error {
			return limiter.Confirm(t.Context(), limiter.Artifact(t.Context(), a, "file"), tt.tier, tt.files).Refusal
		}
		for n := range tt.want {
			if err := read(); err != nil {
				t.Fatalf("%s, %d files: read %d: %v", tt.tier, tt.files, n+1, err)
			}
		}
		refused := fault.Of(read())
		if refused == nil || refused.Code != fault.RateLimitedArtifact || refused.RetryAfter <= 0 {
			t.Fatalf("%s, %d files: one read more is %v, want rate_limited_artifact", tt.tier, tt.files, refused)
		}
		*now = now.Add(refused.RetryAfter)
		if err := read(); err != nil {
			t.Errorf("%s, %d files, after Retry-After: %v", tt.tier, tt.files, err)
		}
	}
}

func TestALimitIsLoweredInTheNextWindow(t *testing.T) {
	var l leases
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	w := WindowAt("artifact", "", "one", time.Minute, now)
	l.see(w, 10, now)
	l.see(w, 4, now)
	after := WindowAt("artifact", "", "one", time.Minute, w.End)
	if got, then := l.limitOf(w), l.limitOf(after); got != 10 || then != 4 {
		t.Errorf("%d, then %d", got, then)
	}
}

func TestPoolsAreBounded(t *testing.T) {
	limiter, _, now := newLimiter(t)
	for n := range maxPools + 100 {
		if err := limiter.Actor(t.Context(), "w", fmt.Sprint(n)); fault.CodeOf(err) == fault.RateLimitedActor {
			t.Fatal(err)
		}
	}
	if n := len(limiter.leases.pools); n != maxPools || limiter.leases.order.Len() != n {
		t.Errorf("%d pools", n)
	}
	*now = now.Add(2 * time.Minute)
	_ = limiter.Actor(t.Context(), "w", "another")
	if n := len(limiter.leases.pools); n > 2 {
		t.Errorf("%d pools after all have ended", n)
	}
}
