package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// withAgents is an api host where agents can register.
func withAgents(t *testing.T) *authority {
	t.Helper()
	a := newAuthority(t)
	people := a.host.OAuth
	store, origins := a.store, people.Origins
	signer, err := assertion.New(keyring.New().Assertion, origins.API)
	if err == nil {
		err = store.Workspaces.InitQuota(t.Context(), ephemeral.Quota{PerMinute: limits.ProvisionQuota}, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	service := &agentauth.Service{
		Store:       store.Registrations,
		Mover:       store.Claims,
		Artifacts:   store.Artifacts,
		Counters:    store.Counters,
		Failures:    store.Counters,
		Limiter:     people.Limiter,
		Limits:      &a.limits,
		Signer:      signer,
		Delegations: store.Delegations,
		Revocations: &delegation.Service{Store: store.Delegations, Now: time.Now},
		Peppers:     people.Peppers,
		Environment: credential.Preview,
		Origins:     origins,
		Now:         time.Now,
		Admission: &ephemeral.Provisioner{
			Store:       store.Workspaces,
			Limiter:     people.Limiter,
			Counters:    store.Counters,
			Limits:      &a.limits,
			Pow:         &pow.Service{Keys: people.Peppers, Store: store.Counters, Now: time.Now},
			Peppers:     people.Peppers,
			Environment: credential.Preview,
			Now:         time.Now,
		},
	}
	a.host.Agents = service
	a.host.AssertionKeys = signer.JWKS()
	a.host.Features.Agents = true
	a.host.Limits = &a.limits
	a.host.URLs = &address.URLBuilder{Origins: origins}
	a.Close()
	a.Server = httptest.NewServer(a.host.Surface.Handler(slices.Concat(a.host.oauthRoutes(), a.host.agentRoutes(),
		a.host.wellKnownRoutes(), a.host.manualRoutes())...))
	t.Cleanup(a.Close)
	return a
}

func (r reply) json(t *testing.T) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &m); err != nil ||
		!strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		t.Fatal(r.Status, r.body, err)
	}
	return m
}

const asJSON = "application/json"

func TestAnAgentRegistersAndAsksToBeClaimedOverHTTP(t *testing.T) {
	a := withAgents(t)
	r := a.send(t, "POST", "/agent/identity", `{"type":"anonymous","more":1}`, "Content-Type", asJSON)
	made := r.json(t)
	if r.StatusCode != 200 || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Pragma") != "no-cache" ||
		made["claim_url"] != "https://api.example.com/agent/identity/claim" {
		t.Fatal(r.Status, r.Header, r.body)
	}
	token := a.send(t, "POST", "/oauth2/token", url.Values{"grant_type": {contract.GrantJWTBearer}, "assertion": {made["identity_assertion"].(string)}}.Encode()).json(t)
	if token["token_type"] != "Bearer" || token["expires_in"] != 3600.0 || token["scope"] != "read publish" ||
		token["identity_assertion"] != nil {
		t.Error(token)
	}
	ask := `{"claim_token":"` + made["claim_token"].(string) + `"}`
	started := a.send(t, "POST", "/agent/identity/claim", ask, "Content-Type", asJSON).json(t)
	prompt, _ := started["claim"].(map[string]any)
	if started["claim_token"] != made["claim_token"] || started["user_code"] != prompt["user_code"] ||
		prompt["interval"] != 5.0 {
		t.Error(started)
	}
	for range limits.PollBurst + 1 {
		poll := url.Values{"grant_type": {contract.GrantClaimAlias}, "claim_token": {made["claim_token"].(string)}}
		r = a.send(t, "POST", "/oauth2/token", poll.Encode())
	}
	if r.StatusCode != 400 || r.json(t)["error"] != "slow_down" || r.Header.Get("Retry-After") == "" {
		t.Error("T28:", r.Status, r.body)
	}
}

func TestWhatAgentsAreToldWhenTheyCannotRegister(t *testing.T) {
	a := withAgents(t)
	for _, tt := range []struct {
		path, body string
		status     int
		code       string
	}{
		{"/agent/identity", `{"type":"service_auth"}`, 400, "invalid_request"},
		{"/agent/identity", `{}`, 400, "invalid_request"},
		{"/agent/identity", `[]`, 400, "invalid_request"},
		{"/agent/identity", `{"type":1}`, 400, "invalid_request"},
		{"/agent/identity", `{"type":"anonymous","type":"anonymous"}`, 400, "invalid_request"},
		{"/agent/identity", `{"type":"identity_assertion","assertion_type":"urn:ietf:params:oauth:token-type:id-jag","assertion":"e30.e30.e30"}`, 503, "temporarily_unavailable"},
		{"/agent/identity/claim", `{}`, 400, "expired_token"},
		{"/agent/identity/claim", `{"claim_token":"ap_ct_x"}`, 400, "expired_token"},
	} {
		r := a.send(t, "POST", tt.path, tt.body, "Content-Type", asJSON)
		if r.StatusCode != tt.status || r.json(t)["error"] != tt.code || r.json(t)["error_description"] == "" {
			t.Errorf("%s %s: %s %s", tt.path, tt.body, r.Status, r.body)
		}
	}
	a.limits.ProvisionAddress.Limit = 1
	a.send(t, "POST", "/agent/identity", `{"type":"anonymous"}`, "Content-Type", asJSON)
	if r := a.send(t, "POST", "/agent/identity", `{"type":"anonymous"}`, "Content-Type", asJSON); r.StatusCode != 429 ||
		r.json(t)["error"] != "ephemeral_provision_rate_limited" || r.Header.Get("Retry-After") == "" {
		t.Error(r.Status, r.body)
	}
	a.host.Agents.(*agentauth.Service).Signer, a.host.AssertionKeys = nil, nil
	a.host.Features.Agents = false
	for _, path := range []string{"/agent/identity", "/agent/identity/claim"} {
		if r := a.send(t, "POST", path, `{"type":"anonymous"}`, "Content-Type", asJSON); r.StatusCode != 503 ||
			r.json(t)["error"] != "temporarily_unavailable" {
			t.Error(r.Status, r.body)
		}
	}
	server := a.send(t, "GET", "/.well-known/oauth-authorization-server", "").json(t)
	if types := server["agent_auth"].(map[string]any)["identity_types_supported"]; len(types.([]any)) != 0 {
		t.Error(types)
	}
	if r := a.send(t, "GET", "/.well-known/jwks.json", ""); r.StatusCode != 200 || r.body != `{"keys":[]}` {
		t.Error(r.Status, r.body)
	}
	if r := a.send(t, "GET", "/auth.md", ""); !strings.Contains(r.body, "none until the operator sets it up") {
		t.Error(r.body)
	}
}

func TestAgentsThatMayNotRegisterWithoutAPersonAreToldHowToSignIn(t *testing.T) {
	a := withAgents(t)
	a.host.Agents.(*agentauth.Service).NoAnonymous = true
	a.host.Features.NoAnonymous = true
	r := a.send(t, "POST", "/agent/identity", `{"type":"anonymous"}`, "Content-Type", asJSON)
	if r.StatusCode != 403 || r.json(t)["error"] != "access_denied" || r.Header.Get("Cache-Control") != "no-store" ||
		!strings.Contains(r.json(t)["error_description"].(string), "vitrine login") {
		t.Error(r.Status, r.Header, r.body)
	}
	server := a.send(t, "GET", "/.well-known/oauth-authorization-server", "").json(t)
	if types := server["agent_auth"].(map[string]any)["identity_types_supported"]; len(types.([]any)) != 0 {
		t.Error(types)
	}
}

// TestTheGuideOffersWhatADeploymentHas fails if the guide of any deployment leads agents to what is refused.
func TestTheGuideOffersWhatADeploymentHas(t *testing.T) {
	const publish, register, vouched = "--ephemeral", `{"type":"anonymous"}`, "or register with your identity provider"
	for _, tt := range []struct {
		noEphemeral, noAnonymous, providers bool
		has, lacks                          []string
	}{
		{false, false, false, []string{publish, register, "last 24 hours"}, []string{vouched, "Nobody", "No agent"}},
		{false, true, false, []string{publish, "No agent registers here without a person", "403 `access_denied`"},
			[]string{register, vouched, "register anonymously", "`anonymous`"}},
		{true, true, false, []string{"Nobody publishes here without an account", "vitrine login"},
			[]string{publish, register, vouched, "register anonymously", "Without an account"}},
		{true, true, true, []string{vouched, "enabled: `identity_assertion`.", "## Step by step"},
			[]string{publish, register, "`anonymous`"}},
	} {
		a := withAgents(t)
		a.host.Features.AccountsOnly, a.host.Features.NoAnonymous = tt.noEphemeral, tt.noAnonymous
		a.host.Features.Providers = tt.providers
		guide := a.send(t, "GET", "/auth.md", "").body
		expect.Has(t, "the guide", guide, append(tt.has, "2. **Get an access token**", "## What happens in the browser")...)
		expect.Lacks(t, "the guide", guide, append(tt.lacks, "{{", "<no value>", "\n\n\n")...)
		if len(guide) > 8<<10 {
			t.Errorf("%d bytes", len(guide))
		}
	}
	a := withAgents(t)
	p := a.limits.Tiers[limits.Ephemeral]
	p.DefaultLife = 5 * limits.Day
	a.limits.Tiers[limits.Ephemeral] = p
	expect.Has(t, "the guide", a.send(t, "GET", "/auth.md", "").body, "Artifacts of an unclaimed agent last 5 days.")
}

func TestDocumentsNameTheDeployment(t *testing.T) {
	a := withAgents(t)
	a.host.URLs = &address.URLBuilder{}
	const guide = "/auth.md"
	if d, err := a.host.discovery(t.Context(), nil); err != nil || d.Name != "" || d.Contact != "" {
		t.Errorf("a deployment without a name: %+v, %v", d, err)
	}
	if r := a.send(t, "GET", guide, ""); !strings.HasPrefix(r.body, "# Vitrine: access for agents\n\nVitrine publishes") {
		t.Errorf("a deployment without a name: %.80s", r.body)
	}
	const name, contact = "Pictures & 'Papers'", "mailto:help@example.com"
	a.host.Features.Brand = policy.Brand{Name: name, Contact: contact}
	if d, err := a.host.discovery(t.Context(), nil); err != nil || d.Name != name || d.Contact != contact {
		t.Errorf("%+v, %v", d, err)
	}
	if r := a.send(t, "GET", guide, ""); !strings.HasPrefix(r.body, "# "+name+": access for agents\n\n"+name+" publishes") {
		t.Errorf("%.80s", r.body)
	}
	a.host.Loads.Scripts = []string{"*.company.example"}
	const loads = `"loads_from":{"scripts":["*.company.example"]}`
	d, _ := a.host.discovery(t.Context(), nil)
	expect.Has(t, "the hosts", must(json.Marshal(d)), loads)
	r := a.send(t, "GET", "/oauth2/authorize", "")
	expect.Has(t, "a refusal", r.body, `<p>Contact: <a href="mailto:help@example.com">help@example.com</a></p>`)
}

func TestDocumentsComeFromConfigurationAndMayBeReadFromAnywhere(t *testing.T) {
	a := withAgents(t)
	a.host.Features.People, a.host.Features.Documents = true, true
	for _, path := range []string{
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/v1",
		"/.well-known/oauth-protected-resource/v1/artifacts",
		"/.well-known/oauth-authorization-server", "/.well-known/jwks.json", "/auth.md",
	} {
		r := a.send(t, "GET", path, "", "X-Forwarded-Host", "evil.example", "Origin", "https://inspector.example")
		if r.StatusCode != 200 || r.Header.Get("Cache-Control") != "public, max-age=300" ||
			r.Header.Get("Access-Control-Allow-Origin") != "*" ||
			r.Header.Get("Access-Control-Allow-Credentials") != "" || strings.Contains(r.body, "127.0.0.1") || strings.Contains(r.body, "evil") {
			t.Error(path, r.Status, r.Header, r.body)
		}
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/openid-configuration/v1", "/.well-known", "/.well-known/x/y"} {
		if r := a.send(t, "GET", path, ""); r.StatusCode != 404 || !strings.Contains(r.body, `"code":"not_found"`) {
			t.Error(path, r.Status, r.body)
		}
	}
	resource := a.send(t, "GET", "/.well-known/oauth-protected-resource/v1", "").json(t)
	server := a.send(t, "GET", "/.well-known/oauth-authorization-server", "").json(t)
	for name, value := range resource {
		if text, _ := json.Marshal(server[name]); string(text) != must(json.Marshal(value)) {
			t.Errorf("%s is %v, and %s for the server", name, value, text)
		}
	}
	if resource["resource"] != "https://api.example.com" || len(resource) != 6 ||
		server["issuer"] != "https://api.example.com" {
		t.Error(resource, server["issuer"])
	}
	for name, path := range map[string]string{
		"token_endpoint": "/oauth2/token", "revocation_endpoint": "/oauth2/revoke", "authorization_endpoint": "/oauth2/authorize", "registration_endpoint": "/oauth2/register",
		"device_authorization_endpoint": "/oauth2/device_authorization", "jwks_uri": "/.well-known/jwks.json",
	} {
		if server[name] != "https://api.example.com"+path {
			t.Errorf("%s is %v", name, server[name])
		}
	}
	if grants, _ := server["grant_types_supported"].([]any); len(grants) != 7 ||
		!slices.Contains(grants, any(contract.GrantClaimAlias)) {
		t.Error(grants)
	}
	if server["client_id_metadata_document_supported"] != true ||
		server["authorization_response_iss_parameter_supported"] != true ||
		must(json.Marshal(server["response_modes_supported"])) != `["query"]` || server["protected_resources"] != nil {
		t.Error(server)
	}
	if keys := a.send(t, "GET", "/.well-known/jwks.json", "").json(t)["keys"].([]any); len(keys) != 1 ||
		keys[0].(map[string]any)["d"] != nil {
		t.Error(keys)
	}
	a.host.Features.People = false
	if r := a.send(t, "GET", "/.well-known/oauth-authorization-server", ""); strings.Contains(r.body, "authorization_endpoint") || strings.Contains(r.body, contract.GrantDevice) ||
		strings.Contains(r.body, "client_id_metadata") {
		t.Error("nobody can sign in, but clients are told to ask:", r.body)
	}
}

func must(text []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestTheGuideIsShortAndNamesThisDeployment(t *testing.T) {
	a := withAgents(t)
	r := a.send(t, "GET", "/auth.md", "")
	if r.Header.Get("Content-Type") != "text/markdown; charset=utf-8" || len(r.body) > 8000 {
		t.Error(r.Header, len(r.body))
	}
	expect.Has(t, "the guide", r.body,
		"https://api.example.com/.well-known/oauth-protected-resource", "https://api.example.com/.well-known/oauth-authorization-server", contract.GrantJWTBearer,
		contract.GrantClaim, contract.GrantClaimAlias, "`anonymous`", "`read`", "`publish`", "service_auth", "Retry-After",
	)
	expect.Lacks(t, "the guide", r.body, "{{", "<no value>")
	if r := a.send(t, http.MethodPost, "/auth.md", ""); r.StatusCode != 404 {
		t.Error(r.Status)
	}
}

func TestSecurityEventsAreRefusedWhoeverSendsThem(t *testing.T) {
	a := withAgents(t)
	for kind, body := range map[string]string{
		"application/secevent+jwt": "eyJhbGciOiJub25lIn0.e30.", asJSON: "{}", "text/plain": strings.Repeat("x", 1<<20), "": "",
	} {
		r := a.send(t, "POST", "/agent/event/notify", body, "Content-Type", kind)
		if r.StatusCode != 503 || r.json(t)["error"] != "temporarily_unavailable" ||
			r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s %s", kind, r.Status, r.body)
		}
	}
	if r := a.send(t, "GET", "/agent/event/notify", ""); r.StatusCode != 404 {
		t.Error(r.Status)
	}
}

// TestWhatIsNotSetUpIsCountedByAddressAndIsNoOutage asks for what needs an identity provider that is trusted. Anybody
// can, so that it must neither be free nor look like a failure of the service.
func TestWhatIsNotSetUpIsCountedByAddressAndIsNoOutage(t *testing.T) {
	const idJAG = `"assertion_type":"urn:ietf:params:oauth:token-type:id-jag","assertion":"e30.e30.e30"`
	for name, c := range map[string]struct {
		path, body string
		off        bool // agents cannot register at all
	}{
		"a security event":                   {"/agent/event/notify", "", false},
		"an assertion of a provider":         {"/agent/identity", `{"type":"identity_assertion",` + idJAG + `}`, false},
		"a registration where there is none": {"/agent/identity", `{"type":"anonymous"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := withAgents(t)
			if c.off {
				a.host.Agents.(*agentauth.Service).Signer = nil
			}
			seen := map[int]int{}
			for range 40 {
				r := a.send(t, "POST", c.path, c.body, "Content-Type", asJSON)
				seen[r.StatusCode]++
				code := map[int]string{503: "temporarily_unavailable", 429: "slow_down"}[r.StatusCode]
				if code == "" || r.json(t)["error"] != code || (r.Header.Get("Retry-After") != "") != (r.StatusCode == 429) {
					t.Fatal(r.Status, r.Header, r.body)
				}
			}
			if seen[503] != 30 || seen[429] != 10 {
				t.Errorf("one address is answered %v", seen)
			}
			for _, line := range a.lines(t) {
				expected := line["level"] == "INFO" && line["code"] == "temporarily_unavailable"
				if line["level"] == "ERROR" || line["status"] == 503.0 && !expected {
					t.Fatalf("the log says %v", line)
				}
			}
		})
	}
}

// lines are what the host logged.
func (a *authority) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for _, text := range strings.Split(strings.TrimSpace(a.log.String()), "\n") {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(text, err)
		}
		lines = append(lines, line)
	}
	return lines
}
