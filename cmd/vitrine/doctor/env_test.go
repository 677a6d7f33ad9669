package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/vault"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/manual"
)

const (
	secretPart = "secretsecretsecretsecretsecretsecret"
	apiKey     = "ap_pk_live_0123456789ABCDEF_" + secretPart
)

func TestMain(m *testing.M) {
	keyring.MockInitWithError(errors.New("not in tests"))
	os.Exit(m.Run())
}

// env is a deployment and a machine whose person is signed in and has the skill.
type env struct {
	Doctor
	t         *testing.T
	server    *httptest.Server
	transport *http.Transport
	home      string
	vars      map[string]string
	hosts     map[string]string // of discovery
	meta      map[string]any    // of the authorization server
	resource  map[string]any    // of the MCP host
	latest    string
	minimum   string
	date      func() time.Time
	replace   http.HandlerFunc // in place of the deployment

	mu    sync.Mutex
	calls []string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{
		t:        t,
		home:     t.TempDir(),
		hosts:    map[string]string{},
		meta:     map[string]any{},
		resource: map[string]any{},
		latest:   "0.2.0",
		minimum:  "0.1.0",
		date:     time.Now,
	}
	e.vars = map[string]string{"HOME": e.home}
	e.serve(httptest.NewServer)
	e.Caller = &client.Caller{
		HTTP:      client.NewHTTP(),
		UserAgent: "vitrine/0.2.0 (test; test)",
		RequestID: "cli_0123456789",
		Patience:  client.RetryPolicy{MaxAttempts: 1},
		Note:      func(string, ...any) {},
	}
	e.transport = e.Caller.HTTP.Transport.(*http.Transport)
	e.transport.Proxy = nil
	e.transport.DisableKeepAlives = true
	e.Vault = &vault.Vault{
		Dir:      filepath.Join(e.home, ".config", "vitrine"),
		Warn:     func(string, ...any) {},
		Deadline: time.Second,
	}
	e.Env = func(name string) string { return e.vars[name] }
	e.Now, e.Version = time.Now, "0.2.0"
	e.signIn(e.Server)
	e.write(".agents/skills/vitrine/SKILL.md", manual.New(manual.Anywhere()).Skill)
	return e
}

// serve starts the deployment anew.
func (e *env) serve(start func(http.Handler) *httptest.Server) {
	e.server = start(e)
	e.t.Cleanup(e.server.Close)
	e.Server = e.server.URL
}

// signIn stores a login for a server.
func (e *env) signIn(server string, changes ...func(*vault.Record)) {
	e.t.Helper()
	ends := time.Now().Add(24 * time.Hour)
	r := &vault.Record{
		BaseURL:      server,
		APIURL:       server,
		UploadURL:    server,
		APIKey:       apiKey,
		PublicID:     "0123456789ABCDEF",
		KeyID:        "key_00000000000000000000000004",
		MemberEmail:  "ada@example.org",
		ExpiresAt:    &ends,
		RefreshToken: "ap_rt_live_0123456789ABCDEF_" + secretPart,
	}
	for _, change := range changes {
		change(r)
	}
	expect.Value(e.Vault.Update(e.t.Context(), server, func(*vault.Record) (*vault.Record, error) { return r, nil }))(e.t)
}

// signOut removes the login of a server.
func (e *env) signOut() {
	e.t.Helper()
	none := func(*vault.Record) (*vault.Record, error) { return nil, nil }
	expect.Value(e.Vault.Update(e.t.Context(), e.Server, none))(e.t)
}

// write writes a file below the home.
func (e *env) write(name, text string) {
	e.t.Helper()
	name = filepath.Join(e.home, name)
	expect.OK(e.t, os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600))
}

// ServeHTTP answers as the api host and the MCP host do.
func (e *env) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	e.calls = append(e.calls, r.Method+" "+r.URL.Path)
	e.mu.Unlock()
	w.Header().Set("Date", e.date().UTC().Format(http.TimeFormat))
	if e.replace != nil {
		e.replace(w, r)
		return
	}
	w.Header().Set(manual.VersionHeader, manual.New(manual.Anywhere()).Version())
	api := e.Server
	answer := map[string]any{}
	switch r.URL.Path {
	case "/.well-known/vitrine":
		for _, name := range []string{"api_url", "upload_url", "content_url", "app_url"} {
			answer[name] = api
		}
		answer["mcp_url"] = api + "/mcp"
		for name, value := range e.hosts {
			answer[name] = value
		}
	case "/.well-known/oauth-authorization-server":
		answer["issuer"] = api
		for _, name := range []string{"authorization", "token", "revocation", "device_authorization"} {
			answer[name+"_endpoint"] = api + "/oauth2/" + name
		}
		answer["code_challenge_methods_supported"] = []string{"S256"}
		maps.Copy(answer, e.meta)
	case "/mcp/.well-known/oauth-protected-resource":
		answer["resource"], answer["authorization_servers"] = api+"/mcp", []string{api}
		maps.Copy(answer, e.resource)
	case "/v1/public/cli-version":
		answer["latest"], answer["min_supported"] = e.latest, e.minimum
	case "/v1/whoami":
		if r.Header.Get("Authorization") != "Bearer "+apiKey {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"code":"not_authenticated","message":"no"}}`)
			return
		}
		answer["workspace"] = map[string]string{"name": "Team"}
	default:
		http.NotFound(w, r)
		return
	}
	json.NewEncoder(w).Encode(answer)
}

// called returns what was asked of the deployment.
func (e *env) called() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// examine runs all checks. It fails if a finding holds a secret, or if anything but GET was asked.
func (e *env) examine() []Finding {
	e.t.Helper()
	all := e.Examine(context.Background())
	text := expect.Value(json.Marshal(all))(e.t)
	if strings.Contains(string(text), secretPart) {
		e.t.Errorf("a secret is shown: %s", text)
	}
	for _, call := range e.called() {
		if !strings.HasPrefix(call, "GET ") || strings.Contains(call, "register") {
			e.t.Errorf("it calls %s", call)
		}
	}
	return all
}

// wantFinding expects a finding of a check.
func wantFinding(t *testing.T, all []Finding, check string, s State, message, next string) {
	t.Helper()
	i := slices.IndexFunc(all, func(f Finding) bool {
		return f.Check == check && f.State == s && strings.Contains(f.Message, message) && strings.Contains(f.Next, next)
	})
	if i < 0 || s != OK && all[i].Next == "" {
		t.Errorf("no line %s %s %q, next %q, in:\n%+v", check, s, message, next, all)
	}
}

// certified serves with a certificate for a host, from one time from now to another, and lets the machine trust it.
func (e *env) certified(host string, from, ends time.Duration) {
	e.t.Helper()
	key := expect.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(e.t)
	c := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "Test"},
		DNSNames:              []string{host},
		NotBefore:             time.Now().Add(from),
		NotAfter:              time.Now().Add(ends),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		c.DNSNames, c.IPAddresses = nil, []net.IP{ip}
	}
	made := expect.Value(x509.CreateCertificate(rand.Reader, c, c, key.Public(), key))(e.t)
	e.serve(func(h http.Handler) *httptest.Server {
		s := httptest.NewUnstartedServer(h)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{made}, PrivateKey: key}}}
		s.StartTLS()
		return s
	})
	pool := x509.NewCertPool()
	pool.AddCert(expect.Value(x509.ParseCertificate(made))(e.t))
	e.transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	e.signIn(e.Server)
}
