package main

import (
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/script"

	"context"
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/parser"
	gotoken "go/token"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// visited are the routes that succeeded, from the log lines of the hosts.
type visited struct {
	mu     sync.Mutex
	routes map[string]bool // host, method and path
}

// hostLog is the log of one host.
type hostLog struct {
	*visited
	host string
}

func (v *visited) Enabled(context.Context, slog.Level) bool { return true }

func (v *visited) Handle(context.Context, slog.Record) error { return nil }

func (v *visited) WithGroup(string) slog.Handler { return v }

func (v *visited) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		if a.Key == "host" {
			return hostLog{v, a.Value.String()}
		}
	}
	return v
}

func (l hostLog) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l hostLog) Handle(_ context.Context, r slog.Record) error {
	var method, path string
	var status int64
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "method":
			method = a.Value.String()
		case "route":
			path = a.Value.String()
		case "status":
			status = a.Value.Int64()
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.routes == nil {
		l.routes = map[string]bool{}
	}
	if status >= 200 && status < 400 {
		l.routes[l.host+" "+method+" "+strings.ReplaceAll(path, "...}", "}")] = true
	}
	return nil
}

// has reports whether a route succeeded.
func (v *visited) has(route string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.routes[route]
}

// reportUnvisited names routes whose rights the test did not exercise.
func (h *harness) reportUnvisited(t *testing.T) {
	t.Helper()
	routes := slices.Concat(documented(t, "api"), documented(t, "upload"), documented(t, "content"),
		documented(t, "mcp"), written(t))
	if len(routes) < 100 {
		t.Fatalf("the hosts have %d routes only", len(routes))
	}
	for _, r := range routes {
		if !h.visited.routes[strings.ReplaceAll(r, "...}", "}")] {
			t.Errorf("%s is not visited", r)
		}
	}
}

// operation is an operation of a host's document.
type operation struct {
	Security   []map[string]any
	Parameters []struct {
		Name, In string
		Required bool
	}
}

// target returns where an operation is requested, false if it wants a parameter that is not known.
func (o operation) target(path string, known map[string]string) (string, bool) {
	query := url.Values{}
	for _, p := range o.Parameters {
		if known[p.Name] == "" && p.Required {
			return "", false
		}
		if p.In == "query" && p.Required {
			query.Set(p.Name, known[p.Name])
		}
		path = strings.Replace(path, "{"+p.Name+"}", known[p.Name], 1)
	}
	return path + "?" + query.Encode(), true
}

// operations returns the operations of a host's document by path and method.
func operations(t *testing.T, host string) map[string]map[string]operation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "openapi", host+".json"))
	var document struct {
		Paths map[string]map[string]operation
	}
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	return document.Paths
}

// documented returns the routes of a host's document.
func documented(t *testing.T, host string) (routes []string) {
	t.Helper()
	for path, methods := range operations(t, host) {
		if path == "/" {
			path = "/{$}" // as the log has it
		}
		by := host
		if strings.HasPrefix(path, env.PagesPath) {
			by = env.Pages
		}
		for method := range methods {
			routes = append(routes, by+" "+strings.ToUpper(method)+" "+path)
		}
	}
	return routes
}

// written returns the routes of the app host, which has no document: they are read from its source.
func written(t *testing.T) (routes []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "functions", "app", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var declared []ast.Decl
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		declared = append(declared, f.Decls...)
	}
	words := map[string]constant.Value{}
	for range 2 { // a constant may name one of a later file
		for _, d := range declared {
			if general, ok := d.(*ast.GenDecl); ok {
				for _, spec := range general.Specs {
					addWords(spec, words)
				}
			}
		}
	}
	for _, d := range declared {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "question" {
			continue // its calls are routes
		}
		own := maps.Clone(words) // functions have constants of their own
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				addWords(n, own)
			case *ast.CompositeLit:
				routes = append(routes, routeOf(t, n, own)...)
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "question" {
					routes = append(routes, routeAt(t, constant.MakeString("GET"), value(n.Args[0], own))...)
				}
			}
			return true
		})
	}
	return routes
}

// addWords adds the constants of a declaration.
func addWords(spec ast.Spec, words map[string]constant.Value) {
	if s, ok := spec.(*ast.ValueSpec); ok && len(s.Values) == len(s.Names) {
		for i, name := range s.Names {
			words[name.Name] = value(s.Values[i], words)
		}
	}
}

// routeOf returns the route of a literal, if it has a method and a path.
func routeOf(t *testing.T, literal *ast.CompositeLit, words map[string]constant.Value) []string {
	t.Helper()
	fields := map[string]constant.Value{}
	for _, e := range literal.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := kv.Key.(*ast.Ident); ok && (name.Name == "method" || name.Name == "path") {
				fields[name.Name] = value(kv.Value, words)
			}
		}
	}
	if len(fields) != 2 {
		return nil
	}
	return routeAt(t, fields["method"], fields["path"])
}

func routeAt(t *testing.T, method, path constant.Value) []string {
	t.Helper()
	if method.Kind() != constant.String || path.Kind() != constant.String {
		t.Error("a route of the app host has no constants that this test understands")
		return nil
	}
	return []string{"app " + constant.StringVal(method) + " " + constant.StringVal(path)}
}

// value returns the value of a constant string.
func value(e ast.Expr, words map[string]constant.Value) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.Ident:
		if v, known := words[e.Name]; known {
			return v
		}
	case *ast.BinaryExpr:
		x, y := value(e.X, words), value(e.Y, words)
		if e.Op == gotoken.ADD && x.Kind() == constant.String && y.Kind() == constant.String {
			return constant.BinaryOp(x, e.Op, y)
		}
	}
	return constant.MakeUnknown()
}

// gets requests the GET routes of the api host, as the one whom each is for, with what is known of their parameters.
// Operators are none of them, and an authorization begins in a browser.
func (h *harness) gets(t *testing.T, as map[string]*wire.Agent, known map[string]string) {
	t.Helper()
	for path, methods := range operations(t, "api") {
		get, there := methods["get"]
		if !there || strings.Contains(path, "/admin/") || path == "/oauth2/authorize" {
			continue
		}
		by := h.anyone
		for _, scheme := range get.Security {
			for name := range scheme {
				by = as[name]
			}
		}
		if target, all := get.target(path, known); all && by != nil {
			h.ok(t, by, "GET", h.anyone.At.APIURL+target, nil)
		}
	}
}

// rest visits the pages that nobody has visited, as a new member. A page that needs more than a session is visited
// before.
func (h *harness) rest(t *testing.T) {
	t.Helper()
	b := h.browser(t, "ida@example.org")
	b.visit("/api/auth/sign-in")
	for _, route := range written(t) {
		if path, get := strings.CutPrefix(route, "app GET "); get && !strings.Contains(path, "{") && !h.visited.has(route) {
			b.visit(path)
		}
	}
}

// documents requests what needs no credential and is in no document, and the documents of the MCP host.
func (h *harness) documents(t *testing.T) {
	t.Helper()
	api, app, mcp := h.anyone.At.APIURL, h.anyone.At.AppURL, h.anyone.At.MCPURL
	for _, target := range []string{
		api + "/.well-known/oauth-protected-resource/v1/whoami",
		app + "/", app + "/healthz", app + "/robots.txt", app + "/.well-known/gpc.json", app + "/signed-out", script.Mermaid.URL(app),
		mcp + "/", mcp + "/healthz", mcp + "/openapi.json", mcp + "/.well-known/oauth-protected-resource",
		mcp + "/.well-known/oauth-authorization-server", mcp + "/.well-known/openid-configuration",
	} {
		h.ok(t, h.anyone, "GET", target, nil)
	}
	for _, path := range []string{"/oauth2/register", "/oauth2/token"} {
		h.ok(t, h.anyone, "OPTIONS", api+path, nil, "Origin", "https://client.example", "Access-Control-Request-Method",
			"POST")
	}
}

// keeps publishes twice with an API key of a member's workspace, returns the first revision, and shares both, by key
// and by member.
func (h *harness) keeps(t *testing.T, m, g *wire.Agent) contract.Published {
	t.Helper()
	page := wire.File{Path: "index.html", Body: []byte("<p>shared</p>")}
	old, err := g.PublishFiles(t.Context(), "Shared", "", page)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.PublishFiles(t.Context(), "Shared", old.ArtifactID,
		wire.File{Path: "index.html", Body: []byte("<p>newer</p>")}); err != nil {
		t.Fatal(err)
	}
	one := "/v1/artifacts/" + string(old.ArtifactID)
	h.shares(t, g, one, "/v1/access-links", old.RevisionID)
	for _, word := range []string{"private", "unlisted"} {
		ask[any](t, g, "PUT", one+"/visibility", map[string]string{"visibility": word})
	}
	ask[any](t, g, "PATCH", one+"/display-metadata", map[string]string{"title": "Another title"})
	mine := "/v1/web/artifacts/" + string(old.ArtifactID)
	h.shares(t, m, mine, "/v1/web/access-links", old.RevisionID)
	for _, verb := range []string{"/pin", "/unpin", "/access-link-lockdown", "/access-link-lockdown/lift"} {
		ask[any](t, m, "POST", mine+verb, nil, "Idempotency-Key", wire.NewKey())
	}
	h.discussAsMember(t, m, mine+"/feedback")
	return old
}

// discussAsMember writes in two threads and deletes both, one by its only message.
func (h *harness) discussAsMember(t *testing.T, m *wire.Agent, threads string) {
	t.Helper()
	write := func() string {
		return threads + "/" + string(ask[contract.ThreadSummary](t, m, "POST", threads,
			contract.CreateThread{Body: "A remark", Path: "index.html"}, "Idempotency-Key", wire.NewKey()).ID)
	}
	one, other := write(), write()
	ask[any](t, m, "PUT", strings.TrimSuffix(threads, "/feedback")+"/feedback-policy",
		contract.SetFeedbackPolicy{Policy: "off"}, "Idempotency-Key", wire.NewKey())
	ask[any](t, m, "GET", threads, nil)
	ask[any](t, m, "GET", "/v1/web/feedback", nil)
	ask[any](t, m, "POST", one, contract.AnswerThreadAsMember{Reply: "Well", State: "resolved"}, "Idempotency-Key",
		wire.NewKey())
	message := ask[contract.Thread](t, m, "GET", other, nil).Items[0].ID
	for _, path := range []string{one, other + "/messages/" + string(message)} {
		ask[any](t, m, "DELETE", path, nil, "Idempotency-Key", wire.NewKey())
	}
}

// shares makes a link to a revision that is not the newest, opens it on both hosts, and revokes it.
func (h *harness) shares(t *testing.T, g *wire.Agent, artifact, links string, r id.Revision) {
	t.Helper()
	made := ask[contract.CreatedLink](t, g, "POST", artifact+"/access-links",
		contract.CreateLink{Type: "revision", RevisionID: r}, "Idempotency-Key", wire.NewKey())
	ask[any](t, g, "GET", artifact+"/access-links", nil)
	link := links + "/" + string(made.ID)
	public, blob, err := wire.SplitLink(ask[contract.MintedLink](t, g, "POST", link+"/mint", nil).URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{g.At.APIURL + "/v1/access-links/resolve", g.At.AppURL + "/api/access-links/resolve"} {
		h.ok(t, h.anyone, "POST", target, contract.ResolveRequest{PublicID: public, Blob: blob})
	}
	h.ok(t, h.anyone, "POST", g.At.AppURL+"/api/live/access-links/"+string(public),
		map[string]any{"blob": blob, "revision_id": r})
	ask[any](t, g, "POST", link+"/revoke", nil)
}

// owner does on the pages of an artifact everything that its members can.
func (h *harness) owner(b *browser) {
	b.t.Helper()
	b.visit("/artifacts")
	one := regexp.MustCompile(`/artifacts/art_[0-9A-Z]+`).FindString(b.page)
	does := func(page, action string, fill map[string]string) {
		b.t.Helper()
		b.visit(page)
		b.submit(action, fill)
	}
	does(one, one+"/pin", nil)
	does(one, one+"/unpin", nil)
	const several = "/artifacts/selected/change"
	for _, what := range []string{"pin", "unpin"} {
		does(several+"?do="+what+"&artifact="+strings.TrimPrefix(one, "/artifacts/"), several, nil)
	}
	does(one, one+"/title", map[string]string{"title": "A title of mine"})
	b.visit("/v" + strings.TrimPrefix(one, "/artifacts"))
	b.visit("/api/live" + one + "?revision_id=" + string(id.NewRevision()))
	b.visit(one)
	revision := regexp.MustCompile(`value="(rev_[0-9A-Z]+)"`).FindStringSubmatch(b.page)
	if revision == nil {
		b.t.Fatal("the page offers no link to a revision")
	}
	b.submit(regexp.MustCompile(one+`/revisions/[^"/]+/restore`).FindString(b.page), nil)
	b.visit(one + "/compare")
	b.visit(one)
	share := regexp.MustCompile(one + `/links/[^"/]+/comments`).FindString(b.page)
	b.submit(share, nil)
	b.submit(one+"/feedback-policy", map[string]string{"who": "links", "guests": "held"})
	b.submit(strings.TrimSuffix(share, "comments")+"address", nil)
	h.guest(b.t, regexp.MustCompile(`https?://[^"<\s]+/al/[0-9A-Z]+#[^"<\s]+`).FindString(b.page))
	b.visit(one)
	b.submit(one+"/links", map[string]string{"shows": revision[1], "ends": "1h"})
	b.visit(one)
	b.visit("/access-links")
	revoke := regexp.MustCompile(one + `/links/[^"/]+/revoke`).FindString(b.page)
	does(revoke, revoke, nil)
	for _, action := range []string{"/lockdown", "/lockdown/lift", "/private"} {
		does(one+action, one+action, nil)
	}
	does(one, one+"/unlisted", nil)
	b.discusses(one + "/feedback")
	does(one+"/delete", one+"/delete", nil)
}

// guest writes about what a link shows, and looks at it.
func (h *harness) guest(t *testing.T, url string) {
	t.Helper()
	public, blob, err := wire.SplitLink(url)
	if err != nil {
		t.Fatal(err)
	}
	const letters = "/api/access-links/feedback"
	link := map[string]any{"public_id": public, "blob": blob, "token": strings.Repeat("x", 32)}
	h.ok(t, h.anyone, "POST", h.anyone.At.AppURL+letters+"/threads", link)
	link["name"], link["key"], link["body"] = "Grace", wire.NewKey(), "Which unit?"
	h.ok(t, h.anyone, "POST", h.anyone.At.AppURL+letters, link)
}

// discusses lets a guest's letter through, writes about an artifact, replies, and deletes the message and the thread.
func (b *browser) discusses(threads string) {
	b.t.Helper()
	b.visit("/feedback")
	b.visit(threads)
	held := regexp.MustCompile(`thread-thr_[0-9A-Z]+`).FindString(b.page)
	b.submit(threads+"-selected", map[string]string{held: "1", "do": "let_through"})
	b.twice(threads, map[string]string{"about": "artifact", "body": "A remark"})
	thread := threads + "/" + regexp.MustCompile(`thr_[0-9A-Z]+`).FindString(b.page)
	b.visit(thread)
	b.submit(thread, map[string]string{"reply": "A reply"})
	message := regexp.MustCompile(thread + `/messages/msg_[0-9A-Z]+/delete`).FindString(b.page)
	b.visit(message)
	b.submit(message, nil)
	b.visit(thread + "/delete")
	b.submit(thread+"/delete", nil)
}
