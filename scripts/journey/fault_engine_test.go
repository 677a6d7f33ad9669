package journey

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// asker is a request that reads or changes something.
type asker struct {
	name string
	ask  func() wire.Answer
}

// readers are requests that nothing but gates stands before.
func (s *faultStand) readers(t testing.TB, g *wire.Agent, p contract.Published) []asker {
	public, blob, err := wire.SplitLink(p.UnlistedURL)
	succeed(t, err)
	get := func(url string) func() wire.Answer {
		return func() wire.Answer { return s.get(t, url) }
	}
	return []asker{
		{"content", get(p.RevisionContentURL)},
		{"public view", get(p.AgentViewURL)},
		{"link", func() wire.Answer {
			return do(t, s.anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{PublicID: public, Blob: blob})
		}},
		{"view", func() wire.Answer {
			return do(t, g, "GET", s.Origins.API+"/v1/artifacts/"+string(p.ArtifactID)+"/agent-view", nil)
		}},
		{"whoami", func() wire.Answer { return do(t, g, "GET", s.Origins.API+"/v1/whoami", nil) }},
	}
}

func TestF43AGateThatStaysUnreadIsNeverAnOpenOne(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	p := published(t, g, "gated")
	for _, r := range s.readers(t, g, p) {
		s.faults.On("BatchGetItem").Unprocessed(1)
		if a := r.ask(); a.Status != http.StatusOK {
			t.Errorf("%s: a gate that comes later answers %d %s", r.name, a.Status, a.Code())
		}
		s.faults.Clear()
		s.faults.On("BatchGetItem").Always().Unprocessed(1)
		refused(t, r.ask(), 503, fault.DatabaseUnavailable)
		s.faults.Clear()
	}
	for _, lock := range []struct{ pk, sk string }{{"A#" + string(p.ArtifactID), "META"}, {"W#" + string(parsed(t, g).Workspace), "META"}} {
		s.change(t, lock.pk, lock.sk, map[string]any{"lock": "lkd_00000000000000000000000000"})
		for missing := range 2 {
			s.faults.On("BatchGetItem").Always().Unprocessed(missing + 1)
			if a := s.get(t, p.RevisionContentURL); a.Status == http.StatusOK {
				t.Errorf("without %d keys a locked artifact is shown", missing+1)
			}
			s.faults.Clear()
		}
		s.gone(t, p.RevisionContentURL)
		s.change(t, lock.pk, lock.sk, map[string]any{"lock": nil})
	}
}

func TestF45AThrottledTableIsAskedThreeTimes(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	for _, r := range crashRoutes {
		if r.name != "create" && r.name != "finalize" && r.name != "publish" && r.name != "delete" {
			continue // every attempt takes its pauses
		}
		t.Run(r.name, func(t *testing.T) {
			s.clock.pass(time.Minute)
			g := s.agent(t)
			ask := r.prepare(t, s, g)
			before := s.state(t)
			throttled := s.faults.On("TransactWriteItems").Always().Before(chaos.Throttle)
			if refused(t, ask(), 503, fault.DatabaseUnavailable); throttled.Fired() != 3 {
				t.Errorf("it was tried %d times", throttled.Fired())
			}
			s.faults.Clear()
			s.unchanged(t, before)
			s.faults.On("TransactWriteItems").Times(2).Before(chaos.Throttle)
			r.took(t, ask())
		})
	}
	g := s.agent(t)
	throttled := s.faults.On("BatchGetItem").Always().Before(chaos.Throttle)
	if refused(t, do(t, g, "GET", s.Origins.API+"/v1/whoami", nil), 503, fault.DatabaseUnavailable); throttled.Fired() != 3 {
		t.Errorf("the gates were read %d times", throttled.Fired())
	}
	s.faults.Clear()
}

func TestF46TheLogTellsACounterOutOfReachFromAFullOne(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	p := published(t, g, "counted")
	for name, tt := range map[string]struct {
		counter, url string
		code         fault.Code
	}{
		"actor":     {"r:actor", s.Origins.API + "/v1/whoami", fault.RateLimitedActor},
		"workspace": {"r:workspace", s.Origins.API + "/v1/whoami", fault.RateLimitedWorkspace},
		"artifact":  {"r:artifact", p.RevisionContentURL, fault.RateLimitedArtifact},
		"view":      {"r:artifact", p.AgentViewURL, fault.RateLimitedArtifact},
	} {
		t.Run(name, func(t *testing.T) {
			s.faults.On("UpdateItem").If(chaos.Key("pk", tt.counter)).Always().Before(chaos.Throttle)
			logged := len(s.log.String())
			a := do(t, g, "GET", tt.url, nil)
			s.faults.Clear()
			if refused(t, a, 429, tt.code); wait(t, a) > 5*time.Second {
				t.Errorf("Retry-After is %s", wait(t, a))
			}
			s.logs(t, logged, "ProvisionedThroughputExceeded")
			if a := do(t, g, "GET", tt.url, nil); a.Status != http.StatusOK {
				t.Errorf("when the counter is back it answers %d %s", a.Status, a.Code())
			}
		})
	}
}

// logs waits for a word in the log; the line of a request may follow its answer.
func (s *faultStand) logs(t testing.TB, from int, word string) {
	t.Helper()
	for ends := time.Now().Add(time.Minute); !strings.Contains(s.log.String()[from:], word); runtime.Gosched() {
		if time.Now().After(ends) {
			t.Errorf("the log has no %s: %s", word, s.log.String()[from:])
			return
		}
	}
}

func TestF46ProvisionIsClosedWhileItsCountersAreOutOfReach(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t, func(o *stack.Options) { o.Limits.Pow = limits.PowAdaptive })
	for _, counter := range []string{"r:address", "r:provision", "r:gate"} {
		s.faults.On("").If(chaos.Key("pk", counter)).Always().Before(chaos.Throttle)
		a := do(t, s.anyone, "POST", s.Origins.API+"/v1/ephemeral/provision", nil)
		s.faults.Clear()
		refused(t, a, 503, fault.ProvisionUnavailable)
	}
	if n := s.count(t, s.names.Core, "W#"); n != 0 {
		t.Errorf("%d workspaces were made", n)
	}
	s.agent(t)
}

// skewed is what the engines say when our clock is off by more than 15 minutes.
func skewed(service string) chaos.Action {
	if service == "S3" {
		return chaos.Fail(&smithy.GenericAPIError{Code: "RequestTimeTooSkewed", Message: "The difference between the request time and the current time is too large."})
	}
	return chaos.Fail(&smithy.GenericAPIError{Code: "InvalidSignatureException", Message: "Signature expired"})
}

func TestF19AClockThatIsFarOffIsRefusedByTheEngines(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	p := published(t, g, "kept")
	u := s.uploaded(t, g, "", "pending")
	before := s.state(t)
	s.faults.On("").Service("DynamoDB").Always().Before(skewed("DynamoDB"))
	refused(t, tryCreate(t, g, wire.NewKey(), wire.Declare("new", page("new"))), 503, fault.DatabaseUnavailable)
	refused(t, s.get(t, p.RevisionContentURL), 503, fault.DatabaseUnavailable)
	s.faults.Clear()
	s.faults.On("").Service("S3").Always().Before(skewed("S3"))
	refused(t, tryFinalize(t, g, wire.NewKey(), u.UploadSessionID), 503, fault.StorageUnavailable)
	refused(t, s.get(t, p.RevisionContentURL), 503, fault.StorageUnavailable)
	s.faults.Clear()
	s.unchanged(t, before)
	must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
}
