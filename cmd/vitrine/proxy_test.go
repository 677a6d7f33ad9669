package main

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// proxy is a proxy between the program and the api host that can break what passes.
type proxy struct {
	pass http.Handler

	mu    sync.Mutex
	fault *plannedFault // instead of every response but discovery; nil: pass
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	fault := p.fault
	p.mu.Unlock()
	if fault == nil || !fault.drop && r.URL.Path == "/.well-known/vitrine" {
		p.pass.ServeHTTP(w, r)
		return
	}
	fault.answer("", w)
}

type proxyKey struct{}

// proxy pass|drop, or proxy STATUS CODE [RETRY-AFTER]: puts a proxy before the api host that passes all calls, drops
// all connections, or answers every call but discovery with an error.
func setProxy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: proxy pass|drop|STATUS CODE [RETRY-AFTER]")
	}
	p, there := ts.Value(proxyKey{}).(*proxy)
	if !there {
		ts.Fatalf("the script has no proxy")
	}
	var f *plannedFault
	switch args[0] {
	case "pass":
	case "drop":
		f = &plannedFault{drop: true}
	default:
		status, err := strconv.Atoi(args[0])
		ts.Check(err)
		f = &plannedFault{status: status, code: args[1], header: http.Header{}}
		if len(args) > 2 {
			f.header.Set("Retry-After", args[2])
		}
	}
	p.mu.Lock()
	p.fault = f
	p.mu.Unlock()
	ts.Setenv("VITRINE_URL", ts.Getenv("PROXY_URL"))
	peer := ts.Value(fakeServerKey{}).(*fakeServer)
	peer.mu.Lock()
	peer.hosts["api_url"] = ts.Getenv("PROXY_URL")
	peer.mu.Unlock()
}

// addProxy gives a script its proxy.
func addProxy(env *testscript.Env, to *fakeServer) {
	target, err := url.Parse(to.api.URL)
	if err != nil {
		panic(err) // a URL of httptest
	}
	p := &proxy{pass: httputil.NewSingleHostReverseProxy(target)}
	s := httptest.NewServer(p)
	env.Defer(s.Close)
	env.Values[proxyKey{}] = p
	env.Setenv("PROXY_URL", s.URL)
}

// outcome EXIT CODE ARG... runs vitrine with these arguments, plain, with --quiet and with --json. Each run must end
// with EXIT, leave stdout empty, and write CODE and what to do next to stderr: as lines whose last is the hint, the
// same ones with --quiet, and as one object with --json.
func outcome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: outcome EXIT CODE ARG...")
	}
	run := func(mode ...string) string {
		exits(ts, false, append(append([]string{args[0], "vitrine"}, args[2:]...), mode...))
		if out := ts.ReadFile("stdout"); out != "" {
			ts.Fatalf("%v: stdout %q", mode, out)
		}
		return ts.ReadFile("stderr")
	}
	for _, text := range []string{run(), run("--quiet")} {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		last := lines[len(lines)-1]
		if !strings.HasPrefix(lines[0], "error "+args[1]+": ") || len(lines) != 3 ||
			!strings.HasPrefix(lines[1], "  request  ") || strings.HasPrefix(last, " ") {
			ts.Fatalf("stderr %q", text)
		}
	}
	var got struct {
		Error struct {
			Code, Message, Hint string
			RequestID           string `json:"request_id"`
		} `json:"error"`
	}
	text := run("--json")
	if err := json.Unmarshal([]byte(text), &got); err != nil || strings.Count(text, "\n") != 1 {
		ts.Fatalf("stderr %q: %v", text, err)
	}
	if e := got.Error; e.Code != args[1] || e.Message == "" || e.Hint == "" || e.RequestID == "" {
		ts.Fatalf("stderr %q", text)
	}
}

func countFiles(ts *testscript.TestScript, dir fs.FS) (n int) {
	ts.Check(fs.WalkDir(dir, ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}
