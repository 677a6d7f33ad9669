package hostile

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// secretsOf are the secrets that a workspace is made with, whole and without the part that may be seen.
func secretsOf(p contract.Provisioned) (out []string) {
	const tail = 43 + 6 // secret and checksum
	for _, s := range []string{p.APIKeySecret, p.ClaimToken} {
		out = append(out, s, s[len(s)-tail:], s[len(s)-tail:len(s)-6])
	}
	return out
}

var (
	signature = regexp.MustCompile(`X-Amz-Signature=([0-9a-f]{64})`)
	signed    = regexp.MustCompile(`/(?:v|agent-view|al)/([0-9A-Za-z_-]{60,})`)
	fragment  = regexp.MustCompile(`#([0-9A-Za-z_-]{60,})`)
)

// secretsIn returns the bearer secrets in answers: presigned signatures, tokens in paths and blobs in fragments.
func secretsIn(t testing.TB, answers ...any) (out []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, a := range answers {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		harness.NoError(t, e.Encode(a))
		for _, form := range []*regexp.Regexp{signature, signed, fragment} {
			for _, found := range form.FindAllStringSubmatch(b.String(), -1) {
				if s := found[1]; !seen[s] {
					seen[s] = true
					out = append(out, s, url.QueryEscape(s))
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("the answers hold no secret")
	}
	return out
}

// routeTrail asks with request ids of its own and remembers what the log has to say about each.
type routeTrail struct {
	*harness.BackendEnv
	told map[string]line // by request id
}

// line is what the log says about a request.
type line struct {
	Host, Method, Route string
	Status              int
}

// ask sends a request that the log has to call by this host, method and route; the status is what was answered.
func (trail *routeTrail) ask(t *testing.T, g *wire.Agent, route, target string, body any, headers ...string) wire.Answer {
	t.Helper()
	name, parts := fmt.Sprintf("journey-%d", len(trail.told)), strings.Fields(route)
	a := harness.Do(t, g, parts[1], target, body, append(headers, "X-Request-Id", name)...)
	trail.told[name] = line{
		Host:   parts[0],
		Method: parts[1],
		Route:  parts[2],
		Status: a.Status,
	}
	return a
}

// walk goes through all that the hosts answer, good and bad, and returns every secret that it met.
func (trail *routeTrail) walk(t *testing.T) (secrets []string) {
	t.Helper()
	g, provisioned, err := trail.Anyone.Provision(ctx)
	harness.NoError(t, err)
	secrets = secretsOf(provisioned)
	o, idem := trail.Origins, "Idempotency-Key"
	create := func(r contract.CreateSession, key string) wire.Answer {
		return trail.ask(t, g, "upload POST /v1/upload-sessions", o.Upload+"/v1/upload-sessions", r, idem, key)
	}
	key, r := wire.NewKey(), wire.Declare("T", harness.Page("p"))
	var s contract.Session
	harness.Decode(t, create(r, key), &s)
	again := create(r, key)
	create(wire.Declare("other", harness.Page("p")), key)
	finalize := func() {
		target := o.Upload + "/v1/upload-sessions/" + string(s.UploadSessionID) + "/finalize"
		const route = "upload POST /v1/upload-sessions/{upload_session_id}/finalize"
		trail.ask(t, g, route, target, nil, idem, wire.NewKey())
	}
	finalize()
	harness.PutAs(t, g, s.Files[0], harness.Page("q").Body)
	harness.PutAs(t, g, s.Files[0], harness.Page("p").Body)
	trail.Faults.On("ListObjectsV2").Times(3).Before(chaos.Timeout)
	finalize()
	finalize()
	secrets = append(secrets, secretsIn(t, s, json.RawMessage(again.Body))...)

	publish := func() wire.Answer {
		target := o.API + "/v1/artifacts/" + string(s.ArtifactID) + "/revisions/" + string(s.RevisionID) + "/publish"
		const route = "api POST /v1/artifacts/{artifact_id}/revisions/{revision_id}/publish"
		return trail.ask(t, g, route, target, nil, idem, key)
	}
	trail.Faults.On("TransactWriteItems").Times(3).Before(chaos.Timeout)
	publish()
	a := publish()
	secrets = append(secrets, secretsIn(t, json.RawMessage(a.Body))...)
	var p contract.Published
	harness.Decode(t, a, &p)
	return append(append(secrets, trail.read(t, g, p)...), trail.stray(t, g, p)...)
}

// read opens what was published in every way.
func (trail *routeTrail) read(t *testing.T, g *wire.Agent, p contract.Published) (secrets []string) {
	t.Helper()
	o := trail.Origins
	const view = "api GET /v1/artifacts/{artifact_id}/agent-view"
	owned := trail.ask(t, g, view, o.API+"/v1/artifacts/"+string(p.ArtifactID)+"/agent-view", nil)
	const public = "api GET /v1/public/agent-view/{token}"
	trail.ask(t, trail.Anyone, public, p.AgentViewURL, nil)
	trail.ask(t, trail.Anyone, public, p.AgentViewURL+"x", nil)
	name, blob, err := wire.SplitLink(p.UnlistedURL)
	harness.NoError(t, err)
	trail.ask(t, trail.Anyone, "app GET /al/{publicId}", o.App+"/al/"+string(name), nil)
	request := contract.ResolveRequest{PublicID: name, Blob: blob}
	const resolve = "/access-links/resolve"
	opened := trail.ask(t, trail.Anyone, "api POST /v1"+resolve, o.API+"/v1"+resolve, request)
	viewed := trail.ask(t, trail.Anyone, "app POST /api"+resolve, o.App+"/api"+resolve, request,
		"Origin", o.App, "Content-Type", "application/json")
	request.PublicID = id.NewPublic()
	trail.ask(t, trail.Anyone, "api POST /v1"+resolve, o.API+"/v1"+resolve, request)
	const content = " /v/{token}/{path...}"
	trail.Faults.On("GetObject").Times(3).Before(chaos.Timeout)
	for _, method := range []string{"GET", "GET", "HEAD"} {
		trail.ask(t, trail.Anyone, "content "+method+content, p.RevisionContentURL, nil)
	}
	trail.ask(t, trail.Anyone, "content GET"+content, p.RevisionContentURL+"/none", nil)
	trail.ask(t, trail.Anyone, "content GET"+content, p.RevisionContentURL, nil, "Range", "bytes=999999-")
	trail.Faults.On("BatchGetItem").Times(3).Before(chaos.Unreachable)
	trail.ask(t, trail.Anyone, "content GET"+content, p.RevisionContentURL, nil)
	return secretsIn(t, json.RawMessage(owned.Body), json.RawMessage(opened.Body), json.RawMessage(viewed.Body))
}

// stray puts secrets where they do not belong.
func (trail *routeTrail) stray(t *testing.T, g *wire.Agent, p contract.Published) []string {
	t.Helper()
	o, key := trail.Origins, url.PathEscape(g.Key)
	const whoami = "api GET /v1/whoami"
	trail.ask(t, g, whoami, o.API+"/v1/whoami?api_key="+key, nil)
	trail.ask(t, trail.Anyone, whoami, o.API+"/v1/whoami", nil, "Authorization", "Basic "+g.Key)
	trail.ask(t, trail.Anyone, whoami, o.API+"/v1/whoami", nil, "Authorization", "Bearer "+g.Key+"x")
	trail.ask(t, g, "api GET none", o.API+"/v1/"+key, nil)
	trail.ask(t, g, "api GET /v1/artifacts/{artifact_id}/agent-view", o.API+"/v1/artifacts/"+key+"/agent-view", nil)
	trail.ask(t, g, "api GET /v1/artifacts", o.API+"/v1/artifacts?cursor="+key, nil)
	trail.ask(t, g, "api POST /v1/ephemeral/provision", o.API+"/v1/ephemeral/provision", `{"`+g.Key+`":"`+g.Key+`"}`)
	trail.ask(t, g, "api DELETE /v1/artifacts/{artifact_id}", o.API+"/v1/artifacts/"+string(p.ArtifactID), nil,
		"Idempotency-Key", "k "+g.Key)
	trail.ask(t, g, "content GET /v/{token}/{path...}", o.Content+"/v/"+key+"/"+key, nil)
	trail.ask(t, g, "upload POST none", o.Upload+"/v1/upload-sessions/"+key, nil,
		"Referer", p.UnlistedURL, "User-Agent", g.Key)
	trail.SendRaw(t, "api", strings.ReplaceAll(strings.ToUpper(g.Key[:40]), "_", "-")+" /v1/"+g.Key, "")
	return []string{key}
}

// TestT76NoSecretIsLoggedAndEachRequestHasOneLineWithItsRoute reads the log of the walk.
func TestT76NoSecretIsLoggedAndEachRequestHasOneLineWithItsRoute(t *testing.T) {
	t.Parallel()
	l := &routeTrail{BackendEnv: harness.NewBackendEnv(t, harness.Unlimited), told: map[string]line{}}
	secrets := append(
		l.walk(t), "X-Amz-Signature", "X-Amz-Credential", "Authorization", "Bearer ", "Basic ", "vitrine-local",
	)
	text := l.Log.String()
	for n, s := range secrets {
		if at := strings.Index(text, s); at >= 0 {
			start := strings.LastIndex(text[:at], "\n") + 1
			t.Errorf("secret %d of %d bytes is in the log: %.400s", n, len(s), text[start:])
		}
	}
	if len(secrets) < 20 || l.told["journey-0"].Status != http.StatusOK {
		t.Errorf("only %d secrets were looked for, or the walk did not begin well", len(secrets))
	}
	logged := map[string]int{}
	for _, text := range strings.Split(strings.TrimSpace(text), "\n") {
		var got struct {
			line
			RequestID  string `json:"request_id"`
			Msg        string
			DurationMS float64 `json:"duration_ms"`
		}
		err := json.Unmarshal([]byte(text), &got)
		if err != nil || got.Msg != "request" || got.RequestID == "" || got.DurationMS <= 0 {
			t.Errorf("a line is no object about a request (%v): %s", err, text)
		}
		want, mine := l.told[got.RequestID]
		if logged[got.RequestID]++; mine && got.line != want {
			t.Errorf("%s is logged as %+v, want %+v", got.RequestID, got.line, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.told)) {
		if logged[name] != 1 {
			t.Errorf("%s (%+v) has %d lines", name, l.told[name], logged[name])
		}
	}
}

func TestT52NoSecretIsStored(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g, provisioned, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	done := harness.NewReplays(t, g)
	done.Repeat(t, g)
	resolved := harness.Must(g.Resolve(ctx, done.Published.UnlistedURL))(t)
	secrets := append(
		secretsOf(provisioned),
		secretsIn(t, done.Session, done.Published, resolved, harness.Must(g.AgentView(ctx, done.Published.ArtifactID))(t))...,
	)
	for _, s := range secrets {
		if raw, err := base64.RawURLEncoding.DecodeString(s); err == nil && len(raw) >= 16 {
			secrets = append(secrets, string(raw))
		}
	}
	var all strings.Builder
	for _, table := range []string{p.Tables.Core, p.Tables.Events, p.Tables.Hot} {
		for _, item := range p.Scan(t, table) {
			for name, v := range item {
				all.WriteString(name + " " + harness.Inflated(v) + "\n")
			}
		}
	}
	if !strings.Contains(all.String(), "index.html") ||
		!strings.Contains(all.String(), string(done.Published.ArtifactID)) {
		t.Fatal("the scan sees nothing")
	}
	for n, s := range secrets {
		if strings.Contains(all.String(), s) {
			t.Errorf("secret %d of %d bytes is stored", n, len(s))
		}
	}
}
