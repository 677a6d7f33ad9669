package faults

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// gatedRequest is a request that reads or changes something.
type gatedRequest struct {
	name string
	ask  func() wire.Answer
}

// readers are requests that nothing but gates stands before.
func readers(t testing.TB, s *harness.FaultEnv, g *wire.Agent, p contract.Published) []gatedRequest {
	public, blob, err := wire.SplitLink(p.UnlistedURL)
	harness.NoError(t, err)
	get := func(url string) func() wire.Answer {
		return func() wire.Answer { return s.Get(t, url) }
	}
	return []gatedRequest{
		{"content", get(p.RevisionContentURL)},
		{"public view", get(p.AgentViewURL)},
		{"link", func() wire.Answer {
			return harness.Do(t, s.Anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{
				PublicID: public,
				Blob:     blob,
			})
		}},
		{"view", func() wire.Answer {
			return harness.Do(t, g, "GET", s.Origins.API+"/v1/artifacts/"+string(p.ArtifactID)+"/agent-view", nil)
		}},
		{"whoami", func() wire.Answer { return harness.Do(t, g, "GET", s.Origins.API+"/v1/whoami", nil) }},
	}
}

func TestF43AGateThatStaysUnreadIsNeverAnOpenOne(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "gated")
	for _, r := range readers(t, s, g, p) {
		s.Faults.On("BatchGetItem").Unprocessed(1)
		if a := r.ask(); a.Status != http.StatusOK {
			t.Errorf("%s: a gate that comes later answers %d %s", r.name, a.Status, a.Code())
		}
		s.Faults.Clear()
		s.Faults.On("BatchGetItem").Always().Unprocessed(1)
		harness.WantRefused(t, r.ask(), 503, fault.DatabaseUnavailable)
		s.Faults.Clear()
	}
	for _, lock := range []struct{ pk, sk string }{
		{"A#" + string(p.ArtifactID), "META"},
		{"W#" + string(harness.TokenOf(t, g).Workspace), "META"},
	} {
		s.Update(t, lock.pk, lock.sk, map[string]any{"lock": "lkd_00000000000000000000000000"})
		for missing := range 2 {
			s.Faults.On("BatchGetItem").Always().Unprocessed(missing + 1)
			if a := s.Get(t, p.RevisionContentURL); a.Status == http.StatusOK {
				t.Errorf("without %d keys a locked artifact is shown", missing+1)
			}
			s.Faults.Clear()
		}
		s.WantGone(t, p.RevisionContentURL)
		s.Update(t, lock.pk, lock.sk, map[string]any{"lock": nil})
	}
}

func TestF45AThrottledTableIsAskedThreeTimes(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	publish := crashPublish(t, s, g)
	before := s.Snapshot(t)
	throttled := s.Faults.On("TransactWriteItems").Always().Before(chaos.Throttle)
	if harness.WantRefused(t, publish(), 503, fault.DatabaseUnavailable); throttled.Fired() != 3 {
		t.Errorf("it was tried %d times", throttled.Fired())
	}
	s.Faults.Clear()
	s.WantUnchanged(t, before)
	s.Faults.On("TransactWriteItems").Times(2).Before(chaos.Throttle)
	if a := publish(); a.Status != http.StatusOK {
		t.Errorf("a table that is throttled twice answers %d %s", a.Status, a.Code())
	}
	throttled = s.Faults.On("BatchGetItem").Always().Before(chaos.Throttle)
	harness.WantRefused(t, harness.Do(t, g, "GET", s.Origins.API+"/v1/whoami", nil), 503, fault.DatabaseUnavailable)
	if throttled.Fired() != 3 {
		t.Errorf("the gates were read %d times", throttled.Fired())
	}
	s.Faults.Clear()
}

func TestF46TheLogTellsACounterOutOfReachFromAFullOne(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "counted")
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
			g := s.NewAgent(t) // no host holds permits of this one
			s.Faults.On("UpdateItem").If(chaos.Key("pk", tt.counter)).Always().Before(chaos.Throttle)
			logged := len(s.Log.String())
			a := harness.Do(t, g, "GET", tt.url, nil)
			s.Faults.Clear()
			if harness.WantRefused(t, a, 429, tt.code); harness.RetryAfter(t, a) > 5*time.Second {
				t.Errorf("Retry-After is %s", harness.RetryAfter(t, a))
			}
			wantLogged(t, s, logged, "ProvisionedThroughputExceeded")
			if a := harness.Do(t, g, "GET", tt.url, nil); a.Status != http.StatusOK {
				t.Errorf("when the counter is back it answers %d %s", a.Status, a.Code())
			}
		})
	}
}

// wantLogged waits for a word in the log; the line of a request may follow its answer.
func wantLogged(t testing.TB, s *harness.FaultEnv, from int, word string) {
	t.Helper()
	for ends := time.Now().Add(time.Minute); !strings.Contains(s.Log.String()[from:], word); runtime.Gosched() {
		if time.Now().After(ends) {
			t.Errorf("the log has no %s: %s", word, s.Log.String()[from:])
			return
		}
	}
}

// skewClock is what the engines say when our clock is off by more than 15 minutes.
func skewClock(service string) chaos.Action {
	if service == "S3" {
		return chaos.Fail(&smithy.GenericAPIError{
			Code:    "RequestTimeTooSkewed",
			Message: "The difference between the request time and the current time is too large.",
		})
	}
	return chaos.Fail(&smithy.GenericAPIError{Code: "InvalidSignatureException", Message: "Signature expired"})
}

func TestF19AClockThatIsFarOffIsRefusedByTheEngines(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "kept")
	u := s.Upload(t, g, "", "pending")
	before := s.Snapshot(t)
	s.Faults.On("").Service("DynamoDB").Always().Before(skewClock("DynamoDB"))
	harness.WantRefused(
		t, harness.Must(harness.Create(g, wire.NewKey(), wire.Declare("new", harness.Page("new"))))(t),
		503, fault.DatabaseUnavailable,
	)
	harness.WantRefused(t, s.Get(t, p.RevisionContentURL), 503, fault.DatabaseUnavailable)
	s.Faults.Clear()
	s.Faults.On("").Service("S3").Always().Before(skewClock("S3"))
	harness.WantRefused(
		t, harness.Must(harness.Finalize(g, wire.NewKey(), u.UploadSessionID))(t), 503, fault.StorageUnavailable,
	)
	harness.WantRefused(t, s.Get(t, p.RevisionContentURL), 503, fault.StorageUnavailable)
	s.Faults.Clear()
	s.WantUnchanged(t, before)
	harness.Must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
}
