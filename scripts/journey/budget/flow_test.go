package budget

import (
	"fmt"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// threeFiles is what an agent publishes mostly: a page with what it needs.
func threeFiles(version string) []wire.File {
	files := []wire.File{harness.Page(version)}
	for n := range 2 {
		files = append(files, wire.File{Path: fmt.Sprintf("table-%d.csv", n), Body: []byte(version + fmt.Sprint(n))})
	}
	return files
}

// publishFlow publishes files as a new artifact and returns what its three requests cost together.
func (l *budgetEnv) publishFlow(t *testing.T, g *wire.Agent, files []wire.File) (all budget) {
	t.Helper()
	count := func(name string) {
		t.Helper()
		s := l.lastCost(t)
		l.clock.Advance(time.Second)
		t.Logf("%-30s %s", name, budget{s.Calls, s.Trips, s.RRU, s.WRU})
		all = budget{all.calls + s.Calls, all.trips + s.Trips, all.rru + s.RRU, all.wru + s.WRU}
	}
	session := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("Report", files...)))(t)
	count("create")
	for n, target := range session.Files {
		harness.Must(g.Put(ctx, target, files[n].Body))(t)
	}
	harness.Must(g.Finalize(ctx, wire.NewKey(), session.UploadSessionID))(t)
	count("finalize")
	harness.Must(g.Publish(ctx, wire.NewKey(), session.ArtifactID, session.RevisionID))(t)
	count("publish")
	return all
}

// TestAPublicationAndItsAfterlifeStayWithinTheirBudget publishes three files with a key that was used before, and lets
// the jobs do all that falls due of them until nothing is left.
func TestAPublicationAndItsAfterlifeStayWithinTheirBudget(t *testing.T) {
	s := harness.NewJobEnv(t)
	l := &budgetEnv{Env: s.Env, clock: s.Clock, last: &lastAnswer{RoundTripper: s.Anyone.HTTP.Transport}}
	s.Anyone.HTTP.Transport = l.last
	g := s.NewAgent(t)
	lone := l.publishFlow(t, g, threeFiles("lone"))
	t.Logf("%-30s %s", "a lone flow with a new key", lone)
	flow := l.publishFlow(t, g, threeFiles("next"))
	t.Logf("%-30s %s", "the flow after it", flow)
	if flow.calls > flowBudget.calls || flow.wru > flowBudget.wru || flow.rru > flowBudget.rru {
		t.Errorf("a publication takes %s; the budget is %s", flow, flowBudget)
	}
	var sum float64
	for _, step := range []struct {
		name  string
		after time.Duration
		wru   float64
	}{
		{"its bytes can be found", 0, 5},
		{"it ends and is purged", limits.EphemeralArtifact, 20},
		{"its bytes are deleted", limits.CollectAfter, 3},
	} {
		s.Clock.Advance(step.after)
		counted, counts := meter.With(ctx)
		harness.NoError(t, s.Host.Run(counted))
		writes := map[string]int{}
		for _, c := range counts.List() {
			if c.WRU > 0 || c.Code != "" {
				writes[fmt.Sprintf("%s %g %s", c.Operation, c.WRU, c.Code)]++
			}
		}
		one := counts.WRU() / flows
		t.Logf("%-30s %g WRU of each, all writes: %v", step.name, one, writes)
		if one > step.wru {
			t.Errorf("until %s the jobs write %g, want at most %g", step.name, one, step.wru)
		}
		sum += one
		s.CheckInvariants(t)
	}
	if sum > afterlifeBudget || sum == 0 {
		t.Errorf("the afterlife of a publication takes %g WRU; the budget is %d", sum, afterlifeBudget)
	}
}

const (
	flows           = 2
	afterlifeBudget = 30
)

// flowBudget is the most that a publication of three files may ask for.
var flowBudget = budget{calls: 15, rru: 20, wru: 54}

var _ = contract.Published{}
