package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/port"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

// stackEnv runs one stack again and again.
type stackEnv struct {
	options stack.Options
	running *stack.Stack
}

func newStackEnv(t *testing.T, d *env) *stackEnv {
	t.Helper()
	numbers := limits.Default()
	numbers.Pow = limits.PowAlways
	p := &stackEnv{options: stack.Options{
		Engines:  engine.Shared(t),
		BasePort: port.Base(t),
		Data:     filepath.Dir(d.file),
		Tables:   "rotation-" + string(id.NewPublic()),
		Limits:   numbers,
		Now:      time.Now,
		Log:      slog.New(slog.NewTextHandler(io.Discard, nil)),
	}}
	t.Cleanup(func() { p.stop(t) })
	return p
}

func (p *stackEnv) stop(t *testing.T) {
	t.Helper()
	if p.running == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.running.Close(ctx); err != nil {
		t.Error(err)
	}
	p.running = nil
}

// restart reads the rings anew, and returns a client without a credential.
func (p *stackEnv) restart(t *testing.T) *wire.Agent {
	t.Helper()
	p.stop(t)
	var err error
	if p.running, err = stack.Start(t.Context(), p.options); err != nil {
		t.Fatal(err)
	}
	anyone, err := wire.Discover(t.Context(), &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		p.running.Origins.API)
	if err != nil {
		t.Fatal(err)
	}
	return anyone
}

// issued is everything that clients of a deployment may hold.
type issued struct {
	key, file, view, link, cursor string
	challenge                     wire.Answer // a refusal that asks for proof of work
	agent                         contract.RegisteredAgent
}

func issue(t *testing.T, anyone *wire.Agent) (h issued) {
	t.Helper()
	g, made, err := anyone.Provision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.key = made.APIKeySecret
	for range 2 {
		p, err := g.PublishFiles(t.Context(), "Title", "", wire.File{Path: "index.html", Body: []byte("<p>page</p>")})
		if err != nil {
			t.Fatal(err)
		}
		view, err := g.AgentView(t.Context(), p.ArtifactID)
		if err != nil {
			t.Fatal(err)
		}
		h.link = p.UnlistedURL
		h.view = p.AgentViewURL
		h.file = view.Files[0].URL
	}
	first := do(t, g, "GET", g.At.APIURL+"/v1/artifacts?limit=1", nil)
	var page contract.ArtifactList
	if err := json.Unmarshal(first.Body, &page); err != nil || page.PageInfo.NextCursor == nil {
		t.Fatalf("%s %v", first.Body, err)
	}
	h.cursor = *page.PageInfo.NextCursor
	registered := do(t, anyone, "POST", g.At.APIURL+"/agent/identity",
		contract.RegisterAgent{Type: contract.AnonymousType})
	if err := json.Unmarshal(registered.Body, &h.agent); err != nil || h.agent.IdentityAssertion == "" {
		t.Fatalf("%s %v", registered.Body, err)
	}
	h.challenge = do(t, anyone, "POST", g.At.APIURL+"/v1/ephemeral/provision", contract.ProvisionRequest{})
	return h
}

func do(t *testing.T, g *wire.Agent, method, target string, body any, headers ...string) wire.Answer {
	t.Helper()
	a, err := g.Do(t.Context(), method, target, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// answers tries everything that was issued, and returns the outcomes.
func (h issued) answers(t *testing.T, anyone *wire.Agent) map[string]string {
	t.Helper()
	api, owner := anyone.At.APIURL, *anyone
	owner.Key = h.key
	public, blob, err := wire.SplitLink(h.link)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := wire.Prove(t.Context(), h.challenge)
	if err != nil {
		t.Fatal(err)
	}
	exchange := url.Values{"grant_type": {contract.GrantJWTBearer}, "assertion": {h.agent.IdentityAssertion}}.Encode()
	said := map[string]string{}
	for what, a := range map[string]wire.Answer{
		"content token":    do(t, anyone, "GET", h.file, nil),
		"agent-view token": do(t, anyone, "GET", h.view, nil),
		"link": do(t, anyone, "POST", api+"/v1/access-links/resolve",
			contract.ResolveRequest{PublicID: public, Blob: blob}),
		"API key":       do(t, &owner, "GET", api+"/v1/whoami", nil),
		"cursor":        do(t, &owner, "GET", api+"/v1/artifacts?limit=1&cursor="+url.QueryEscape(h.cursor), nil),
		"proof of work": do(t, anyone, "POST", api+"/v1/ephemeral/provision", proof),
		"claim token": do(t, anyone, "POST", api+"/agent/identity/claim",
			contract.StartClaim{ClaimToken: h.agent.ClaimToken}),
		"assertion": do(t, anyone, "POST", api+"/oauth2/token", exchange, "Content-Type",
			"application/x-www-form-urlencoded"),
	} {
		var oauth contract.OAuthError
		json.Unmarshal(a.Body, &oauth) // any other envelope has no code here
		said[what] = strings.TrimSpace(fmt.Sprint(a.Status, " ", a.Code(), oauth.Error))
	}
	return said
}

func TestT80ADeploymentServesThroughARotationOfEveryRing(t *testing.T) {
	d := newEnv(t)
	p := newStackEnv(t, d)
	wants := func(when string, h issued, anyone *wire.Agent, want map[string]string) {
		t.Helper()
		for what, said := range h.answers(t, anyone) {
			if said != want[what] {
				t.Errorf("%s: the %s is answered with %s, want %s", when, what, said, want[what])
			}
		}
	}
	works := map[string]string{
		"content token":    "200",
		"agent-view token": "200",
		"link":             "200",
		"API key":          "200",
		"cursor":           "200",
		"proof of work":    "201",
		"claim token":      "200",
		"assertion":        "200",
	}
	spent := maps.Clone(works)
	spent["proof of work"] = "400 pow_invalid" // each challenge is accepted once

	before := issue(t, p.restart(t))
	d.every(t, "stage")
	p.restart(t)
	d.now = d.now.Add(keyring.StageAge)
	d.every(t, "flip")
	anyone := p.restart(t)
	wants("after the flip", before, anyone, works)
	after := issue(t, anyone)

	d.every(t, "drop", "--emergency")
	anyone = p.restart(t)
	wants("what the dropped keys made", before, anyone, map[string]string{
		"content token":    "404 not_found",
		"agent-view token": "404 not_found",
		"link":             "404 not_found",
		"API key":          "401 not_authenticated",
		"cursor":           "401 not_authenticated",
		"proof of work":    "400 pow_invalid", // the key of the list request is gone too
		"claim token":      "400 expired_token",
		"assertion":        "400 invalid_grant",
	})
	wants("what the new keys made", after, anyone, works)
	wants("what the new keys made, again", after, anyone, spent)
}

// every takes a step on all rings.
func (d *env) every(t *testing.T, step string, options ...string) {
	t.Helper()
	for _, ring := range keyring.Names() {
		d.take(t, append([]string{step, ring}, options...)...)
	}
}

func TestT80ACursorOfADroppedKeyIsRefused(t *testing.T) {
	d := newEnv(t)
	p := newStackEnv(t, d)
	before := issue(t, p.restart(t))
	d.take(t, "stage", "seal")
	d.take(t, "flip", "seal", "--emergency")
	d.take(t, "drop", "seal", "--emergency")
	if got := before.answers(t, p.restart(t))["cursor"]; got != "400 "+string(fault.InvalidCursor) {
		t.Errorf("it is answered with %s", got)
	}
}
