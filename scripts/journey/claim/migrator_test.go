package claim

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// claimScenario is what is read while it is moved.
type claimScenario struct {
	owner  *harness.Claimant
	source harness.Source
	all    []contract.Published
	ids    []id.Artifact
}

// newUnclaimedScenario publishes two artifacts that wait to be claimed.
func newUnclaimedScenario(t testing.TB, s *harness.ClaimEnv) *claimScenario {
	t.Helper()
	s.Clock.Advance(time.Minute) // so that provisioning is open again
	w := &claimScenario{owner: s.NewClaimant(t), source: s.NewSource(t)}
	for n := range 2 {
		w.all = append(w.all, harness.PublishPage(t, w.source.Agent, fmt.Sprint("moved ", n)))
		w.ids = append(w.ids, w.all[n].ArtifactID)
	}
	return w
}

// newClaimScenario claims two artifacts, and gives each also a URL from after the claim.
func newClaimScenario(t testing.TB, s *harness.ClaimEnv) *claimScenario {
	t.Helper()
	w := newUnclaimedScenario(t, s)
	s.MustClaim(t, w.owner, w.source.ClaimToken)
	for n := range w.all {
		w.all[n].PrivateURL = harness.Must(w.owner.AgentView(ctx, w.ids[n]))(t).RevisionContentURL
	}
	return w
}

// readOnce reads in every way once: URLs from before and after the claim, the link, the owner's view, the list by
// pages.
func readOnce(s *harness.ClaimEnv, w *claimScenario) error {
	var failed []error
	ask := func(g *wire.Agent, method, target string, body any) {
		if a, err := g.Do(ctx, method, target, body); err != nil || a.Status != http.StatusOK {
			failed = append(failed, fmt.Errorf("%s answers %d %s %w", method, a.Status, a.Body, err))
		}
	}
	for _, p := range w.all {
		public, blob, err := wire.SplitLink(p.UnlistedURL)
		failed = append(failed, err)
		for _, url := range []string{p.RevisionContentURL, p.AgentViewURL, p.PrivateURL} {
			ask(s.Anyone, "GET", url, nil)
		}
		ask(s.Anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{PublicID: public, Blob: blob})
		ask(w.owner.Agent, "GET", s.Origins.API+"/v1/artifacts/"+string(p.ArtifactID)+"/agent-view", nil)
	}
	s.Lists.RLock()
	seen, err := harness.ListAllArtifacts(w.owner.Agent, 1)
	s.Lists.RUnlock()
	slices.Sort(seen)
	want := slices.Sorted(slices.Values(w.ids))
	if err != nil || !slices.Equal(seen, want) {
		failed = append(failed, fmt.Errorf("the list shows %v, want %v (%w)", seen, want, err))
	}
	return errors.Join(failed...)
}

// watchReads reads in every way again and again until stop is called, which returns how often.
func watchReads(t testing.TB, s *harness.ClaimEnv, w *claimScenario) (stop func() int) {
	t.Helper()
	end, rounds := make(chan struct{}), 0
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			if err := readOnce(s, w); err != nil {
				t.Error(err)
				return
			}
			rounds++
			select {
			case <-end:
				return
			default:
			}
		}
	})
	return func() int {
		close(end)
		reader.Wait()
		return rounds
	}
}

// migrationCalls are the calls of one whole move, in order.
func migrationCalls(t testing.TB, s *harness.ClaimEnv) []string {
	t.Helper()
	w := newClaimScenario(t, s)
	return harness.CallNames(s.JobFaults, func() { s.Migrate(t, w.source.WorkspaceID) })
}

// TestF30AMigratorThatDiesAnywhereIsNotNoticed ends it before and after each of its calls, while everything is read
// over and over. Each death leaves sound tables, and another migrator ends the work.
func TestF30AMigratorThatDiesAnywhereIsNotNoticed(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	calls, rounds := migrationCalls(t, s), 0
	for n, call := range calls {
		for when, crash := range map[string]func(*chaos.Rule){
			"before": func(r *chaos.Rule) { r.Nth(n + 1).Before(chaos.Crash) },
			"after":  func(r *chaos.Rule) { r.Nth(n + 1).After(chaos.Crash) },
		} {
			t.Run(fmt.Sprintf("%s call %d, %s", when, n+1, call), func(t *testing.T) {
				w := newClaimScenario(t, s)
				stop := watchReads(t, s, w)
				if !migratorDies(s, w.source.WorkspaceID, crash) {
					t.Error("it did not die")
				}
				if err := readOnce(s, w); err != nil {
					t.Errorf("after its death: %v", err)
				}
				s.Migrate(t, w.source.WorkspaceID)
				rounds += stop()
				wantCleared(t, s, w)
			})
		}
	}
	t.Logf("%d calls, read %d times meanwhile", len(calls), rounds)
}

// TestF30TwoMigratorsDoNotDisturbEachOther has several move the same at once.
func TestF30TwoMigratorsDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	w := newClaimScenario(t, s)
	stop := watchReads(t, s, w)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				done, err := s.Migrator.Run(ctx, w.source.WorkspaceID)
				if err != nil {
					t.Error(err)
				}
				if done || err != nil {
					return
				}
				s.Rest(200 * time.Millisecond)
			}
			t.Error("the move does not end")
		})
	}
	all.Wait()
	stop()
	wantCleared(t, s, w)
}

// TestTheMigratorFindsWhatIsDue leaves it to the due rows which workspaces wait, one of which cannot be read.
func TestTheMigratorFindsWhatIsDue(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	one, two := newClaimScenario(t, s), newClaimScenario(t, s)
	failing := s.JobFaults.On("BatchGetItem").If(chaos.Key("pk", "W#"+string(one.source.WorkspaceID))).Before(chaos.Crash)
	process := chaos.Process(ctx)
	if _, err := s.Migrator.Due(process); err == nil || failing.Fired() != 1 {
		t.Errorf("a failing move is not reported: %v", err)
	}
	for range 3 {
		harness.Must(s.Migrator.Due(ctx))(t)
		s.Clock.Advance(6 * time.Second)
	}
	if r, err := s.Migrator.Due(ctx); r.More || err != nil {
		t.Errorf("something is left: %v", err)
	}
	wantCleared(t, s, one)
	wantCleared(t, s, two)
}

// wantCleared checks that the move is complete and left no item of its own.
func wantCleared(t testing.TB, s *harness.ClaimEnv, w *claimScenario) {
	t.Helper()
	if err := readOnce(s, w); err != nil {
		t.Error(err)
	}
	for _, a := range w.ids {
		if got := harness.Must(s.Store.Artifacts.Artifact(ctx, a))(t); got.Owner != w.owner.Workspace {
			t.Errorf("%s says that it is in %s", a, got.Owner)
		}
	}
	for _, key := range [][2]string{
		{"W#" + string(w.owner.Workspace), "ALIAS#" + string(w.source.WorkspaceID)},
		{"JOB#MIGRATE#" + string(w.source.WorkspaceID), "J"},
		{"K#" + string(harness.TokenOf(t, w.source.Agent).Public), "K"},
	} {
		if s.GetItem(t, key[0], key[1]) != nil {
			t.Errorf("%s %s is left", key[0], key[1])
		}
	}
	if gate := s.GetItem(t, "W#"+string(w.source.WorkspaceID), "META"); gate["ttl"] == nil || gate["into"] == nil {
		t.Errorf("the gate of the source is %v", gate)
	}
}

// TestTheInvariantsSeeABrokenClaim damages what a claim and a move leave.
func TestTheInvariantsSeeABrokenClaim(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	w := newClaimScenario(t, s)
	src, dest := "W#"+string(w.source.WorkspaceID), "W#"+string(w.owner.Workspace)
	damage := func(name, pk, sk string, set map[string]any) {
		t.Run(name, func(t *testing.T) {
			whole := s.GetItem(t, pk, sk)
			s.RewriteItem(t, s.Tables.Core, whole, set)
			s.WantBreach(t, "I7")
			s.RewriteItem(t, s.Tables.Core, whole, map[string]any{})
		})
	}
	secret := harness.Must(credential.Parse(w.source.ClaimToken, credential.ClaimToken, credential.Preview))(t)
	token := "CT#" + string(secret.Public)
	damage("an open fence", src, "FENCE#4", nil)
	damage("no alias", dest, "ALIAS#"+string(w.source.WorkspaceID), nil)
	damage("no job", "JOB#MIGRATE#"+string(w.source.WorkspaceID), "J", nil)
	damage("the token is not used up", token, "C", map[string]any{"redeemed": nil})
	damage("nobody has the destination", dest, "META", map[string]any{"claimed_at": nil})
	s.Migrate(t, w.source.WorkspaceID)
	damage("a straggler", "A#"+string(w.ids[0]), "META", map[string]any{"own": string(w.source.WorkspaceID)})
	if found := invariant.Check(ctx, s.Deployment()); len(found) > 0 {
		t.Error(found)
	}
}
