package journey

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// crashRoute is a request that changes something. prepare makes what it needs in a fresh workspace and returns it; a
// client sends it again with the same Idempotency-Key. done are the events in the workspace when it took effect once.
type crashRoute struct {
	name    string
	prepare func(*testing.T, *faultStand, *wire.Agent) func() wire.Answer
	done    map[string]int
}

const (
	madeWorkspace = "ephemeral.workspace.provisioned"
	madeSession   = "upload_session.created"
	madeDraft     = "revision.draft_created"
	madeArtifact  = "artifact.created"
	madePublic    = "artifact.published"
	madeGone      = "artifact.deleted"
	madeRevoked   = "api_key.revoked"
)

var crashRoutes = []crashRoute{
	{"create", crashCreate, map[string]int{madeWorkspace: 1, madeSession: 1}},
	{"create for an artifact", crashCreateRevision, map[string]int{madeWorkspace: 1, madeSession: 2, madeDraft: 1, madeArtifact: 1, madePublic: 1}},
	{"finalize", crashFinalize, map[string]int{madeWorkspace: 1, madeSession: 1, madeDraft: 1, madeArtifact: 1}},
	{"finalize a revision", crashFinalizeRevision, map[string]int{madeWorkspace: 1, madeSession: 2, madeDraft: 2, madeArtifact: 1, madePublic: 1}},
	{"finalize a diff", crashFinalizeDiff, map[string]int{madeWorkspace: 1, madeSession: 2, madeDraft: 2, madeArtifact: 1, madePublic: 1}},
	{"publish", crashPublish, map[string]int{madeWorkspace: 1, madeSession: 1, madeDraft: 1, madeArtifact: 1, madePublic: 1}},
	{"publish a revision", crashPublishRevision, map[string]int{madeWorkspace: 1, madeSession: 2, madeDraft: 2, madeArtifact: 1, madePublic: 2}},
	{"delete", crashDelete, map[string]int{madeWorkspace: 1, madeSession: 1, madeDraft: 1, madeArtifact: 1, madePublic: 1, madeGone: 1}},
	{"revoke", crashRevoke, map[string]int{madeWorkspace: 1, madeRevoked: 1}},
}

func crashCreate(t *testing.T, _ *faultStand, g *wire.Agent) func() wire.Answer {
	key := wire.NewKey()
	return func() wire.Answer { return tryCreate(t, g, key, wire.Declare("new", page("new"))) }
}

func crashCreateRevision(t *testing.T, _ *faultStand, g *wire.Agent) func() wire.Answer {
	key, r := wire.NewKey(), wire.Declare("next", page("next"))
	r.ArtifactID = published(t, g, "first").ArtifactID
	return func() wire.Answer { return tryCreate(t, g, key, r) }
}

// crashFinalize is about a file whose digest was not declared, so that it is read.
func crashFinalize(t *testing.T, _ *faultStand, g *wire.Agent) func() wire.Answer {
	key, r := wire.NewKey(), wire.Declare("new", page("new"))
	r.Files[0].SHA256 = ""
	u := must(g.Create(ctx, wire.NewKey(), r))(t)
	must(g.Put(ctx, u.Files[0], page("new").Body))(t)
	return func() wire.Answer { return tryFinalize(t, g, key, u.UploadSessionID) }
}

// crashFinalizeRevision is about a session that reuses bytes of the revision before.
func crashFinalizeRevision(t *testing.T, _ *faultStand, g *wire.Agent) func() wire.Answer {
	key, r := wire.NewKey(), wire.Declare("next", page("same"))
	r.ArtifactID = published(t, g, "same").ArtifactID
	u := must(g.Create(ctx, wire.NewKey(), r))(t)
	return func() wire.Answer { return tryFinalize(t, g, key, u.UploadSessionID) }
}

// crashFinalizeDiff is about a file that finalizing makes and stores itself.
func crashFinalizeDiff(t *testing.T, _ *faultStand, g *wire.Agent) func() wire.Answer {
	first := published(t, g, "first")
	key, r := wire.NewKey(), revision(first, "next")
	declared, diff := patched("index.html", string(page("first").Body), string(page("next").Body))
	r.Files = []contract.DeclaredFile{declared}
	u := must(g.Create(ctx, wire.NewKey(), r))(t)
	must(g.Put(ctx, u.Files[0], diff.Body))(t)
	return func() wire.Answer { return tryFinalize(t, g, key, u.UploadSessionID) }
}

func crashPublish(t *testing.T, s *faultStand, g *wire.Agent) func() wire.Answer {
	key, d := wire.NewKey(), s.blank(t, g, "")
	return func() wire.Answer { return tryPublish(t, g, key, d.ArtifactID, d.RevisionID, nil) }
}

func crashPublishRevision(t *testing.T, s *faultStand, g *wire.Agent) func() wire.Answer {
	key, d := wire.NewKey(), s.blank(t, g, published(t, g, "first").ArtifactID)
	return func() wire.Answer { return tryPublish(t, g, key, d.ArtifactID, d.RevisionID, nil) }
}

func crashDelete(t *testing.T, _ *faultStand, g *wire.Agent) func() wire.Answer {
	a := published(t, g, "gone").ArtifactID
	return func() wire.Answer { return tryDelete(t, g, a) }
}

func crashRevoke(t *testing.T, _ *faultStand, g *wire.Agent) func() wire.Answer {
	return func() wire.Answer { return do(t, g, "POST", g.At.APIURL+"/v1/api-keys/current/revoke", nil) }
}

// stamp is the call that tells when a key was used. Nobody waits for it long.
const stamp = "UpdateItem K K"

// TestF01F03F04F05ARequestThatDiesAtAnyCallCanBeRepeated ends the process before and after every AWS call of every
// request that changes something. The client hears nothing and asks again.
func TestF01F03F04F05ARequestThatDiesAtAnyCallCanBeRepeated(t *testing.T) {
	t.Parallel()
	for _, r := range crashRoutes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s := newFaultStand(t)
			for _, call := range r.calls(t, s) {
				r.dies(t, s, "before "+call, call, func(rule *chaos.Rule) { rule.Before(chaos.Crash) })
				r.dies(t, s, "after "+call, call, func(rule *chaos.Rule) { rule.After(chaos.Crash) })
			}
		})
	}
}

// calls are the AWS calls that the request makes.
func (r crashRoute) calls(t *testing.T, s *faultStand) []string {
	ask := r.prepare(t, s, s.agent(t))
	return s.calls(t, func() { r.took(t, ask()) })
}

// dies lets one request die at a call, asks again, and checks that it took effect once.
func (r crashRoute) dies(t *testing.T, s *faultStand, name, call string, crash func(*chaos.Rule)) {
	t.Run(name, func(t *testing.T) {
		s.clock.pass(time.Minute) // so that provisioning is open again
		g := s.agent(t)
		request, asked := r.prepare(t, s, g), 0
		ask := func() wire.Answer { asked++; return request() }
		budget := s.budget(t, g)
		rule := s.faults.On("").If(func(input any) bool { return faultCall(input) == call })
		crash(rule)
		lost := ask()
		if call != stamp && (rule.Fired() == 0 || lost.Status == http.StatusOK) {
			t.Errorf("the process did not die: %d", lost.Status)
		}
		s.revive()
		first := ask()
		if first.Code() == fault.IdempotencyInFlight {
			s.clock.pass(limits.FinalizeLease + time.Millisecond)
			first = ask()
		}
		if r.took(t, first); r.name != "revoke" {
			if again := ask(); r.took(t, again) != r.took(t, first) {
				t.Errorf("I8: one key gives %s and %s", first.Body, again.Body)
			}
		}
		if got := s.events(t, g); fmt.Sprint(got) != fmt.Sprint(r.done) {
			t.Errorf("it took effect as %v, want %v", got, r.done)
		}
		if spent := s.budget(t, g) - budget; spent > asked {
			t.Errorf("%d requests took %d units of the budget", asked, spent)
		}
		s.sound(t)
	})
}

// budget is what requests of an agent were counted as.
func (s *faultStand) budget(t testing.TB, g *wire.Agent) (units int) {
	t.Helper()
	for _, item := range s.all(t, s.names.Hot) {
		if name := text(item["pk"]); strings.HasPrefix(name, "r:actor:") && strings.Contains(name, string(parsed(t, g).Public)) {
			units += must(strconv.Atoi(text(item["c"])))(t)
		}
	}
	return units
}

// took checks a success and returns its ids. A key whose revocation was committed cannot ask again.
func (r crashRoute) took(t *testing.T, a wire.Answer) string {
	t.Helper()
	if a.Status != http.StatusOK && (r.name != "revoke" || a.Code() != fault.NotAuthenticated) {
		t.Errorf("%s answers %d %s (%s)", r.name, a.Status, a.Code(), a.Message())
	}
	var result struct {
		Session  id.Session  `json:"upload_session_id"`
		Artifact id.Artifact `json:"artifact_id"`
		Revision id.Revision `json:"revision_id"`
		Deleted  string      `json:"deleted_at"`
	}
	succeed(t, json.Unmarshal(a.Body, &result))
	return fmt.Sprint(result)
}

// TestF79AProvisionThatDiesLeavesAWorkspaceAsAWholeOrNone dies at every call of a request that has no key to repeat it.
func TestF79AProvisionThatDiesLeavesAWorkspaceAsAWholeOrNone(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t, func(o *stack.Options) { o.Limits.Pow = limits.PowAdaptive })
	provision := func() wire.Answer { return do(t, s.anyone, "POST", s.Origins.API+"/v1/ephemeral/provision", nil) }
	calls := s.calls(t, func() { provision() })
	for _, call := range calls {
		for when, action := range map[string]func(*chaos.Rule, ...chaos.Action) *chaos.Rule{"before": (*chaos.Rule).Before, "after": (*chaos.Rule).After} {
			s.clock.pass(time.Minute) // the gate's setting is read anew, and everybody may provision again
			before := s.count(t, s.names.Core, "W#")
			action(s.faults.On("").If(func(input any) bool { return faultCall(input) == call }), chaos.Crash)
			if lost := provision(); lost.Status == http.StatusCreated {
				t.Errorf("the process did not die %s %s", when, call)
			}
			s.revive()
			made := 0
			if when == "after" && call == "TransactWriteItems" {
				made = 1
			}
			if n := s.count(t, s.names.Core, "W#") - before; n != made {
				t.Errorf("%s %s: %d workspaces were made, want %d", when, call, n, made)
			}
			var p contract.Provisioned
			if a := provision(); a.Status != http.StatusCreated || json.Unmarshal(a.Body, &p) != nil || p.APIKeySecret == "" {
				t.Errorf("%s %s: the next one answers %d %s", when, call, a.Status, a.Code())
			}
			s.sound(t)
		}
	}
}
