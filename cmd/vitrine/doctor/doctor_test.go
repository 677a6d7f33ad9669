package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vitrine/cmd/vitrine/vault"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/manual"
)

func TestAHealthyMachineIsTold(t *testing.T) {
	e := newEnv(t)
	e.certified("127.0.0.1", -time.Hour, 100*24*time.Hour)
	e.transport.Proxy = http.ProxyFromEnvironment // never for this machine itself
	e.More = []Check{func(context.Context) []Finding { return []Finding{found("agent", OK, "it is there")} }}
	all := e.examine()
	if Count(all, OK) != len(all) {
		t.Errorf("%+v, want nothing but ok", all)
	}
	for check, message := range map[string]string{
		"proxy":   "no proxy is set for " + e.Server,
		"server":  "Vitrine answers at " + e.Server,
		"tls":     "is valid until ",
		"clock":   "is right",
		"version": "vitrine 0.2.0 is the newest version",
		"sign-in": "apps register there",
		"mcp":     e.Server + "/mcp",
		"login":   "the login of ada@example.org, until ",
		"skill":   "has version ",
		"agent":   "it is there",
	} {
		wantFinding(t, all, check, OK, message, "")
	}
	e.meta["client_id_metadata_document_supported"] = true
	wantFinding(t, e.examine(), "sign-in", OK, "or name themselves by a document", "")
}

// situations are machines and deployments of which something is wrong, and the line that says it.
var situations = map[string]struct {
	spoil         func(e *env)
	check         string
	state         State
	message, next string
}{
	"no server": {func(e *env) { e.server.Close() },
		"server", Wrong, "no program listens at 127.0.0.1:", "vitrine config get url"},
	"no such host": {func(e *env) {
		e.Server = "https://vitrine.test"
		e.dials(&net.DNSError{Name: "vitrine.test", Err: "no such host", IsNotFound: true})
	}, "server", Wrong, "there is no host vitrine.test", "vitrine config get url"},
	"a server that hangs": {func(e *env) {
		gone := make(chan struct{})
		e.t.Cleanup(func() { close(gone) })
		e.replace = func(http.ResponseWriter, *http.Request) { <-gone }
		e.transport.ResponseHeaderTimeout = 50 * time.Millisecond
	}, "server", Wrong, "does not answer in time", "that the server runs"},
	"a connection that breaks": {func(e *env) {
		e.replace = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	}, "server", Wrong, "gives no answer", "that the server runs"},
	"another site": {func(e *env) {
		e.replace = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>Welcome</h1>") }
	}, "server", Wrong, "it is not JSON of the expected form", "names a Vitrine server"},
	"another program": {func(e *env) { e.replace = http.NotFound },
		"server", Wrong, "answers 404 Not Found, which is not Vitrine", "vitrine config get url"},
	"plain HTTP elsewhere": {func(e *env) {
		at := e.server.Listener.Addr().String()
		e.Server = "http://192.0.2.1:8701"
		e.transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, at)
		}
	}, "server", Wrong, "plain HTTP would let others", "https"},
	"a certificate of its own": {func(e *env) { e.serve(httptest.NewTLSServer) },
		"tls", Wrong, "which this machine does not trust", "SSL_CERT_FILE=FILE"},
	"an expired certificate": {func(e *env) { e.certified("127.0.0.1", -48*time.Hour, -time.Hour) },
		"tls", Wrong, "ended on 20", "correct the clock of this machine; else"},
	"a certificate of tomorrow": {func(e *env) { e.certified("127.0.0.1", time.Hour, 48*time.Hour) },
		"tls", Wrong, "begins on 20", "correct the clock of this machine; else"},
	"a certificate that ends soon": {func(e *env) { e.certified("127.0.0.1", -time.Hour, 48*time.Hour) },
		"tls", Warning, "is valid until 20", "renew"},
	"a certificate of another host": {func(e *env) { e.certified("other.test", -time.Hour, time.Hour) },
		"tls", Wrong, "is for another host: other.test", "vitrine config get url"},
	"https where there is none": {func(e *env) { e.Server = "https://" + e.server.Listener.Addr().String() },
		"tls", Wrong, "does not speak TLS", "http://"},
	"a clock 10 minutes ahead": {func(e *env) { e.date = func() time.Time { return time.Now().Add(-10 * time.Minute) } },
		"clock", Wrong, "s ahead of that of the server", "by the network"},
	"a clock 10 minutes behind": {func(e *env) { e.date = func() time.Time { return time.Now().Add(10 * time.Minute) } },
		"clock", Wrong, "s behind that of the server", "by the network"},
	"a clock 2 minutes behind": {func(e *env) { e.date = func() time.Time { return time.Now().Add(2 * time.Minute) } },
		"clock", Warning, "s behind that of the server", "by the network"},
	"a proxy that refuses": {func(e *env) {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProxyAuthRequired)
		}))
		e.t.Cleanup(proxy.Close)
		e.through("https://vitrine.test", proxy.URL)
	}, "proxy", Wrong, "does not connect to vitrine.test: 407", "Set NO_PROXY=vitrine.test"},
	"a proxy that is gone": {func(e *env) {
		e.server.Close()
		e.through("https://vitrine.test", e.server.URL)
	}, "proxy", Wrong, "(https_proxy) does not answer", "Set NO_PROXY=vitrine.test"},
	"a proxy that answers": {func(e *env) {
		e.replace = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
		e.through("http://vitrine.test", e.server.URL)
	}, "server", Wrong, "403 Forbidden, which is not Vitrine, or the answer of the proxy 127", "vitrine config get url"},
	"an address that is no proxy's": {func(e *env) {
		e.transport.Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("invalid: " + secretPart) }
	}, "proxy", Wrong, "HTTP_PROXY is not the address of a proxy", "unset it"},
	"another authorization server": {func(e *env) { e.meta["issuer"] = "https://other.test" },
		"sign-in", Wrong, "its authorization server is another one", "similar versions"},
	"an MCP host of others": {func(e *env) { e.resource["authorization_servers"] = []string{"https://other.test"} },
		"mcp", Wrong, "does not say that its clients sign in at", "whoever runs the server"},
	"an MCP host that is away": {func(e *env) { e.hosts["mcp_url"] = "http://127.0.0.1:1" },
		"mcp", Wrong, "the MCP host http://127.0.0.1:1 gives no answer", "whoever runs the server"},
	"an old version": {func(e *env) { e.latest = "0.10.0" },
		"version", Warning, "this is vitrine 0.2.0, and the server has 0.10.0", "vitrine upgrade"},
	"a version of long ago": {func(e *env) { e.latest, e.minimum = "0.10.0", "0.3.0" },
		"version", Wrong, "it supports 0.3.0 and later", "vitrine upgrade"},
	"signed out": {(*env).signOut, "login", Warning, "nobody is signed in at http://127.0.0.1", "vitrine login"},
	"a login of another deployment": {func(e *env) { e.signOut(); e.signIn("https://other.test") },
		"login", Warning, "there are logins for https://other.test", "vitrine config set url https://other.test"},
	"a login that was revoked": {func(e *env) {
		e.signIn(e.Server, func(r *vault.Record) { r.APIKey = apiKey + "x" })
	}, "login", Wrong, "is refused by the server", "vitrine login"},
	"a login that ended": {func(e *env) {
		e.signIn(e.Server, func(r *vault.Record) { *r.ExpiresAt = time.Now().Add(-time.Hour) })
	}, "login", Wrong, "the login of ada@example.org ended on 20", "vitrine login"},
	"a server that moved": {func(e *env) {
		e.signIn(e.Server, func(r *vault.Record) { r.APIURL = "https://before.test" })
	}, "login", Wrong, "is for https://before.test, and http://127.0.0.1", "vitrine login"},
	"a login without a server": {func(e *env) { e.server.Close() },
		"login", Warning, "cannot be tried without the server", "again once the server answers"},
	"a key that is none": {func(e *env) { e.vars["VITRINE_API_KEY"] = "sk-" + secretPart },
		"login", Wrong, "does not hold an API key; it was not sent", "unset it"},
	"a key that was revoked": {func(e *env) { e.vars["VITRINE_API_KEY"] = apiKey + "x" },
		"login", Wrong, "the API key in VITRINE_API_KEY is refused", "or unset it"},
	"logins that others read": {func(e *env) { expect.OK(e.t, os.Chmod(e.Vault.Path(), 0o644)) },
		"storage", Warning, "others on this machine could read the logins", "vitrine logout, then vitrine login"},
	"logins that are cut off": {func(e *env) { expect.OK(e.t, os.Truncate(e.Vault.Path(), 40)) },
		"storage", Wrong, "is not JSON of the expected form", "XDG_CONFIG_HOME"},
	"a stale skill": {func(e *env) {
		p := manual.Anywhere()
		p.Limits.Actor.Limit++
		e.write(".agents/skills/vitrine/SKILL.md", manual.New(p).Skill)
	}, "skill", Warning, ", and the server has ", "vitrine connect --skill"},
	"half a folder of the skill": {func(e *env) {
		expect.OK(e.t, os.Remove(filepath.Join(e.home, ".agents/skills/vitrine/SKILL.md")))
	}, "skill", Wrong, "has no SKILL.md that can be read", "vitrine connect --skill"},
	"a skill that is cut off": {func(e *env) {
		expect.OK(e.t, os.Truncate(filepath.Join(e.home, ".agents/skills/vitrine/SKILL.md"), 2000))
	}, "skill", Warning, "is cut off, or somebody has changed it", "Move it away, then: vitrine connect --skill"},
	"a skill without its head": {func(e *env) { e.write(".agents/skills/vitrine/SKILL.md", "---\nname: vitrine\n") },
		"skill", Wrong, "is cut off before its version", "Move it away"},
	"a link that leads nowhere": {func(e *env) {
		expect.OK(e.t, os.MkdirAll(filepath.Join(e.home, ".claude/skills"), 0o700),
			os.Symlink("../../gone", filepath.Join(e.home, ".claude/skills/vitrine")))
	}, "skill", Wrong, ".claude/skills/vitrine has no SKILL.md", "vitrine connect --skill"},
}

func TestEachBrokenSituationHasItsLine(t *testing.T) {
	for name, s := range situations {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			s.spoil(e)
			wantFinding(t, e.examine(), s.check, s.state, s.message, s.next)
		})
	}
}

// dials makes all connections fail.
func (e *env) dials(err error) {
	e.transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, err }
}

// through sends requests for a server through a proxy that wants a password.
func (e *env) through(server, proxy string) {
	e.Server = server
	u := expect.Value(url.Parse(proxy))(e.t)
	u.User = url.UserPassword("ada", secretPart)
	e.transport.Proxy = http.ProxyURL(u)
	e.vars["https_proxy"] = u.String()
}

func TestWhatIsNotThereIsNotWrong(t *testing.T) {
	e := newEnv(t)
	e.Version = "0.2.0-dev"
	e.vars["HTTP_PROXY"] = "http://proxy.test"
	e.transport.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	expect.OK(t, os.RemoveAll(filepath.Join(e.home, ".agents")))
	e.hosts["mcp_url"] = ""
	all := e.examine()
	wantFinding(t, all, "version", OK, "this is vitrine 0.2.0-dev, and the server has 0.2.0", "")
	wantFinding(t, all, "proxy", OK, "HTTP_PROXY does not apply to http://127.0.0.1", "")
	wantFinding(t, all, "skill", OK, "no agent of this user has the skill", "vitrine connect --skill")
	wantFinding(t, all, "mcp", OK, "the deployment has no MCP host", "")
	if n := Count(all, OK); n != len(all) {
		t.Errorf("%+v", all)
	}
}

func TestOneCopyOfTheSkillIsOneLine(t *testing.T) {
	e := newEnv(t)
	expect.OK(t, os.MkdirAll(filepath.Join(e.home, ".claude/skills"), 0o700),
		os.Symlink("../../.agents/skills/vitrine", filepath.Join(e.home, ".claude/skills/vitrine")))
	lines := 0
	for _, f := range e.examine() {
		if f.Check == "skill" {
			lines++
		}
	}
	if lines != 1 {
		t.Errorf("the skill has %d lines", lines)
	}
}

// TestWithoutAServerTheMachineIsLookedAt is for an address that cannot be read.
func TestWithoutAServerTheMachineIsLookedAt(t *testing.T) {
	e := newEnv(t)
	e.Server = ""
	all := e.examine()
	wantFinding(t, all, "version", OK, "this is vitrine 0.2.0", "")
	wantFinding(t, all, "skill", OK, "has version ", "")
	if calls := e.called(); len(calls) > 0 || len(all) != 2 {
		t.Errorf("%+v after %v", all, calls)
	}
}
