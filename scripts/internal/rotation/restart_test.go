package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/port"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

// hosts are a deployment that runs again and again, on the rings of a file.
type hosts struct {
	data, tables string
	base         int
	running      *harness.Env
}

// restart reads the rings anew, and returns a client without a credential.
func (h *hosts) restart(t *testing.T) *wire.Agent {
	t.Helper()
	if h.running != nil {
		harness.NoError(t, h.running.Close(t.Context()))
	}
	h.running = harness.NewEnv(t, func(o *stack.Options) {
		o.Data, o.Tables, o.BasePort = h.data, h.tables, h.base
		o.Limits.Pow = limits.PowAlways
		o.Lambda = false
	})
	return h.running.Anyone
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
	harness.NoError(t, err)
	h.key = made.APIKeySecret
	for range 2 {
		page := wire.File{Path: "index.html", Body: []byte("<p>page</p>")}
		p := harness.Must(g.PublishFiles(t.Context(), "Title", "", page))(t)
		view := harness.Must(g.AgentView(t.Context(), p.ArtifactID))(t)
		h.link = p.UnlistedURL
		h.view = p.AgentViewURL
		h.file = view.Files[0].URL
	}
	first := harness.Call[contract.ArtifactList](t, g, 200, "GET", "/v1/artifacts?limit=1", nil)
	h.cursor = *first.PageInfo.NextCursor
	h.agent = harness.Call[contract.RegisteredAgent](t, anyone, 200, "POST", "/agent/identity",
		contract.RegisterAgent{Type: contract.AnonymousType})
	h.challenge = harness.Do(t, anyone, "POST", g.At.APIURL+"/v1/ephemeral/provision", contract.ProvisionRequest{})
	return h
}

// answers tries everything that was issued, and returns the outcomes.
func (i issued) answers(t *testing.T, anyone *wire.Agent) map[string]string {
	t.Helper()
	api, owner := anyone.At.APIURL, *anyone
	owner.Key = i.key
	public, blob, err := wire.SplitLink(i.link)
	harness.NoError(t, err)
	proof := harness.Must(wire.Prove(t.Context(), i.challenge))(t)
	exchange := harness.JWTBearer(i.agent.IdentityAssertion).Encode()
	said := map[string]string{}
	for what, a := range map[string]wire.Answer{
		"content token":    harness.Do(t, anyone, "GET", i.file, nil),
		"agent-view token": harness.Do(t, anyone, "GET", i.view, nil),
		"link": harness.Do(t, anyone, "POST", api+"/v1/access-links/resolve",
			contract.ResolveRequest{PublicID: public, Blob: blob}),
		"API key":       harness.Do(t, &owner, "GET", api+"/v1/whoami", nil),
		"cursor":        harness.Do(t, &owner, "GET", api+"/v1/artifacts?limit=1&cursor="+url.QueryEscape(i.cursor), nil),
		"proof of work": harness.Do(t, anyone, "POST", api+"/v1/ephemeral/provision", proof),
		"claim token": harness.Do(t, anyone, "POST", api+"/agent/identity/claim",
			contract.StartClaim{ClaimToken: i.agent.ClaimToken}),
		"assertion": harness.Do(t, anyone, "POST", api+"/oauth2/token", exchange, "Content-Type",
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
	p := &hosts{data: filepath.Dir(d.file), tables: "rotation-" + string(id.NewPublic()), base: port.Base(t)}
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

	for _, ring := range keyring.Names() {
		if ring != "pepper" {
			d.take(t, "drop", ring, "--emergency")
		}
	}
	if got := before.answers(t, p.restart(t))["cursor"]; got != "400 "+string(fault.InvalidCursor) {
		t.Errorf("the cursor of a dropped key, with a key that lives, is answered with %s", got)
	}
	d.take(t, "drop", "pepper", "--emergency")
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
func (e *env) every(t *testing.T, step string) {
	t.Helper()
	for _, ring := range keyring.Names() {
		e.take(t, step, ring)
	}
}
