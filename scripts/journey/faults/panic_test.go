package faults

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/limits"
)

// sendFunc sends a request.
type sendFunc func() (wire.Answer, error)

// panicRequests are requests of each host that start steps beside the request. A function makes what the request needs
// and returns it.
var panicRequests = map[string]func(*testing.T, *harness.FaultEnv, *wire.Agent) sendFunc{
	"whoami": func(_ *testing.T, _ *harness.FaultEnv, g *wire.Agent) sendFunc {
		return get(g, g.At.APIURL+"/v1/whoami")
	},
	"list": func(_ *testing.T, _ *harness.FaultEnv, g *wire.Agent) sendFunc {
		return get(g, g.At.APIURL+"/v1/artifacts")
	},
	"agent view": func(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) sendFunc {
		made := harness.PublishPage(t, g, "seen")
		return get(g, g.At.APIURL+"/v1/artifacts/"+string(made.ArtifactID)+"/agent-view")
	},
	"public agent view": func(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) sendFunc {
		return get(g, harness.PublishPage(t, g, "seen").AgentViewURL)
	},
	"content": func(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) sendFunc {
		return get(g, harness.PublishPage(t, g, "seen").RevisionContentURL)
	},
	"create": func(_ *testing.T, _ *harness.FaultEnv, g *wire.Agent) sendFunc {
		return func() (wire.Answer, error) {
			return harness.Create(g, wire.NewKey(), wire.Declare("new", harness.Page("new")))
		}
	},
	"finalize": func(t *testing.T, s *harness.FaultEnv, g *wire.Agent) sendFunc {
		session := s.Upload(t, g, "", "new")
		return func() (wire.Answer, error) { return harness.Finalize(g, wire.NewKey(), session.UploadSessionID) }
	},
	"provision": func(_ *testing.T, s *harness.FaultEnv, _ *wire.Agent) sendFunc {
		return func() (wire.Answer, error) {
			return s.Anyone.Do(ctx, "POST", s.Origins.API+"/v1/ephemeral/provision", nil)
		}
	},
	"authorize": func(_ *testing.T, s *harness.FaultEnv, _ *wire.Agent) sendFunc {
		return get(s.Anyone, s.Origins.API+"/oauth2/authorize?"+url.Values{
			"client_id":             {"cli"},
			"response_type":         {"code"},
			"redirect_uri":          {"http://127.0.0.1:1/callback"},
			"code_challenge":        {strings.Repeat("A", 43)},
			"code_challenge_method": {"S256"},
		}.Encode())
	},
	"overview": func(t *testing.T, s *harness.FaultEnv, _ *wire.Agent) sendFunc {
		member := s.SignedIn(t, "ada@example.org")
		return func() (wire.Answer, error) { return member.Try("GET", "/dashboard", nil) }
	},
	"tool": func(t *testing.T, s *harness.FaultEnv, _ *wire.Agent) sendFunc {
		who := s.GrantTo(t, s.NewMember(t), "oc_x", s.Origins.MCP)
		call := map[string]any{
			"jsonrpc": "2.0",
			"id":      1,
			"method":  "tools/call",
			"params":  map[string]any{"name": "list_artifacts", "arguments": map[string]any{}},
		}
		return func() (wire.Answer, error) {
			return who.Do(ctx, "POST", s.Origins.MCP, call, "Accept", "application/json, text/event-stream",
				"Content-Type", "application/json")
		}
	},
}

func get(g *wire.Agent, target string) sendFunc {
	return func() (wire.Answer, error) { return g.Do(ctx, "GET", target, nil) }
}

// TestAPanicInAnyCallEndsItsRequestAlone lets each AWS call of a request panic in turn, also those that are made beside
// the request. The answer is an internal error, unless the request does without the call, and the next request is served.
func TestAPanicInAnyCallEndsItsRequestAlone(t *testing.T) {
	t.Parallel()
	s := &harness.FaultEnv{BackendEnv: harness.NewAgentAuthEnv(t)} // the invariants know deployments of agents alone
	for name, prepare := range panicRequests {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for n := 1; ; n++ {
				s.Clock.Advance(limits.Default().Actor.Window) // permits of an earlier request are over
				send := prepare(t, s, s.NewAgent(t))
				planted := s.Faults.On("").Nth(n).Before(chaos.Run(func() { panic("planted") }))
				a := harness.Must(send())(t)
				fired := planted.Fired() > 0
				s.Faults.Clear()
				switch {
				case a.Status < 400 && !strings.Contains(string(a.Body), `"internal_error"`): // it does without the call
				case !fired:
					t.Fatalf("without a panic the request answers %d %s", a.Status, a.Body)
				default:
					failed++
					wantPlanted(t, s, n, a)
				}
				if !fired {
					break
				}
			}
			if failed < 2 {
				t.Errorf("%d calls are needed", failed)
			}
		})
	}
}

// wantPlanted wants the answer to a request whose call number n panicked, and its line in the log.
func wantPlanted(t *testing.T, s *harness.FaultEnv, n int, a wire.Answer) {
	t.Helper()
	request := a.Header.Get("X-Request-Id")
	isTool := a.Status == 200 // a failure of a tool is a result
	if request == "" || a.Status != 500 && !isTool || strings.Contains(string(a.Body), "planted") {
		t.Errorf("call %d: the answer is %d %s", n, a.Status, a.Body)
	}
	for line := range strings.Lines(s.Log.String()) {
		var logged struct {
			RequestID string `json:"request_id"`
			Level     string
			Error     string
			Stack     string
		}
		if json.Unmarshal([]byte(line), &logged) == nil && logged.RequestID == request && logged.Level == "ERROR" &&
			strings.Contains(logged.Error, "planted") && strings.Contains(logged.Stack, "panic_test.go") {
			return
		}
	}
	t.Errorf("call %d: no line of the log has the stack of request %s", n, request)
}
