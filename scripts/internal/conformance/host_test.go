//go:build conformance

package conformance

import (
	"bufio"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// proxied serves the MCP host of a deployment at an address at which every request has the token of a member, because
// the suite and the inspector have none.
func proxied(t *testing.T, p *harness.BackendEnv, who *harness.Member) string {
	t.Helper()
	return proxiedWith(t, p, p.GrantTo(t, who, id.Client("oc_conformance"), p.Origins.MCP).Key)
}

// proxiedWith does so with a token.
func proxiedWith(t *testing.T, p *harness.BackendEnv, token string) string {
	t.Helper()
	target := harness.Must(url.Parse(p.Origins.MCP))(t)
	s := httptest.NewUnstartedServer(nil)
	here := s.Listener.Addr().String()
	s.Config.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if r.In.Host != here {
			r.Out.Host = r.In.Host // another name has to be refused by the host
		}
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// The reasons of failures on the host: it does not offer what a scenario is about.
const (
	noTool     = `unknown tool "test_`
	noPrompt   = `unknown prompt "test_`
	noResource = "no such resource"
	noQuestion = "InputRequiredResult with"
	noHook     = "Not testable: server does not list the diagnostic tool"
)

// notApplicable are the scenarios that need tools, prompts and resources of a fixture, and that of a method that the
// host does not have.
var notApplicable = map[string]string{
	"server-stateless":                              noHook,
	"completion-complete":                           "method_not_found",
	"tools-call-simple-text":                        noTool,
	"tools-call-image":                              noTool,
	"tools-call-audio":                              noTool,
	"tools-call-embedded-resource":                  noTool,
	"tools-call-mixed-content":                      noTool,
	"tools-call-error":                              noTool,
	"tools-call-with-progress":                      noTool,
	"resources-read-text":                           noResource,
	"resources-read-binary":                         noResource,
	"resources-templates-read":                      noResource,
	"prompts-get-simple":                            noPrompt,
	"prompts-get-with-args":                         noPrompt,
	"prompts-get-embedded-resource":                 noPrompt,
	"prompts-get-with-image":                        noPrompt,
	"input-required-result-basic-elicitation":       noTool,
	"input-required-result-basic-sampling":          noTool,
	"input-required-result-basic-list-roots":        noTool,
	"input-required-result-request-state":           noTool,
	"input-required-result-multiple-input-requests": noTool,
	"input-required-result-multi-round":             noQuestion,
	"input-required-result-non-tool-request":        noPrompt,
	"input-required-result-result-type":             noTool,
	"input-required-result-tampered-state":          noQuestion,
	"input-required-result-capability-check":        noTool,
}

func TestScenariosThatNeedNoFixturePassOnTheHost(t *testing.T) {
	p := harness.NewBackendEnv(t, harness.Unlimited)
	at := proxied(t, p, p.NewMember(t))
	wantScore(t, runSuite(t, nil, "server", "--url", at, "--requirements", revision), 76, notApplicable)
	for scenario, passed := range map[string]int{ // which do not count for the revision
		"http-header-validation":      14,
		"sep-2640-skills-enumeration": 32,
		"sep-2640-skills-manifest":    6,
	} {
		if s := runScenario(t, at, scenario); s.failed > 0 || s.passed != passed {
			t.Errorf("%s: %+v; want %d", scenario, s, passed)
		}
	}
}

// TestTheAuthorizationServerPasses lets a person consent in the middle of the run.
func TestTheAuthorizationServerPasses(t *testing.T) {
	p := harness.NewBackendEnv(t, harness.Unlimited)
	port := freePort(t)
	var made contract.RegisteredClient
	harness.Decode(t, harness.Do(t, p.Anyone, "POST", p.Origins.API+"/oauth2/register", contract.RegisterClient{
		ClientName:   "Conformance suite",
		RedirectURIs: []string{"http://127.0.0.1:" + port + "/callback"},
	}), &made)
	person := p.SignedIn(t, "ada@example.org")
	r := runSuite(t, func(said io.Reader) { consent(t, person, said) }, "authorization", "--url", p.Origins.API,
		"--client-id", string(made.ClientID), "--port", port, "--resource", p.Origins.MCP)
	wantScore(t, r, 3, nil)
}

var (
	wayOut  = regexp.MustCompile(`^https?://\S+/oauth2/authorize\?\S+$`)
	wayBack = regexp.MustCompile(`<a class="button" href="([^"]+)">Back to the app</a>`)
)

// consent follows each address that the suite or a command prints for a person, and consents there.
func consent(t *testing.T, person *harness.FakeBrowser, said io.Reader) {
	for lines := bufio.NewScanner(said); lines.Scan(); {
		out := strings.TrimSpace(lines.Text())
		if !wayOut.MatchString(out) {
			continue
		}
		sent := harness.Do(t, person.Anyone, "GET", out, nil)
		at := harness.Must(url.Parse(sent.Header.Get("Location")))(t)
		allowed := person.Post(t, "/oauth/consent/allow", url.Values{"req": {at.Query().Get("req")}})
		found := wayBack.FindSubmatch(allowed.Body)
		if found == nil {
			t.Errorf("consenting answers %d %s", allowed.Status, allowed.Body)
			return
		}
		back, err := http.Get(html.UnescapeString(string(found[1])))
		if err != nil {
			t.Error(err)
			return
		}
		back.Body.Close()
	}
}

// freePort is a port of the loopback interface that nothing has.
func freePort(t *testing.T) string {
	t.Helper()
	l := harness.Must(net.Listen("tcp4", "127.0.0.1:0"))(t)
	l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
