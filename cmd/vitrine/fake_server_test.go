package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"

	"vitrine/shared/platform/contract"
)

// Credentials and ids of the fake server. They are the same in every response, so that scripts can compare whole
// outputs.
const (
	memberKey = "ap_pk_preview_0123456789ABCDEF_memberkeymemberkeymemberkeymemberkeymemberk"
	trialKey  = "ap_pk_preview_FEDCBA9876543210_trialkeytrialkeytrialkeytrialkeytrialkeytria"
	claim     = "ap_ct_preview_00000000000000CT_claimtokenclaimtokenclaimtokenclaimtokencla"
	workspace = "6f1ab1f6-2b0c-4b1f-9b53-0c8d1fd0a001"
	sessionID = "upl_00000000000000000000000001"
	artifact  = "art_00000000000000000000000002"
	revision  = "rev_00000000000000000000000003"
	peerID    = "req_of_the_server"
)

// fakeServer is the server of the CLI's tests. It answers by the contract, and records every request that a strict
// server would not accept. Scripts tell it to misbehave.
type fakeServer struct {
	api, upload, content *httptest.Server

	mu      sync.Mutex
	calls   []string                  // routes in the order of their requests
	wrong   []string                  // what the CLI did wrong
	faults  map[string][]plannedFault // responses that replace the next ones of a route
	outage  *plannedFault             // replaces every response but that of discovery, as if no call came through
	files   map[string]*stored        // of the session
	order   []string                  // paths of the session as declared
	opened  contract.CreateSession    // the last request
	keys    map[string]string         // bodies of this invocation by route and Idempotency-Key
	request string                    // X-Request-Id of this invocation
	bearer  string
	policy  contract.UsagePolicy
	bits    int // difficulty of the proof of work; 0 for none
	burnt   map[string]bool
	onStart func()            // runs before a session is answered
	onCall  func(string)      // runs before a route is answered, if not nil
	arrived chan string       // receives the path of every PUT, if not nil
	session contract.Session  // opened by last
	last    string            // Idempotency-Key and body of the call that opened session
	signed  int               // how often its URLs were signed
	stale   int               // so many first signings of a session expire before they are used
	gate    chan struct{}     // PUTs wait until it is closed, if not nil
	hosts   map[string]string // changes to the discovery document
	result  map[string]any    // changes to the result of publish
	people  people
	world   workspaceState
	bundle  bundleState
	exports exportState
	release releaseState
	skill   string // the text of the skill
	founds  bool   // the first publish of a new artifact makes the world's only revision
	founded *snapshot
	forgets bool                                  // refuses every partial revision of a large base
	results map[string]*httptest.ResponseRecorder // of finalize and publish, by route and Idempotency-Key
}

// stored is a declared file with its bytes, once uploaded.
type stored struct {
	declared contract.DeclaredFile
	bytes    []byte
	there    bool
}

// plannedFault is a misbehaviour: drop the connection, or answer with this.
type plannedFault struct {
	drop   bool
	done   bool // the request has its effect all the same
	status int
	code   string
	header http.Header
	body   string
	oauth  bool // code is one of the authorization server
}

func newFakeServer() *fakeServer {
	p := &fakeServer{
		faults:  map[string][]plannedFault{},
		files:   map[string]*stored{},
		burnt:   map[string]bool{},
		results: map[string]*httptest.ResponseRecorder{},
		hosts:   map[string]string{},
		result:  map[string]any{},
		people:  newPeople(),
		world:   newWorkspaceState(),
		bundle:  bundleState{status: "disabled"},
		policy: contract.UsagePolicy{
			FileSizeCapBytes:          10 << 20,
			ArtifactSizeCapBytes:      25 << 20,
			FileCountCap:              100,
			DailyNewArtifactAllowance: 20,
		},
	}
	api := http.NewServeMux()
	upload := http.NewServeMux()
	content := http.NewServeMux()
	p.routeAPI(api)
	p.route(upload, "POST /v1/upload-sessions", "create", p.create)
	p.route(upload, "POST /v1/upload-sessions/{session}/finalize", "finalize", p.guard("finalize", nil, p.finalize))
	p.route(upload, "PUT /o/{name}", "put", p.put)
	p.route(content, "GET /v/{token}/{path...}", "content", p.serve)
	p.route(content, "GET /b/{token}", "bundle", p.serveBundle)
	p.route(content, "GET /x/{token}", "volume", p.serveBundle)
	p.route(api, "GET /v1/public/cli-version", "versions", p.versions)
	p.route(content, "GET /cli/{version}/{name}", "release", p.serveRelease) // as the app host
	p.route(content, "GET /skill.md", "skill", p.serveSkill)
	p.route(upload, "GET /released/{name}", "released", p.serveReleased)
	for _, mux := range []*http.ServeMux{api, upload, content} {
		mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
			p.violation("asked for %s %s", r.Method, r.URL.Path)
		})
	}
	p.api = httptest.NewUnstartedServer(api)
	p.upload = httptest.NewUnstartedServer(upload)
	p.content = httptest.NewUnstartedServer(content)
	p.upload.Start() // first, because the api host announces its address
	p.content.Start()
	p.api.Start()
	return p
}

func (server *fakeServer) close() {
	for _, s := range []*httptest.Server{server.api, server.upload, server.content} {
		s.CloseClientConnections()
		s.Close()
	}
}

// violation records what the CLI did wrong.
func (server *fakeServer) violation(format string, args ...any) {
	server.mu.Lock()
	defer server.mu.Unlock()
	server.wrong = append(server.wrong, fmt.Sprintf(format, args...))
}

// route records the call, checks its headers, and answers with a planned fault or the handler.
func (server *fakeServer) route(mux *http.ServeMux, pattern, name string, answer http.HandlerFunc) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		line := name
		switch name {
		case "put":
			line += " " + server.pathOf(r)
		case "bundle", "volume", "content":
			line = strings.TrimSpace(line + " " + r.Header.Get("Range") + " " + r.Header.Get("If-Range"))
		case "feedback":
			line = strings.TrimSpace(line + " " + r.Header.Get("If-None-Match"))
		}
		server.mu.Lock()
		if f := server.outage; f != nil && (f.drop || name != "discovery") {
			server.mu.Unlock()
			f.answer("", w)
			return
		}
		server.calls = append(server.calls, line)
		server.world.overtake(name)
		var planned *plannedFault
		if queue := server.faults[name]; len(queue) > 0 {
			planned, server.faults[name] = &queue[0], queue[1:]
		}
		hook := server.onCall
		server.mu.Unlock()
		if hook != nil {
			hook(name)
		}
		server.checkHeaders(name, r)
		server.checkForm(name, r, planned)
		server.answer(name, planned, answer)(w, r)
	})
}

// answer returns what answers a call: a planned fault, the result that an earlier call had, or the handler.
func (server *fakeServer) answer(name string, planned *plannedFault, handler http.HandlerFunc) http.HandlerFunc {
	if name == "finalize" || name == "publish" {
		handler = server.once(name, handler)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if planned == nil {
			handler(w, r)
			return
		}
		if planned.done {
			handler(httptest.NewRecorder(), r)
		}
		planned.answer(name, w)
	}
}

// once repeats the result of a command that succeeded with the same Idempotency-Key.
func (server *fakeServer) once(name string, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := name + r.Header.Get("Idempotency-Key")
		server.mu.Lock()
		result := server.results[key]
		server.mu.Unlock()
		if result == nil {
			result = httptest.NewRecorder()
			handler(result, r)
		}
		if result.Code == http.StatusOK {
			server.mu.Lock()
			server.results[key] = result
			server.mu.Unlock()
		}
		w.Header().Set("Content-Type", result.Header().Get("Content-Type"))
		w.WriteHeader(result.Code)
		w.Write(result.Body.Bytes())
	}
}

func (f plannedFault) answer(route string, w http.ResponseWriter) {
	if f.drop {
		panic(http.ErrAbortHandler)
	}
	for name, values := range f.header {
		w.Header()[name] = values
	}
	if strings.HasPrefix(f.body, "{") || f.oauth {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(f.status)
	switch {
	case f.body != "":
		io.WriteString(w, f.body)
	case f.oauth:
		json.NewEncoder(w).Encode(contract.OAuthError{Error: f.code, Description: "told by the authorization server"})
	case route == "put":
		fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>no</Message>`+
			`<StringToSign>X-Amz-Signature=s3cret</StringToSign></Error>`, f.code)
	default:
		json.NewEncoder(w).Encode(contract.Envelope{
			Error: contract.Problem{Code: f.code, Message: "told by the peer", RequestID: peerID},
		})
	}
}

var (
	agentForm   = regexp.MustCompile(`^vitrine/\S+ \([a-z0-9]+; [a-z0-9]+\)$`)
	requestForm = regexp.MustCompile(`^[A-Za-z0-9_-]{8,128}$`)
	idemForm    = regexp.MustCompile(
		`^(script-[0-9]+|cli_(?:publish|feedback|login|edit|restore|link|pin|keys|claim|export|life)_` +
			`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(\.[0-9]+)?(\.whole)?$`)
)

// mutations carry an Idempotency-Key; open routes carry no bearer.
var (
	mutations = []string{"create", "finalize", "publish", "keys", "link", "reply", "pin", "unpin", "revoke-key", "claim", "ask-export",
		"change-settings"}
	open = []string{
		"discovery", "provision", "put", "metadata", "device", "token", "revoke", "content", "bundle",
		"resolve", "volume", "versions", "release", "released", "skill",
	}
)

func (server *fakeServer) checkHeaders(route string, r *http.Request) {
	if route == "authorize" {
		return // requested by a browser
	}
	h := r.Header
	if !agentForm.MatchString(h.Get("User-Agent")) {
		server.violation("%s: User-Agent %q", route, h.Get("User-Agent"))
	}
	if got := h.Get("Authorization") != ""; got == slices.Contains(open, route) {
		server.violation("%s: bearer sent: %v", route, got)
	}
	if idem := h.Get("Idempotency-Key"); slices.Contains(mutations, route) != idemForm.MatchString(idem) {
		server.violation("%s: Idempotency-Key %q", route, idem)
	}
	if route == "put" {
		return // its headers are checked against the signed ones
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	server.mu.Lock()
	defer server.mu.Unlock()
	if id := h.Get("X-Request-Id"); route == "discovery" && requestForm.MatchString(id) {
		server.request, server.keys = id, map[string]string{} // a new invocation
	} else if id != server.request {
		server.wrong = append(server.wrong, fmt.Sprintf("%s: X-Request-Id %q, want that of the invocation, %q", route, id, server.request))
	}
	if idem := h.Get("Idempotency-Key"); idem != "" {
		server.checkKey(route+" "+r.URL.Path+" ", idem, string(body))
	}
}

// checkKey reports a key that is reused with another body, and keys of one invocation that do not belong together.
func (server *fakeServer) checkKey(route, idem, body string) {
	if before, again := server.keys[route+idem]; again && before != body {
		server.wrong = append(server.wrong, route+": the same Idempotency-Key with another body")
	}
	server.keys[route+idem] = body
	for other := range server.keys {
		m, n := idemForm.FindStringSubmatch(idem), idemForm.FindStringSubmatch(other[strings.LastIndex(other, " ")+1:])
		if m == nil || n == nil || m[1] != n[1] {
			server.wrong = append(server.wrong, route+": a second Idempotency-Key in one invocation")
		}
	}
}

// allowed reports whether the bearer token is a key of the server, and records it.
func (server *fakeServer) allowed(w http.ResponseWriter, r *http.Request) bool {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	server.mu.Lock()
	defer server.mu.Unlock()
	if !server.people.keys[key] {
		plannedFault{status: 401, code: "not_authenticated"}.answer("", w)
		return false
	}
	server.bearer = key
	return true
}

func notFound(w http.ResponseWriter) { plannedFault{status: 404, code: "not_found"}.answer("", w) }

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func (server *fakeServer) discovery(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Date", epoch.Format(http.TimeFormat))
	d := map[string]any{
		"api_url": server.api.URL, "upload_url": server.upload.URL + "/", "content_url": "http://content.test",
		"app_url": "http://app.test/", "mcp_url": "http://mcp.test", "version": contract.Version,
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	for name, value := range server.hosts {
		if d[name] = value; json.Valid([]byte(value)) {
			d[name] = json.RawMessage(value)
		}
	}
	answer(w, 200, d)
}

func (server *fakeServer) usagePolicy(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, server.policy)
}

func (server *fakeServer) whoami(w http.ResponseWriter, _ *http.Request) {
	left := 18
	server.policy.DailyNewArtifactsRemaining = &left
	answer(w, 200, contract.Whoami{
		Actor:       contract.WhoamiActor{Type: "api_key", ID: "key_00000000000000000000000004", Name: "laptop\x1b[31m"},
		Workspace:   contract.WorkspaceSummary{ID: workspace, Name: "Team", CreatedAt: contract.At(epoch)},
		Scopes:      []string{"publish", "read"},
		UsagePolicy: server.policy,
	})
}

// isEmpty answers 400 to a request with a body, as a strict route does.
func (server *fakeServer) isEmpty(w http.ResponseWriter, r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	if len(body) > 0 {
		server.violation("%s: a body was sent", r.URL.Path)
		plannedFault{status: 400, code: "invalid_request"}.answer("", w)
	}
	return len(body) == 0
}
