package protocol

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/api"
	"vitrine/functions/assembly/app"
	"vitrine/functions/assembly/content"
	"vitrine/functions/assembly/function"
	"vitrine/functions/assembly/mcp"
	"vitrine/functions/assembly/upload"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/lambdatest"
	"vitrine/scripts/testkit/unpack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/lambdahttp"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// parityEnv is a deployment that is served in both ways: by net/http and as functions.
type parityEnv struct {
	*harness.Env
	handlers map[string]http.Handler // by host and port
	agent    *wire.Agent
}

func newParityEnv(t *testing.T) *parityEnv {
	t.Helper()
	d := &parityEnv{
		Env:      harness.NewEnv(t, harness.Unlimited, func(o *stack.Options) { o.Lambda = false }),
		handlers: map[string]http.Handler{},
	}
	services := servicesOf(t, d.Env)
	for origin, assemble := range map[string]func(*assembly.Services, *slog.Logger) (http.Handler, error){
		d.Origins.API:     api.Handler,
		d.Origins.Upload:  upload.Handler,
		d.Origins.Content: content.Handler,
		d.Origins.App:     app.Handler,
		d.Origins.MCP:     mcp.Handler,
	} {
		u, _ := url.Parse(origin)
		d.handlers[u.Host] = harness.Must(assemble(services, d.Options.Log))(t)
	}
	d.agent = d.NewAgent(t)
	return d
}

// servicesOf opens the stack's data a second time.
func servicesOf(t *testing.T, d *harness.Env) *assembly.Services {
	t.Helper()
	o := d.Options
	services := harness.Must(assembly.Open(assembly.Config{
		Environment:      credential.Preview,
		Origins:          d.Origins,
		Tables:           dynamo.Named(o.Tables),
		Bucket:           o.Engines.Bucket,
		Rings:            harness.Must(assembly.LocalRings(filepath.Join(o.Data, "rings.json")))(t),
		OIDC:             assembly.OIDC{Issuer: d.Identity.Issuer, ClientID: "vitrine"},
		FetchOrigins:     []string{d.Identity.Issuer},
		Providers:        d.Identity.Trusted,
		AWS:              o.Engines.AWS(),
		DynamoDBEndpoint: o.Engines.DynamoDB,
		S3Endpoint:       o.Engines.S3,
		S3Domain:         o.Engines.S3Domain,
		Policy:           policy.Default(false),
		Limits:           o.Limits,
	}))(t)
	function.Warm(t.Context(), services, true)()
	return services
}

// eventOf returns the event that a gateway makes of a request: of a REST API for content, of an HTTP API for the
// others.
func (env *parityEnv) eventOf(t *testing.T, r *http.Request) any {
	t.Helper()
	var body string
	if r.GetBody != nil {
		reader, _ := r.GetBody()
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		body = base64.StdEncoding.EncodeToString(text)
	}
	domain, _, _ := strings.Cut(r.Host, ":")
	if "http://"+r.URL.Host == env.Origins.Content {
		return restEvent(r, domain, body)
	}
	return httpAPIEvent(r, domain, body)
}

func restEvent(r *http.Request, domain, body string) events.APIGatewayProxyRequest {
	e := events.APIGatewayProxyRequest{
		HTTPMethod:                      r.Method,
		Path:                            r.URL.EscapedPath(),
		MultiValueHeaders:               r.Header.Clone(),
		MultiValueQueryStringParameters: r.URL.Query(),
		Body:                            body,
		IsBase64Encoded:                 body != "",
	}
	e.MultiValueHeaders["Host"] = []string{r.Host}
	e.RequestContext.DomainName = domain
	e.RequestContext.RequestID = "gateway-1"
	e.RequestContext.Identity.SourceIP = "127.0.0.1"
	return e
}

func httpAPIEvent(r *http.Request, domain, body string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{
		Version:         "2.0",
		RawPath:         r.URL.Path,
		RawQueryString:  r.URL.RawQuery,
		Headers:         map[string]string{"host": r.Host},
		Body:            body,
		IsBase64Encoded: body != "",
	}
	for name, values := range r.Header {
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	e.RequestContext.DomainName = domain
	e.RequestContext.RequestID = "gateway-1"
	e.RequestContext.HTTP.Method = r.Method
	e.RequestContext.HTTP.SourceIP = "127.0.0.1"
	return e
}

// same sends a request in both ways and compares the answers.
func (env *parityEnv) same(t *testing.T, method, target, body string, headers ...string) lambdatest.Reply {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, target, reader)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Request-Id", "the-same-id")
	r.Header.Set("User-Agent", "test")
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Add(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
			r.Header.Del("Host")
		}
	}
	e := env.eventOf(t, r)
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	served := lambdatest.Reply{Status: resp.StatusCode, Header: resp.Header, Body: expect.Body(t, resp)}.String()
	var got lambdatest.Reply
	for _, mode := range []lambdahttp.Mode{lambdahttp.Buffered, lambdahttp.Stream} {
		got = lambdatest.Invoke(t, lambdahttp.NewHandler(env.handlers[r.URL.Host], mode), e)
		if challenge := got.Header[lambdahttp.Challenge]; strings.Join(challenge, "") != resp.Header.Get("WWW-Authenticate") {
			t.Errorf("%s %s: challenge %q", method, target, challenge)
		}
		delete(got.Header, lambdahttp.Challenge)
		if as := got.String(); as != served {
			t.Errorf("%s %s, %s:\n%s\nnet/http:\n%s", method, target, mode, as, served)
		}
		if length := got.Header.Get("Content-Length"); length != "" && length != resp.Header.Get("Content-Length") {
			t.Errorf("%s %s: Content-Length %s, net/http %s", method, target, length, resp.Header.Get("Content-Length"))
		}
	}
	return got
}

func TestTheHostsAnswerAsUnderNetHTTP(t *testing.T) {
	d := newParityEnv(t)
	film := strings.Repeat("0123456789\xff\x00", 100_000)
	p, err := d.agent.PublishFiles(t.Context(), "Report", "",
		wire.File{Path: "index.html", Body: []byte("<h1>Hello é</h1>")}, wire.File{Path: "film.mp4", Body: []byte(film)},
		wire.File{Path: "a b/été+1%.html", Body: []byte("odd")}, wire.File{Path: "empty.txt"},
		wire.File{Path: "long.md", Body: []byte(longText)}, wire.File{Path: "large.csv", Body: []byte(largeText)})
	if err != nil {
		t.Fatal(err)
	}
	d.MakeBundles(t) // until then views tell the seconds that are left
	view, err := d.agent.AgentView(t.Context(), p.ArtifactID)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("content", func(t *testing.T) { d.wantContent(t, view, film) })
	t.Run("api", func(t *testing.T) { d.wantAPI(t, p) })
	t.Run("upload", func(t *testing.T) { d.wantUpload(t) })
	t.Run("app", func(t *testing.T) { d.wantApp(t, p) })
	t.Run("mcp", d.wantMCP)
	t.Run("text that is read back", d.wantText)
	t.Run("packed", func(t *testing.T) {
		for _, target := range []string{
			d.Origins.API + "/openapi.json", d.Origins.Upload + "/openapi.json", d.Origins.MCP + "/openapi.json", p.AgentViewURL,
			d.Origins.App + "/", strings.SplitN(p.UnlistedURL, "#", 2)[0],
		} {
			if plain := d.same(t, "GET", target, "").Body; d.wantPacked(t, target) != plain {
				t.Errorf("%s is another text when it is packed", target)
			}
		}
	})
}

// longText is kept in memory, and largeText is not.
var (
	longText  = strings.Repeat("All the same.\n", 1000)
	largeText = strings.Repeat("1,2,3\n", 100_000)
)

// wantPacked checks that a body comes in each coding, and returns it.
func (env *parityEnv) wantPacked(t *testing.T, target string) (text string) {
	t.Helper()
	for _, coding := range []string{"zstd", "gzip"} {
		packed := env.same(t, "GET", target, "", "Accept-Encoding", coding)
		if packed.Header.Get("Content-Encoding") != coding {
			t.Errorf("%s: %v, want %s", target, packed.Header, coding)
		}
		text = unpack.Text(t, packed.Header, []byte(packed.Body))
	}
	return text
}

func (env *parityEnv) wantContent(t *testing.T, view contract.AgentView, film string) {
	urls := map[string]string{}
	for _, f := range view.Files {
		urls[f.Path] = f.URL
	}
	for path, want := range map[string]string{"long.md": longText, "large.csv": largeText} {
		if got := env.wantPacked(t, urls[path]); got != want {
			t.Errorf("%s: %d bytes, want %d", path, len(got), len(want))
		}
	}
	page := env.same(t, "GET", urls["index.html"], "")
	if page.Status != 200 || page.Body != "<h1>Hello é</h1>" {
		t.Errorf("%+v, want the page", page)
	}
	if whole := env.same(t, "GET", urls["film.mp4"], ""); whole.Body != film {
		t.Errorf("%d bytes of the film", len(whole.Body))
	}
	part := env.same(t, "GET", urls["film.mp4"], "", "Range", "bytes=10-11")
	if part.Status != 206 || part.Body != "\xff\x00" {
		t.Errorf("%+v, want two bytes of the film", part)
	}
	if odd := env.same(t, "GET", urls["a b/été+1%.html"], ""); odd.Status != 200 || odd.Body != "odd" {
		t.Errorf("%s: %+v", urls["a b/été+1%.html"], odd)
	}
	env.same(t, "GET", urls["film.mp4"], "", "Range", "bytes=99999999-")
	env.same(t, "GET", urls["film.mp4"], "", "Range", "bytes=0-1,5-6")
	env.same(t, "GET", urls["empty.txt"], "")
	env.same(t, "HEAD", urls["film.mp4"], "")
	known := env.same(t, "GET", urls["index.html"], "", "If-None-Match", `"other", W/`+page.Header.Get("ETag"))
	if known.Status != 304 {
		t.Errorf("%+v, want 304", known)
	}
	env.same(t, "GET", urls["index.html"], "", "Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate")
	env.same(t, "GET", urls["index.html"], "", "Origin", "null", "Cookie", "a=1")
	env.same(t, "GET", urls["index.html"]+"x", "")
	env.same(t, "GET", strings.Replace(urls["index.html"], "/v/", "/v/x", 1), "")
	env.same(t, "GET", urls["index.html"]+"/%2e%2e/index.html", "")
	env.same(t, "POST", urls["index.html"], "\x00\xff")
	env.same(t, "GET", env.Origins.Content+"/openapi.json", "")
	env.same(t, "GET", env.Origins.Content+"/healthz", "")
	if other := env.same(t, "GET", urls["index.html"], "", "Host", "localhost:1"); other.Status != 421 {
		t.Errorf("%+v, want 421", other)
	}
}

func (env *parityEnv) wantAPI(t *testing.T, p contract.Published) {
	base, key := env.Origins.API, []string{"Authorization", "Bearer " + env.agent.Key}
	for _, path := range []string{
		"/v1/whoami", "/v1/artifacts?limit=1", "/v1/artifacts?limit=0&cursor=",
		"/v1/artifacts/" + string(p.ArtifactID) + "/revisions",
	} {
		env.same(t, "GET", base+path, "", key...)
	}
	for _, path := range []string{
		"/.well-known/vitrine", "/openapi.json", "/healthz", "/nothing", "/v1/whoami?api_key=x", "/v1/a%23b?x=1",
		"/v1//whoami",
	} {
		env.same(t, "GET", base+path, "")
	}
	if refused := env.same(t, "GET", base+"/v1/whoami", ""); refused.Status != 401 {
		t.Errorf("%+v, want 401", refused)
	}
	if refused := env.same(t, "GET", base+"/v1/whoami", "", "Authorization", "Bearer a,Bearer b"); refused.Status != 400 {
		t.Errorf("%+v, want 400", refused)
	}
	env.same(t, "HEAD", base+"/v1/whoami", "", key...)
	env.same(t, "OPTIONS", base+"/v1/whoami", "")
	public, blob, err := wire.SplitLink(p.UnlistedURL)
	if err != nil {
		t.Fatal(err)
	}
	resolve := `{"public_id":"` + string(public) + `","blob":"` + blob + `"}`
	opened := env.same(t, "POST", base+"/v1/access-links/resolve", resolve, "Content-Type", "text/plain")
	if opened.Status != 200 {
		t.Errorf("%+v, want 200", opened)
	}
	env.same(t, "POST", base+"/v1/access-links/resolve", "\xff{")
	env.same(t, "GET", p.AgentViewURL, "")
	shown := env.same(t, "GET", p.AgentViewURL, "", "Accept", "text/html,*/*;q=0.8")
	if !strings.HasPrefix(shown.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%+v, want a page", shown)
	}
}

func (env *parityEnv) wantUpload(t *testing.T) {
	env.same(t, "POST", env.Origins.Upload+"/v1/upload-sessions", `{}`)
	env.same(
		t,
		"POST",
		env.Origins.Upload+"/v1/upload-sessions",
		`{"title":7}`,
		"Authorization",
		"Bearer "+env.agent.Key,
		"Idempotency-Key",
		wire.NewKey(),
	)
	env.same(t, "GET", env.Origins.Upload+"/openapi.json", "")
	env.same(t, "GET", env.Origins.Upload+"/healthz", "")
}

func (env *parityEnv) wantApp(t *testing.T, p contract.Published) {
	home := env.same(t, "GET", env.Origins.App+"/", "", "Cookie", "a=1")
	env.same(t, "POST", env.Origins.App+"/", "")
	env.same(t, "GET", strings.SplitN(p.UnlistedURL, "#", 2)[0], "")
	env.same(t, "GET", env.Origins.App+"/al/no%20one", "")
	_, asset, found := strings.Cut(home.Body, `"/assets/`)
	asset, _, _ = strings.Cut(asset, `"`)
	if loaded := env.same(t, "GET", env.Origins.App+"/assets/"+asset, ""); !found || loaded.Status != 200 {
		t.Errorf("%s: %+v", asset, loaded)
	}
	public, blob, err := wire.SplitLink(p.UnlistedURL)
	if err != nil {
		t.Fatal(err)
	}
	resolve := `{"public_id":"` + string(public) + `","blob":"` + blob + `"}`
	for _, c := range []struct {
		status int
		origin []string
	}{
		{200, []string{"Origin", env.Origins.App}},
		{403, []string{"Origin", "https://evil.example"}},
		{403, []string{"Sec-Fetch-Site", "cross-site"}},
	} {
		if got := env.same(t, "POST", env.Origins.App+"/api/access-links/resolve", resolve, c.origin...); got.Status != c.status {
			t.Errorf("%v: %+v", c.origin, got)
		}
	}
}

func (env *parityEnv) wantMCP(t *testing.T) {
	base, ping := env.Origins.MCP, `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, path := range []string{
		"/", "/openapi.json", "/healthz", "/nothing", "/.well-known/oauth-protected-resource",
		"/.well-known/oauth-authorization-server/x", "/.well-known/openid-configuration",
	} {
		env.same(t, "GET", base+path, "")
	}
	for _, method := range []string{"HEAD", "DELETE", "OPTIONS"} {
		env.same(t, method, base+"/", "")
	}
	for name, headers := range map[string][]string{
		"no credential": nil,
		"an API key":    {"Authorization", "Bearer " + env.agent.Key},
		"two at once":   {"Authorization", "Bearer a,Bearer b"},
	} {
		refused := env.same(t, "POST", base+"/", ping, append(headers, "Content-Type", "application/json")...)
		if refused.Status != 401 || !strings.Contains(refused.Header.Get("WWW-Authenticate"), "resource_metadata=") {
			t.Errorf("%s: %+v", name, refused)
		}
	}
	if refused := env.same(t, "POST", base+"/", ping, "Origin", "https://evil.example"); refused.Status != 401 {
		t.Errorf("a page of another site: %+v", refused)
	}
	if refused := env.same(t, "POST", base+"/", ping, "Origin", "null"); refused.Status != 403 {
		t.Errorf("a page without an origin: %+v", refused)
	}
}

// longest asks for a file with the request id that makes the headers longest.
func (env *parityEnv) longest(t *testing.T, target string) any {
	t.Helper()
	r, err := http.NewRequest("GET", target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Request-Id", strings.Repeat(`"`, 128))
	r.Header.Set("Authorization", "Bearer "+env.agent.Key)
	return env.eventOf(t, r)
}

// wantText reads back text of which the answer is about as long as a function may answer. Whether it carries the text
// must not depend on how the host is served.
func (env *parityEnv) wantText(t *testing.T) {
	files := map[string]struct {
		text string
		body bool
	}{
		// 5 MB as JSON, 6.7 MB in base64
		"quotes.json": {"[" + strings.TrimSuffix(strings.Repeat(`"a",`, 840_000), ",") + "]", false},
		// 7 MB as JSON in JSON, 5.6 MB in base64
		"few-quotes.json": {"[" + strings.TrimSuffix(strings.Repeat(`"a",`, 700_000), ",") + "]", true},
		// 5.2 MB, 7 MB in base64
		"plain.txt":        {strings.Repeat("plain text ", 475_000), true},
		"more-than-fits":   {strings.Repeat("plain text ", 477_000), false}, // above 5 MiB
		"lines.txt":        {strings.Repeat("a line of a log, with \"quotes\"\n", 140_000), true},
		"markup/page.html": {strings.Repeat("<b>&</b>", 600_000), true},
	}
	published := []wire.File{{Path: "index.html", Body: []byte("<h1>text</h1>")}}
	for path, f := range files {
		published = append(published, wire.File{Path: path, Body: []byte(f.text)})
	}
	p, err := env.agent.PublishFiles(t.Context(), "Text", "", published...)
	if err != nil {
		t.Fatal(err)
	}
	h := lambdahttp.NewHandler(env.handlers[strings.TrimPrefix(env.Origins.API, "http://")], lambdahttp.Buffered)
	for path, f := range files {
		target := env.Origins.API + "/v1/artifacts/" + string(p.ArtifactID) + "/file-content?path=" + url.QueryEscape(path)
		var got contract.FileContent
		answer := env.same(t, "GET", target, "", "Authorization", "Bearer "+env.agent.Key)
		if err := json.Unmarshal([]byte(answer.Body), &got); err != nil || answer.Status != 200 {
			t.Fatalf("%s: %d, %v", path, answer.Status, err)
		}
		body, _ := limits.FunctionBody([]byte(answer.Body))
		if frame := len(lambdatest.Answer(t, h, env.longest(t, target))) - body; frame > limits.FunctionFrame {
			t.Errorf("%s: %d bytes beside the body", path, frame)
		}
		if got.SizeBytes != int64(len(f.text)) || (got.Body != nil) != f.body || f.body && *got.Body != f.text {
			t.Errorf("%s: %d bytes, the text is there: %t", path, got.SizeBytes, got.Body != nil)
		}
	}
}
