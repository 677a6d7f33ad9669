package faults

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/crash"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

var (
	interleaveFor  = flag.Duration("interleave", 20*time.Second, "how long operations are run against each other")
	interleaveSeed = flag.Uint64(
		"interleave-seed", 0, "seed of the first round; the next ones count up (default: of the clock)",
	)
)

// roundsOfStand is how many rounds share a deployment: the invariants read all of it after each. Rounds wait more than
// they work, so that some deployments run at once.
const (
	roundsOfStand = 20
	stands        = 2
)

// TestOperationsThatInterleaveDoWhatTheyAnswer runs two or three operations on one artifact at the same time, again and
// again, with pauses at the AWS calls. What holds then has to follow from what they answered, in any order they
// came.
func TestOperationsThatInterleaveDoWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	r := &rounds{first: *interleaveSeed, documented: documentedCodes(t), told: map[string]int{}}
	if r.first == 0 {
		r.first = uint64(time.Now().UnixMilli())
	}
	t.Cleanup(func() { t.Logf("%d rounds from -interleave-seed=%d on; answers: %v", r.done, r.first, r.told) })
	for n := range stands {
		t.Run(fmt.Sprint("stand ", n), func(t *testing.T) {
			t.Parallel()
			end := time.Now().Add(*interleaveFor)
			for left := true; left; left = time.Now().Before(end) {
				s, begin := newInterleaveEnv(t), r.take()
				for k := uint64(0); k < roundsOfStand && (k == 0 || time.Now().Before(end)); k++ {
					s.round(t, begin+k, r)
				}
				s.settles(t)
			}
		})
	}
}

// rounds is what was done in all deployments.
type rounds struct {
	first      uint64
	documented map[string]string

	mu    sync.Mutex
	taken uint64 // seeds
	done  int
	told  map[string]int
}

// take is the first of as many seeds as a deployment uses.
func (r *rounds) take() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken += roundsOfStand
	return r.first + r.taken - roundsOfStand
}

func (r *rounds) ended(c *scene) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	for _, a := range c.answers {
		r.told[strings.TrimSpace(fmt.Sprint(a.Status, " ", a.Code()))]++
	}
}

// interleaveEnv is a deployment with an operator.
type interleaveEnv struct {
	*harness.JobEnv
	op     *harness.Member
	scenes []*scene
}

func newInterleaveEnv(t testing.TB) *interleaveEnv {
	t.Helper()
	s := &interleaveEnv{JobEnv: harness.NewJobEnv(t, func(o *stack.Options) {
		o.Limits.ProvisionAddress.Limit, o.Limits.ProvisionGlobal.Limit = 10_000, 10_000
	})}
	s.op = s.NewOperator(t)
	return s
}

// round makes a situation, runs operations in it, and checks it at once and when the jobs are through.
func (e *interleaveEnv) round(t *testing.T, seed uint64, r *rounds) {
	t.Helper()
	e.Clock.Advance(time.Minute) // the quota is full again
	c := e.scene(t, seed)
	e.scenes = append(e.scenes, c)
	pause := &pauses{seed: seed, seen: map[string]int{}}
	for _, i := range []*chaos.Injector{e.Faults, e.JobFaults} {
		i.On("").Always().Before(pause.before).After(pause.after)
	}
	answers := e.Concurrently(t, len(c.chosen), func(n int) (wire.Answer, error) {
		if err := chaos.Delay(c.starts[n])(ctx, nil); err != nil {
			return wire.Answer{}, err
		}
		return c.chosen[n].ask(c)
	})
	e.Faults.Clear()
	e.JobFaults.Clear()
	for n, o := range c.chosen {
		c.answers[o.name] = answers[n]
		c.documents(t, o, answers[n], r.documented)
	}
	r.ended(c)
	c.check(t, "at once")
	c.finish(t)
	e.CheckInvariants(t)
	c.check(t, "after the jobs")
	if t.Failed() {
		t.Fatalf("round -interleave-seed=%d: %s", seed, c)
	}
}

// settles lets all artifacts end that are not pinned, and runs the jobs that collect them.
func (e *interleaveEnv) settles(t *testing.T) {
	t.Helper()
	e.Clock.Advance(e.Options.Limits.Tiers[limits.Free].MaxLife + limits.EphemeralArtifact)
	e.RunJobs(t)
	if e.RunCollector(t); t.Failed() {
		for _, c := range e.scenes {
			t.Log(c)
		}
	}
}

// pauses makes AWS calls slow, each as the seed says: it counts equal calls.
type pauses struct {
	seed uint64
	mu   sync.Mutex
	seen map[string]int
}

// Some calls wait a little. Commits wait long, so that other operations happen between the reads that decide them and
// the commits.
const (
	shortPause = 4 * time.Millisecond
	longPause  = 25 * time.Millisecond
)

func (p *pauses) before(ctx context.Context, c *chaos.Call) error {
	most := shortPause
	if commits(c) {
		most = longPause
	}
	return p.wait(ctx, c, "before ", most)
}

func (p *pauses) after(ctx context.Context, c *chaos.Call) error {
	return p.wait(ctx, c, "after ", shortPause)
}

// commits tells whether a call changes what others decide on, which counters are not.
func commits(c *chaos.Call) bool {
	return c.Service == "DynamoDB" && crash.IsWrite(c.Input) &&
		!strings.HasPrefix(harness.CallName(c.Input), "UpdateItem r:")
}

func (p *pauses) wait(ctx context.Context, c *chaos.Call, when string, most time.Duration) error {
	name := when + harness.CallName(c.Input)
	p.mu.Lock()
	p.seen[name]++
	name += strconv.Itoa(p.seen[name])
	p.mu.Unlock()
	h := fnv.New64a()
	h.Write([]byte(name))
	r := rand.New(rand.NewPCG(p.seed, h.Sum64()))
	if r.IntN(2) == 0 && most == shortPause {
		return nil
	}
	return chaos.Delay(randomPause(r, most))(ctx, c)
}

// randomPause returns a time shorter than most.
func randomPause(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}

// documentedCodes are the codes that the documents name, by operation and status.
func documentedCodes(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, host := range []string{"api", "upload"} {
		var document struct {
			Paths map[string]map[string]struct {
				OperationID string
				Responses   map[string]struct{ Description string }
			}
		}
		harness.ReadGolden(t, host, &document)
		for _, methods := range document.Paths {
			for _, o := range methods {
				for status, r := range o.Responses {
					out[o.OperationID+" "+status] = r.Description
				}
			}
		}
	}
	return out
}

// documents checks that an operation may answer so at all, and that a refusal has a reason among what ran beside it.
func (c *scene) documents(t testing.TB, o operation, a wire.Answer, documented map[string]string) {
	t.Helper()
	switch codes, ok := documented[fmt.Sprint(o.id, " ", a.Status)]; {
	case o.id == "" && (a.Status == 200 || a.Code() == fault.DatabaseUnavailable): // the jobs
	case !ok, a.Status >= 300 && !slices.Contains(strings.Split(codes, ", "), string(a.Code())):
		t.Errorf("%s answers %d %s, which is not documented", o.name, a.Status, a.Body)
	case a.Status == 500 || a.Status == 503 && a.Code() != fault.DatabaseUnavailable:
		t.Errorf("%s answers %d %s", o.name, a.Status, a.Body)
	case a.Status < 300 || a.Status == 503 || c.tried(o.reasons(c)...):
	default:
		t.Errorf("%s is refused with %d %s, and nothing beside it is a reason", o.name, a.Status, a.Body)
	}
}
