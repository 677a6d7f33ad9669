package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/output"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/policy"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
	"vitrine/shared/publishing/upload"
	"vitrine/shared/publishing/view"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// accessToken is what the members of a test have.
const accessToken = "ap_at_test"

// env is an MCP host with services that a test sets. The others panic when they are called.
type env struct {
	*Host
	members   *fakeMembers
	limiter   *fakeLimiter
	account   *fakeAccount
	artifacts *fakeArtifacts
	edits     *fakeEdits
	uploads   *fakeUploads
	views     *fakeViews
	links     *fakeLinks

	url      string // of the running host
	log      *output.Buffer
	artifact *artifact.Artifact // of the member's workspace
}

// newEnv starts a host with a member who has one private artifact and both scopes.
func newEnv(t *testing.T) *env {
	t.Helper()
	confirmations, err := keyring.New().Pepper.Derive("mcp confirmation")
	if err != nil {
		t.Fatal(err)
	}
	w := workspace.Workspace{ID: id.NewWorkspace(), Name: "Harbour lab"}
	m := member.Member{ID: id.NewMember(), Workspace: w.ID, Email: "lin@example.com"}
	e := &env{
		log: &output.Buffer{},
		artifact: &artifact.Artifact{
			ID:        id.NewArtifact(),
			Owner:     w.ID,
			Status:    artifact.Live,
			Title:     "Seals",
			Current:   id.NewRevision(),
			Number:    1,
			ExpiresAt: noon.Add(3 * limits.Day),
		},
		limiter:   &fakeLimiter{},
		account:   &fakeAccount{},
		artifacts: &fakeArtifacts{},
		edits:     &fakeEdits{},
		uploads:   &fakeUploads{},
		views:     &fakeViews{},
		links:     &fakeLinks{},
	}
	e.members = &fakeMembers{
		actor: credential.Actor{
			Member:    m.ID,
			Workspace: w,
			Scopes:    []credential.Scope{credential.Publish, credential.Read},
		},
		member:    m,
		artifacts: []*artifact.Artifact{e.artifact},
	}
	numbers := limits.Default()
	e.Host = &Host{
		Surface: &web.Server{Log: slog.New(slog.NewJSONHandler(e.log, nil))},
		Origins: address.Origins{
			API:     "https://api.test",
			Upload:  "https://upload.test",
			Content: "https://content.test",
			App:     "https://app.test",
			MCP:     "https://mcp.test",
		},
		Members:       e.members,
		Limiter:       e.limiter,
		Confirmations: confirmations,
		Now:           func() time.Time { return noon },
		Limits:        &numbers,
		Loads:         media.Running(),
		Account:       e.account,
		Artifacts:     e.artifacts,
		Edits:         e.edits,
		Uploads:       e.uploads,
		Views:         e.views,
		Links:         e.links,
	}
	e.Manual = manualOf(e.Host, "")
	e.serve(t)
	return e
}

// manualOf returns the manual of a host with a name.
func manualOf(h *Host, name string) manual.Manual {
	p := policy.Default(true)
	p.Loads, p.Brand.Name = h.Loads, name
	return manual.New(manual.Deployment{Origins: h.Origins, Policy: p, Limits: h.Limits})
}

// serve starts the host as it is now.
func (e *env) serve(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(e.Handler())
	t.Cleanup(server.Close)
	e.url = server.URL
}

// client connects the client of the SDK, which speaks the newest revision of the protocol unless version names another.
func (e *env) client(t *testing.T, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	var session *mcp.ClientSessionOptions
	if version != "" {
		session = &mcp.ClientSessionOptions{ProtocolVersion: version}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&mcp.StreamableClientTransport{
			Endpoint:             e.url,
			HTTPClient:           &http.Client{Transport: bearing{}},
			DisableStandaloneSSE: true,
		}, session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// bearing adds the token to every request.
type bearing struct{}

// RoundTrip implements http.RoundTripper.
func (bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+accessToken)
	return http.DefaultTransport.RoundTrip(r)
}

// rpcAnswer is an answer as it came.
type rpcAnswer struct {
	Status int
	Header http.Header
	Body   []byte
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// post sends a body with the token. Further headers are pairs of a name and a value.
func (e *env) post(t *testing.T, body string, headers ...string) (a rpcAnswer) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+accessToken)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	a.Status, a.Header = res.StatusCode, res.Header
	if a.Body, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &a); err != nil {
			t.Fatalf("%s: %.300s", err, a.Body)
		}
	}
	return a
}

// ask calls a method as a client of 2025-06-18 does.
func (e *env) ask(t *testing.T, method string, params any) rpcAnswer {
	t.Helper()
	return e.post(t, message(t, method, params), "MCP-Protocol-Version", "2025-06-18")
}

// askNew calls a method as a client of 2026-07-28 does.
func (e *env) askNew(t *testing.T, method string, params map[string]any) rpcAnswer {
	t.Helper()
	all := map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}}
	headers := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	for name, value := range params {
		all[name] = value
		if text, ok := value.(string); ok && (name == "name" || name == "uri") {
			headers = append(headers, "Mcp-Name", text)
		}
	}
	return e.post(t, message(t, method, all), headers...)
}

// message is a JSON-RPC request.
func message(t *testing.T, method string, params any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0",
		"id":      1,
		"method":  method,
		"params":  params,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// decoded is JSON as a value.
func decoded[T any](t *testing.T, body []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%s: %.300s", err, body)
	}
	return v
}

// fakeMembers lets one member in by one token.
type fakeMembers struct {
	mu        sync.Mutex
	actor     credential.Actor
	member    member.Member
	artifacts []*artifact.Artifact
	session   *upload.Session
	entries   []upload.Entry
	record    *idempotency.Record
	fail      error
	asked     []access.Request // in order
}

// Authenticate implements Members.
func (m *fakeMembers) Authenticate(
	_ context.Context, bearer string, w access.Request, requestID string,
) (access.Authenticated, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, w)
	if m.fail != nil || bearer != accessToken {
		return access.Authenticated{}, cmp.Or(m.fail, error(fault.NewCode(fault.NotAuthenticated)))
	}
	out := access.Authenticated{Actor: m.actor, Member: &m.member, Record: m.record}
	out.Actor.RequestID = requestID
	for _, a := range m.artifacts {
		if a.ID == w.Artifact {
			out.Artifact = a
		}
	}
	if m.session != nil && m.session.ID == w.Session {
		out.Session, out.Entries = m.session, m.entries
	}
	return out, nil
}

// fakeLimiter counts and refuses as it is told.
type fakeLimiter struct {
	mu      sync.Mutex
	counted int
	fail    error
}

// Actor implements Limiter.
func (l *fakeLimiter) Actor(context.Context, id.Workspace, string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counted++
	return l.fail
}

// calls returns how many calls were counted.
func (l *fakeLimiter) calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counted
}

// What a test does not set panics.
type (
	fakeAccount struct {
		delegate func(credential.Actor, member.Member) contract.MCPWhoami
	}
	fakeArtifacts struct {
		Artifacts
		list   func(artifact.Page) ([]artifact.Artifact, string, error)
		delete func(artifact.Target) (time.Time, error)
	}
	fakeEdits struct {
		Edits
		publish func(r edit.Request, title string, t edit.Text) (edit.Result, error)
		revise  func(r edit.Request, a *artifact.Artifact, named id.Artifact, t edit.Text) (edit.Result, error)
		finish  func(r edit.Request, s *upload.Session, e []upload.Entry) (edit.Result, error)
	}
	fakeUploads struct {
		create func(idempotency.Command, contract.CreateSession, func() error) (upload.Created, error)
	}
	fakeViews struct {
		Views
		page    cursor.Page // that was asked for last
		latest  func(*artifact.Artifact) (view.View, error)
		content func(a *artifact.Artifact, path string, most int64) ([]byte, error)
	}
	fakeLinks struct {
		Links
		setVisibility func(sharing.Target, string) (sharing.Visibility, error)
		create        func(sharing.Target, sharing.Request) (link.Record, error)
		address       func(id.Link) (sharing.Address, error)
	}
)

func (f *fakeAccount) Delegate(by credential.Actor, m member.Member) contract.MCPWhoami {
	return f.delegate(by, m)
}

func (f *fakeArtifacts) List(
	_ context.Context, _ credential.Actor, p artifact.Page,
) ([]artifact.Artifact, string, error) {
	return f.list(p)
}

func (f *fakeArtifacts) Delete(
	_ context.Context, _ credential.Actor, t artifact.Target,
) (time.Time, error) {
	return f.delete(t)
}

func (f *fakeEdits) Publish(
	_ context.Context, _ credential.Actor, r edit.Request, title string, t edit.Text,
) (edit.Result, error) {
	return f.publish(r, title, t)
}

func (f *fakeEdits) Revise(
	_ context.Context, _ credential.Actor, r edit.Request, a *artifact.Artifact, named id.Artifact, t edit.Text,
) (edit.Result, error) {
	return f.revise(r, a, named, t)
}

func (f *fakeEdits) Finish(
	_ context.Context, _ credential.Actor, r edit.Request, s *upload.Session, entries []upload.Entry,
) (edit.Result, error) {
	return f.finish(r, s, entries)
}

func (f *fakeUploads) Create(
	_ context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, s contract.CreateSession,
	permit func() error, _ func(upload.Created) int,
) (upload.Created, error) {
	return f.create(c, s, permit)
}

func (f *fakeViews) Latest(
	_ context.Context, _ credential.Actor, a *artifact.Artifact, p cursor.Page,
) (view.View, error) {
	f.page = p
	return f.latest(a)
}

func (f *fakeViews) Content(
	_ context.Context, _ credential.Actor, a *artifact.Artifact, path string, most int64,
) ([]byte, error) {
	return f.content(a, path, most)
}

func (f *fakeLinks) SetVisibility(
	_ context.Context, _ credential.Actor, t sharing.Target, word string,
) (sharing.Visibility, error) {
	return f.setVisibility(t, word)
}

func (f *fakeLinks) Create(
	_ context.Context, _ credential.Actor, t sharing.Target, r sharing.Request,
) (link.Record, error) {
	return f.create(t, r)
}

func (f *fakeLinks) Address(_ context.Context, _ credential.Actor, l id.Link) (sharing.Address, error) {
	return f.address(l)
}
