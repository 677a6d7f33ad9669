// Package policies tests deployments whose owners decided something.
package policies

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

var ctx = context.Background()

// example is one of the policies of the documentation, with what people and agents get under it.
type example struct {
	file      string
	allowed   string   // an address that gets in
	refused   string   // one that does not; empty: there is none
	strangers bool     // may publish without an account
	reports   bool     // pages take reports of abuse
	days      int      // until an artifact ends that nobody chose a life for; 0: it does not end
	shown     []string // parts of each page
	loads     []string // hosts that pages may load from
	blocked   []string
}

var examples = []example{
	{
		file:      "public.json",
		allowed:   "anybody@example.org",
		strangers: true,
		reports:   true,
		days:      7,
		shown: []string{"Example Pages", "mailto:abuse@example.com", "https://example.com/terms",
			"https://example.com/privacy"},
		loads:   []string{"https://cdn.jsdelivr.net", "https://cdn.plot.ly", "https://tile.openstreetmap.org"},
		blocked: []string{"example.com"},
	},
	{
		file:    "company.json",
		allowed: "ada@example.com",
		refused: "eve@sub.example.com",
		days:    180,
		shown:   []string{"Example Reports", "mailto:it@example.com", "https://example.com/privacy", "/logo.svg"},
		loads:   []string{"https://cdn.jsdelivr.net", "https://assets.example.com", "https://*.images.example.com"},
		blocked: []string{"unpkg.com", "fonts.gstatic.com", "esm.sh"},
	},
	{
		file:    "person.json",
		allowed: "you@example.com",
		refused: "me@example.com",
		shown:   []string{"My pages"},
		loads:   []string{"https://cdn.jsdelivr.net"},
	},
}

// startExample starts a deployment with a policy of the documentation.
func startExample(t *testing.T, file string) *harness.BackendEnv {
	t.Helper()
	return start(t, filepath.Join("../../../docs/policies", file))
}

func start(t *testing.T, file string) *harness.BackendEnv {
	t.Helper()
	packed := harness.Must(policy.Load(file, policy.Deployment{}))(t).File
	packedFile := filepath.Join(t.TempDir(), "policy.json")
	harness.NoError(t, os.WriteFile(packedFile, packed, 0o600))
	return harness.NewBackendEnv(t, func(o *stack.Options) { o.PolicyFile = packedFile })
}

func TestTheExamplesHold(t *testing.T) {
	for _, x := range examples {
		t.Run(x.file, func(t *testing.T) {
			e := startExample(t, x.file)
			x.strangersGet(t, e)
			x.peopleGet(t, e)
		})
	}
}

// strangersGet holds what guests and agents without an account are told.
func (x example) strangersGet(t *testing.T, e *harness.BackendEnv) {
	t.Helper()
	for _, path := range []string{"/", "/nothing-here"} {
		x.wantShown(t, path, e.NewFakeBrowser().Get(t, path))
	}
	a := harness.Do(t, e.Anyone, "POST", e.Origins.API+"/v1/ephemeral/provision", contract.ProvisionRequest{})
	registered := harness.Do(t, e.Anyone, "POST", e.Origins.API+"/agent/identity", contract.RegisterAgent{Type: "anonymous"})
	if x.strangers {
		if a.Status != http.StatusCreated || registered.Status >= http.StatusBadRequest {
			t.Errorf("strangers get %d, agents %d %s", a.Status, registered.Status, registered.Body)
		}
		return
	}
	harness.WantRefused(t, a, http.StatusForbidden, fault.Forbidden)
	if registered.Status != http.StatusForbidden || !strings.Contains(string(registered.Body), `"access_denied"`) {
		t.Errorf("agents get %d %s", registered.Status, registered.Body)
	}
}

func (x example) wantShown(t *testing.T, what string, a wire.Answer) {
	t.Helper()
	for _, part := range x.shown {
		if !strings.Contains(string(a.Body), part) {
			t.Errorf("%s does not show %s", what, part)
		}
	}
	if got := strings.Contains(string(a.Body), `"/report`); got && !x.reports {
		t.Errorf("%s offers to report", what)
	}
}

// peopleGet holds what people who may sign in get, and those who may not.
func (x example) peopleGet(t *testing.T, e *harness.BackendEnv) {
	t.Helper()
	if x.refused != "" {
		b := e.NewFakeBrowser()
		a := b.SignIn(t, "/dashboard", x.refused)
		if a.Status != http.StatusForbidden || b.Cookies[harness.SessionCookie] != "" {
			t.Errorf("%s gets %d", x.refused, a.Status)
		}
		x.wantShown(t, "the refusal", a)
	}
	b := e.SignedIn(t, x.allowed)
	x.wantShown(t, "the overview", b.Get(t, "/dashboard"))
	member := keyOf(t, e, b)
	published, err := member.PublishFiles(ctx, "Report", "", harness.Page("words"))
	harness.NoError(t, err)
	end := limits.End(e.Options.Now(), limits.Forever)
	if x.days > 0 {
		end = e.Options.Now().Add(time.Duration(x.days) * limits.Day)
	}
	if got := published.ExpiresAt.Time; got.Before(end.Add(-time.Hour)) || got.After(end.Add(time.Hour)) {
		t.Errorf("the artifact ends at %v, want %v", got, end)
	}
	x.wantLoads(t, e, member, published)
}

// wantLoads holds that the policy of a page with running scripts names the hosts of the deployment.
func (x example) wantLoads(t *testing.T, e *harness.BackendEnv, member *wire.Agent, p contract.Published) {
	t.Helper()
	link := harness.ShareURL(t, member, p.ArtifactID)
	resolved := harness.Must(e.Anyone.Resolve(ctx, link))(t)
	a := e.Get(t, resolved.IframeSrc, "Sec-Fetch-Dest", "iframe")
	csp := a.Header.Get("Content-Security-Policy")
	for _, host := range x.loads {
		if !strings.Contains(csp, host) {
			t.Errorf("a page may not load from %s: %s", host, csp)
		}
	}
	for _, host := range x.blocked {
		if strings.Contains(csp, "//"+host) {
			t.Errorf("a page may load from %s: %s", host, csp)
		}
	}
}

// keyOf returns an agent that has a new API key of the person of a browser.
func keyOf(t *testing.T, e *harness.BackendEnv, b *harness.FakeBrowser) *wire.Agent {
	t.Helper()
	command := e.WithBearer(b.CLIToken(t).AccessToken)
	made := harness.Call[contract.CreatedKey](t, command, http.StatusCreated, "POST", "/v1/web/keys",
		contract.CreateKey{Name: "report"}, harness.KeyHeader()...)
	return e.WithBearer(made.Secret)
}
