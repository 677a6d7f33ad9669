package journey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// spread is what is read while it is moved.
type spread struct {
	owner  *claimant
	source source
	all    []contract.Published
	ids    []id.Artifact
}

// unclaimed publishes two artifacts that wait to be claimed.
func (s *claimStand) unclaimed(t testing.TB) *spread {
	t.Helper()
	s.clock.pass(time.Minute) // so that provisioning is open again
	w := &spread{owner: s.claimant(t), source: s.source(t)}
	for n := range 2 {
		w.all = append(w.all, published(t, w.source.Agent, fmt.Sprint("moved ", n)))
		w.ids = append(w.ids, w.all[n].ArtifactID)
	}
	return w
}

// spreads claims two artifacts, and gives each also a URL from after the claim.
func (s *claimStand) spreads(t testing.TB) *spread {
	t.Helper()
	w := s.unclaimed(t)
	s.claimed(t, w.owner, w.source.ClaimToken)
	for n := range w.all {
		w.all[n].PrivateURL = must(w.owner.AgentView(ctx, w.ids[n]))(t).RevisionContentURL
	}
	return w
}

// watch reads everything once: URLs from before and after the claim, the link, the owner's view, the list by pages.
func (s *claimStand) watch(w *spread) error {
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
			ask(s.anyone, "GET", url, nil)
		}
		ask(s.anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{PublicID: public, Blob: blob})
		ask(w.owner.Agent, "GET", s.Origins.API+"/v1/artifacts/"+string(p.ArtifactID)+"/agent-view", nil)
	}
	s.lists.RLock()
	seen, err := allListed(w.owner.Agent, 1)
	s.lists.RUnlock()
	slices.Sort(seen)
	want := slices.Sorted(slices.Values(w.ids))
	if err != nil || !slices.Equal(seen, want) {
		failed = append(failed, fmt.Errorf("the list shows %v, want %v (%w)", seen, want, err))
	}
	return errors.Join(failed...)
}

// watching reads everything over and over until the result is called, which tells how often.
func (s *claimStand) watching(t testing.TB, w *spread) (stop func() int) {
	t.Helper()
	end, rounds := make(chan struct{}), 0
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			if err := s.watch(w); err != nil {
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

// callsOfAMove are the calls of one whole move, in order.
func (s *claimStand) callsOfAMove(t testing.TB) (calls []string) {
	t.Helper()
	w := s.spreads(t)
	s.worn.On("").Always().Before(func(_ context.Context, c *chaos.Call) error {
		calls = append(calls, faultCall(c.Input))
		return nil
	})
	s.moves(t, w.source.WorkspaceID)
	s.worn.Clear()
	return calls
}

// TestF30AMigratorThatDiesAnywhereIsNotNoticed ends it before and after each of its calls, while everything is read over
// and over. Each death leaves sound tables, and another migrator ends the work.
func TestF30AMigratorThatDiesAnywhereIsNotNoticed(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	calls, rounds := s.callsOfAMove(t), 0
	for n, call := range calls {
		for when, crash := range map[string]func(*chaos.Rule){
			"before": func(r *chaos.Rule) { r.Nth(n + 1).Before(chaos.Crash) }, "after": func(r *chaos.Rule) { r.Nth(n + 1).After(chaos.Crash) },
		} {
			t.Run(fmt.Sprintf("%s call %d, %s", when, n+1, call), func(t *testing.T) {
				w := s.spreads(t)
				stop := s.watching(t, w)
				if !s.dies(w.source.WorkspaceID, crash) {
					t.Error("it did not die")
				}
				if err := s.watch(w); err != nil {
					t.Errorf("after its death: %v", err)
				}
				s.moves(t, w.source.WorkspaceID)
				rounds += stop()
				s.cleared(t, w)
			})
		}
	}
	t.Logf("%d calls, read %d times meanwhile", len(calls), rounds)
}

// TestF30TwoMigratorsDoNotDisturbEachOther has several move the same at once.
func TestF30TwoMigratorsDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	w := s.spreads(t)
	stop := s.watching(t, w)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				done, err := s.mover.Run(ctx, w.source.WorkspaceID)
				if err != nil {
					t.Error(err)
				}
				if done || err != nil {
					return
				}
				s.rests(200 * time.Millisecond)
			}
			t.Error("the move does not end")
		})
	}
	all.Wait()
	stop()
	s.cleared(t, w)
}

// TestTheMigratorFindsWhatIsDue leaves it to the due rows which workspaces wait, one of which cannot be read.
func TestTheMigratorFindsWhatIsDue(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	one, two := s.spreads(t), s.spreads(t)
	failing := s.worn.On("BatchGetItem").If(chaos.Key("pk", "W#"+string(one.source.WorkspaceID))).Before(chaos.Crash)
	process := chaos.Process(ctx)
	if _, err := s.mover.Due(process); err == nil || failing.Fired() != 1 {
		t.Errorf("a failing move is not reported: %v", err)
	}
	for range 3 {
		must(s.mover.Due(ctx))(t)
		s.clock.pass(6 * time.Second)
	}
	if r, err := s.mover.Due(ctx); r.More || err != nil {
		t.Errorf("something is left: %v", err)
	}
	s.cleared(t, one)
	s.cleared(t, two)
}

// cleared checks that everything is where it belongs, and nothing is left of the way there.
func (s *claimStand) cleared(t testing.TB, w *spread) {
	t.Helper()
	if err := s.watch(w); err != nil {
		t.Error(err)
	}
	for _, a := range w.ids {
		if got := must(s.store.Artifacts.Artifact(ctx, a))(t); got.Owner != w.owner.workspace {
			t.Errorf("%s says that it is in %s", a, got.Owner)
		}
	}
	for _, key := range [][2]string{
		{"W#" + string(w.owner.workspace), "ALIAS#" + string(w.source.WorkspaceID)}, {"JOB#MIGRATE#" + string(w.source.WorkspaceID), "J"},
		{"K#" + string(parsed(t, w.source.Agent).Public), "K"},
	} {
		if s.item(t, key[0], key[1]) != nil {
			t.Errorf("%s %s is left", key[0], key[1])
		}
	}
	if gate := s.item(t, "W#"+string(w.source.WorkspaceID), "META"); gate["ttl"] == nil || gate["into"] == nil {
		t.Errorf("the gate of the source is %v", gate)
	}
}

// TestTheInvariantsSeeABrokenClaim damages what a claim and a move leave.
func TestTheInvariantsSeeABrokenClaim(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	w := s.spreads(t)
	src, dest := "W#"+string(w.source.WorkspaceID), "W#"+string(w.owner.workspace)
	damage := func(name, pk, sk string, set map[string]any) {
		t.Run(name, func(t *testing.T) {
			whole := s.item(t, pk, sk)
			s.rewrite(t, s.names.Core, whole, set)
			s.sees(t, "I7")
			s.rewrite(t, s.names.Core, whole, map[string]any{})
		})
	}
	token := "CT#" + string(must(parsedClaim(w.source.ClaimToken))(t).Public)
	damage("an open fence", src, "FENCE#4", nil)
	damage("no alias", dest, "ALIAS#"+string(w.source.WorkspaceID), nil)
	damage("no job", "JOB#MIGRATE#"+string(w.source.WorkspaceID), "J", nil)
	damage("the token is not used up", token, "C", map[string]any{"redeemed": nil})
	damage("nobody has the destination", dest, "META", map[string]any{"claimed_at": nil})
	s.moves(t, w.source.WorkspaceID)
	damage("a straggler", "A#"+string(w.ids[0]), "META", map[string]any{"own": string(w.source.WorkspaceID)})
	if found := invariant.Check(ctx, s.inside()); len(found) > 0 {
		t.Error(found)
	}
}
