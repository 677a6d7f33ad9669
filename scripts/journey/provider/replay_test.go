package provider

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
)

const askers = 20

// atOnce sends the same request many times at once and counts the answers by status and code.
func atOnce(t testing.TB, send func() (wire.Answer, error)) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	got := map[string]int{}
	for range askers {
		all.Go(func() {
			a, err := send()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			got[http.StatusText(a.Status)+" "+harness.ErrorOf(a)]++
		})
	}
	all.Wait()
	return got
}

// TestT15AnAssertionCountsOnce sends one twenty times at once: for a person who is let in, for one who is not known
// yet, and for a member who has to agree first.
func TestT15AnAssertionCountsOnce(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.Vouched(t, p.Identity.First, "known@example.org")
	p.SignedIn(t, "member@example.org")
	for email, once := range map[string]string{
		"known@example.org":  "OK ",
		"new@example.org":    "OK ",
		"member@example.org": "Unauthorized interaction_required",
	} {
		assertion := harness.Assertion(t, p.Identity.First, email)
		got := atOnce(t, func() (wire.Answer, error) { return p.TryPresent(assertion) })
		if got[once] != 1 || got["Bad Request replay_detected"] != askers-1 {
			t.Errorf("%s: %v", email, got)
		}
		wantError(t, "later", p.Present(t, assertion), http.StatusBadRequest, "replay_detected")
		p.Clock.Advance(idp.AssertionLife)
		wantError(t, "at its end", p.Present(t, assertion), http.StatusBadRequest, "replay_detected")
	}
}

// TestManyAssertionsOfANewPersonMakeOneMember sends different ones at once.
func TestManyAssertionsOfANewPersonMakeOneMember(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	assertions := make(chan string, askers)
	for range askers {
		assertions <- harness.Assertion(t, p.Identity.First, "new@example.org")
	}
	got := atOnce(t, func() (wire.Answer, error) { return p.TryPresent(<-assertions) })
	if got["OK "] != askers {
		t.Errorf("%v", got)
	}
	members := 0
	for _, item := range p.Scan(t, p.Tables.Core) {
		if item["sk"] != nil && strings.HasPrefix(harness.Text(item["sk"]), "MEM#") {
			members++
		}
	}
	workspaces := map[string]bool{}
	for range 3 {
		r := p.Vouched(t, p.Identity.First, "new@example.org")
		workspaces[string(whoami(t, p.Env, exchanged(t, p.Env, r)).Workspace.ID)] = true
	}
	if len(workspaces) != 1 || members != 1 {
		t.Errorf("the agents work in %d workspaces, and there are %d members", len(workspaces), members)
	}
}

// TestManyEventsAtOnceAreOne sends one event twenty times at once.
func TestManyEventsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	token := exchanged(t, p.Env, p.Vouched(t, p.Identity.First, "ada@example.org"))
	event := harness.Revocation(t, p.Identity.First, "ada@example.org")
	if got := atOnce(t, func() (wire.Answer, error) { return p.TryNotify(event) }); got["Accepted "] != askers {
		t.Errorf("%v", got)
	}
	wantDead(t, p.Env, token)
}
