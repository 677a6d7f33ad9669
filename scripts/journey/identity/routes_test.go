package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/engine"
	"vitrine/shared/platform/id"
)

// withoutSession are routes of the app host that read no session.
var withoutSession = map[string]bool{
	"/healthz":                          true,
	"/robots.txt":                       true,
	"/.well-known/gpc.json":             true,
	"/assets/{build}/{name}":            true,
	"/scripts/{program}/{file...}":      true,
	"/al/{publicId}":                    true,
	"/signed-out":                       true,
	"/deletion/requested":               true,
	"/report":                           true,
	"/api/access-links/resolve":         true,
	"/api/access-links/qr":              true,
	"/api/live/access-links/{publicId}": true,
	"/api/auth/callback":                true,
}

// appRoutes are the patterns of the app host by method, read from its source, where they stand in lists.
func appRoutes(t testing.TB) map[string][]string {
	t.Helper()
	routes, words := map[string][]string{}, map[string]string{}
	var literals []*ast.CompositeLit
	sources := filepath.Join(harness.Must(engine.Root())(t), "functions", "app", "*.go")
	for _, file := range harness.Must(filepath.Glob(sources))(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed := harness.Must(parser.ParseFile(gotoken.NewFileSet(), file, nil, 0))(t)
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) {
						words[name.Name] = stringValue(n.Values[i], words)
					}
				}
			case *ast.CompositeLit:
				literals = append(literals, n)
			}
			return true
		})
	}
	for _, l := range literals {
		method, path := field(l, "method", words), field(l, "path", words)
		// Pages of operators and of plans are not there for members here; the journeys console and billing visit them.
		elsewhere := strings.HasPrefix(path, "/admin") || strings.HasPrefix(path, "/billing")
		if method != "" && path != "" && !withoutSession[path] && !elsewhere {
			routes[method] = append(routes[method], strings.ReplaceAll(path, "{$}", ""))
		}
	}
	if len(routes["GET"]) < 15 || len(routes["POST"]) < 15 {
		t.Fatalf("the source of the app host tells of %d pages and %d forms only", len(routes["GET"]), len(routes["POST"]))
	}
	return routes
}

// field is the text of a field of a struct literal.
func field(l *ast.CompositeLit, name string, words map[string]string) string {
	for _, e := range l.Elts {
		if kv, is := e.(*ast.KeyValueExpr); is {
			if key, is := kv.Key.(*ast.Ident); is && key.Name == name {
				return stringValue(kv.Value, words)
			}
		}
	}
	return ""
}

// stringValue is the value of an expression of texts.
func stringValue(e ast.Expr, words map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.Ident:
		return words[e.Name]
	case *ast.BinaryExpr:
		return stringValue(e.X, words) + stringValue(e.Y, words)
	}
	return ""
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// unknownIDs fills the parameters of routes with ids of nothing.
var unknownIDs = strings.NewReplacer(
	"{artifactId}", string(id.NewArtifact()), "{keyId}", string(id.NewKey(id.NewPublic())),
	"{registrationId}", string(id.RegistrationOf(id.NewPublic())),
	"{delegationId}", string(id.DelegationOf("i", "s", "a")), "{grantId}", string(id.NewPublic()), "{linkId}", string(id.NewLink()),
)

// formsOf are what changes something at the app host: the fields, by path. Those that need more than a path to do so
// have everything that they need.
func formsOf(t testing.TB, w *harness.FakeBrowser) (forms map[string]url.Values, complete map[string]bool) {
	t.Helper()
	once := "page-" + strings.Repeat("x", 26)
	_, made, err := w.Anyone.Provision(ctx)
	harness.NoError(t, err)
	s := w.StartClaim(t, w.RegisterAgent(t))
	openAttempt(t, w, s)
	app := registerClient(t, w.BackendEnv, "An app")
	code := url.Values{"code": {w.StartDevice(t, "a laptop").UserCode}}
	request := url.Values{"req": {app.authorize(t, app.request("read")).Query().Get("req")}}
	forms, complete = map[string]url.Values{
		"/api/auth/sign-out":            {},
		"/api/auth/sign-out-everywhere": {},
		"/keys":                         {"name": {"K"}, "once": {once}},
		"/settings":                     {"name": {"W"}, "days": {"2"}, "once": {once}},
		"/claim":                        {"claim_token": {made.ClaimToken}},
		"/claim/confirm":                {"claim_token": {made.ClaimToken}, "once": {once}},
		"/agent-auth/claim":             codeForm(w, s.UserCode),
		"/agent-auth/claim/deny":        codeForm(w, ""),
		"/device":                       code,
		"/device/approve":               code,
		"/device/deny":                  code,
		"/oauth/consent/allow":          request,
		"/oauth/consent/deny":           request,
	}, map[string]bool{}
	for path := range forms {
		complete[path] = true
	}
	forms["/agent-auth/keep"] = keepForm(w)
	for _, pattern := range appRoutes(t)["POST"] {
		path := placeholder.ReplaceAllString(unknownIDs.Replace(pattern), "x")
		if forms[path] == nil {
			forms[path] = url.Values{"once": {once}}
		}
	}
	for path := range complete {
		if !strings.Contains(strings.Join(appRoutes(t)["POST"], " ")+" ", path+" ") {
			t.Errorf("the app host has no form %s any more", path)
		}
	}
	return forms, complete
}

// keepForm answers a question that nobody asked in this browser.
func keepForm(w *harness.FakeBrowser) url.Values {
	const cookie = "__Host-takeover"
	w.Cookies[cookie] = strings.Repeat("A", 43)
	sum := sha256.Sum256([]byte("page of an attempt\n" + w.Cookies[cookie]))
	return url.Values{"question": {base64.RawURLEncoding.EncodeToString(sum[:16])}}
}
