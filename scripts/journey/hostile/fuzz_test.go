package hostile

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
)

// fuzzTarget is a deployment without limits and what a request to it may name.
type fuzzTarget struct {
	*harness.Env
	agent *wire.Agent
	paths map[string]string // name of a route to method and URL
}

func newFuzzTarget(f *testing.F) *fuzzTarget {
	f.Helper()
	d := harness.NewEnv(f, func(o *stack.Options) { o.Limits.Off = true })
	z := &fuzzTarget{Env: d, agent: d.NewAgent(f)}
	p, err := z.agent.PublishFiles(ctx, "Fuzzed", "", harness.Page("fuzzed"))
	if err != nil {
		f.Fatal(err)
	}
	s, err := z.agent.Create(ctx, wire.NewKey(), wire.Declare("Open", harness.Page("open")))
	if err != nil {
		f.Fatal(err)
	}
	api, up := z.agent.At.APIURL, z.agent.At.UploadURL
	art := api + "/v1/artifacts/" + string(p.ArtifactID)
	z.paths = map[string]string{
		"provision": "POST " + api + "/v1/ephemeral/provision", "resolve": "POST " + api + "/v1/access-links/resolve",
		"publish":  "POST " + art + "/revisions/" + string(p.RevisionID) + "/publish",
		"create":   "POST " + up + "/v1/upload-sessions",
		"finalize": "POST " + up + "/v1/upload-sessions/" + string(s.UploadSessionID) + "/finalize",
		"app":      "POST " + d.Origins.App + "/api/access-links/resolve",
		"list":     "GET " + api + "/v1/artifacts",
		"view":     "GET " + art + "/agent-view",
		"public":   "GET " + p.AgentViewURL,
		"content":  "GET " + p.RevisionContentURL,
		"file":     "GET " + art + "/file-content?path=index.html",
	}
	return z
}

// answers holds an answer to what every answer has to be: no failure of ours, and inside the document.
func (f *fuzzTarget) answers(t *testing.T, a wire.Answer, err error) {
	t.Helper()
	if err == nil && a.Status >= http.StatusInternalServerError {
		t.Errorf("%d %.300s", a.Status, a.Body)
	}
}

// bodies are the routes that read one.
var bodies = []string{"provision", "resolve", "publish", "create", "finalize", "app"}

func FuzzBodies(f *testing.F) {
	z := newFuzzTarget(f)
	for n := range bodies {
		for _, seed := range []string{
			``, `{}`, `null`, `[]`, `{"title":"T","entrypoint":"a","files":[{"path":"a","size_bytes":1,"sha256":"00"}]}`,
			`{"title":"T","entrypoint":"index.html","files":[{"path":"index.html","size_bytes":0}],"artifact_id":"art_00000000000000000000000000"}`,
			`{"public_id":"0000000000000000","blob":"AQ"}`, `{"claim_code":{"a":[1,2,{"b":null}]}}`,
			`{"challenge":{"nonce":"","difficulty":-1},"solution":{}}`,
			`{"a":1,"a":2}`, "\xff\xfe", `{"title":"` + strings.Repeat("\\u0000", 40) + `"}`, strings.Repeat("[", 100),
			`{"files":[{"path":"a","size_bytes":1e400}]}`, `{"files":[{"path":"a","size_bytes":-0.0}],"deleted_paths":[""]}`,
		} {
			f.Add(n, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, n int, body []byte) {
		method, target, _ := strings.Cut(z.paths[bodies[(n%len(bodies)+len(bodies))%len(bodies)]], " ")
		headers := []string{"Idempotency-Key", wire.NewKey()}
		if strings.HasPrefix(target, z.Origins.App) {
			headers = append(headers, "Sec-Fetch-Site", "same-origin")
		}
		a, err := z.agent.Do(ctx, method, target, body, headers...)
		z.answers(t, a, err)
	})
}

func FuzzPaths(f *testing.F) {
	z := newFuzzTarget(f)
	origins := []string{z.Origins.API, z.Origins.Upload, z.Origins.Content, z.Origins.App, z.Origins.MCP}
	for n, seeds := range [][]string{
		{
			"/v1/whoami", "/v1/artifacts/art_%2e%2e/agent-view", "/v1/artifacts/x/revisions/y/agent-view",
			"/v1/public/agent-view/AAAA", "/v1/artifacts?limit=0&cursor=%00",
		},
		{"/v1/upload-sessions", "/v1/upload-sessions/upl_0/finalize", "/o/x/y/000?X-Amz-Signature=1", "/o/../../x", "/d/"},
		{
			"/v/AAAA/index.html", "/v/" + strings.Repeat("A", 95) + "/%2e%2e/x", "/v//x", "/v/a/b%00",
			"/v/" + strings.Repeat("%25", 50),
		},
		{
			"/", "/al/0000000000000000", "/al/%2F%2F", "/assets/x/viewer.js", "/api/access-links/resolve", "/..%5c",
			"/al/" + strings.Repeat("Z", 9000),
		},
		{
			"/", "//", "/?access_token=x", "/.well-known/oauth-protected-resource/%2e%2e/x", "/.well-known/openid-configuration//",
			"/openapi.json/", "/sse",
		},
	} {
		for _, s := range seeds {
			f.Add(n, "GET", s)
			f.Add(n, "POST", s)
		}
	}
	f.Fuzz(func(t *testing.T, n int, method, path string) {
		origin := origins[(n%len(origins)+len(origins))%len(origins)]
		a, err := rawRequest(origin, method, path, "Authorization: Bearer "+z.agent.Key)
		if origin == z.Origins.Upload && (strings.HasPrefix(path, "/o/") || strings.HasPrefix(path, "/d/")) &&
			a.Status == http.StatusNotImplemented {
			return // S3 answers there, and says so of what it does not know
		}
		z.answers(t, a, err)
	})
}

func FuzzHeaders(f *testing.F) {
	z := newFuzzTarget(f)
	names := []string{
		"Authorization", "Idempotency-Key", "X-Request-Id", "Range", "If-None-Match", "If-Range", "Accept", "Content-Type",
		"Content-Encoding", "Origin",
		"Sec-Fetch-Dest", "Sec-Fetch-Mode", "X-Forwarded-For", "X-HTTP-Method-Override", "Cookie", "Host",
	}
	routes := []string{"list", "view", "public", "content", "create", "app", "file"}
	for n := range names {
		for _, seed := range []string{
			"", "a", "Bearer x", "bytes=0-0", "bytes=-1,5-", `"*"`, "*", "text/html", "iframe", "null",
			strings.Repeat("x", 9000), "\x80\xff", "a,b",
		} {
			f.Add(n, n, seed)
		}
	}
	f.Fuzz(func(t *testing.T, route, n int, value string) {
		method, target, _ := strings.Cut(z.paths[routes[(route%len(routes)+len(routes))%len(routes)]], " ")
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		name := names[(n%len(names)+len(names))%len(names)]
		given := []string{name + ": " + value}
		if name != "Authorization" && !strings.Contains(target, "/v/") {
			given = append(given, "Authorization: Bearer "+z.agent.Key)
		}
		a, err := rawRequest(u.Scheme+"://"+u.Host, method, u.RequestURI(), given...)
		z.answers(t, a, err)
	})
}

// rawRequest sends a request as it is given, which no client library would. Line ends are taken out of the parts: they
// would make other requests of one.
func rawRequest(origin, method, path string, headers ...string) (wire.Answer, error) {
	clean := strings.NewReplacer("\r", "", "\n", "").Replace
	for n := range headers {
		headers[n] = clean(headers[n])
	}
	return harness.SendRaw(origin, clean(method)+" "+clean(path), "", headers...)
}
