package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// people is the part of the fake server that signs people in.
type people struct {
	keys    map[string]bool                // the valid ones
	made    map[string]contract.CreatedKey // by Idempotency-Key
	access  map[string]bool
	refresh map[string]bool
	serial  int

	asked    url.Values // the pending authorization
	twist    string
	pending  int           // polls before the person approves
	interval time.Duration // between polls
	polled   time.Time     // time of the last poll, or of the start
	ends     time.Time     // expiry of new keys
	metadata map[string]any
	device   map[string]any
	older    int  // keys that exist without a login
	leaving  bool // the workspace is being deleted
	life     int  // days that new artifacts live
	longest  int  // days that they may

	bring     int    // artifacts that the claim token brings
	claimedBy string // Idempotency-Key of the claim; "" for none
}

const deviceCode = "ap_dc_preview_0000000000000DC0_devicecodedevicecodedevicecodedevicecodedevice"

func newPeople() people {
	return people{
		keys:     map[string]bool{memberKey: true, trialKey: true},
		made:     map[string]contract.CreatedKey{},
		access:   map[string]bool{},
		refresh:  map[string]bool{},
		ends:     epoch.Add(90 * 24 * time.Hour),
		metadata: map[string]any{},
		device:   map[string]any{},
		life:     3,
		longest:  7,
	}
}

func (server *fakeServer) metadata(w http.ResponseWriter, _ *http.Request) {
	base := server.api.URL
	d := map[string]any{
		"issuer":                                         base,
		"authorization_endpoint":                         base + "/oauth2/authorize",
		"token_endpoint":                                 base + "/oauth2/token",
		"revocation_endpoint":                            base + "/oauth2/revoke",
		"device_authorization_endpoint":                  base + "/oauth2/device_authorization",
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	maps.Copy(d, server.people.metadata)
	answer(w, 200, d)
}

var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// authorize redirects a browser at once, as if the person had signed in and allowed it.
func (server *fakeServer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	want := url.Values{
		"response_type":         {"code"},
		"client_id":             {"cli"},
		"redirect_uri":          q["redirect_uri"],
		"scope":                 {"publish read admin"},
		"state":                 q["state"],
		"code_challenge":        q["code_challenge"],
		"code_challenge_method": {"S256"},
		"resource":              {server.api.URL},
	}
	if q.Has("prompt") { // of login --fresh
		want.Set("prompt", "login")
	}
	redirect, err := url.Parse(q.Get("redirect_uri"))
	if q.Encode() != want.Encode() || err != nil || redirect.Scheme != "http" || redirect.Hostname() != "127.0.0.1" ||
		redirect.Path != "/callback" ||
		len(q.Get("state")) < 22 || !challengeForm.MatchString(q.Get("code_challenge")) {
		server.violation("authorize: parameters %v", q)
		return
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	server.people.serial++
	server.people.asked = q
	back := url.Values{"code": {server.code()}, "state": {q.Get("state")}, "iss": {server.api.URL}}
	if twist, ok := twists[server.people.twist]; ok {
		twist(back)
	}
	redirect.RawQuery = back.Encode()
	http.Redirect(w, r, redirect.String(), http.StatusSeeOther)
}

// twists change the parameters of the redirect.
var twists = map[string]func(url.Values){
	"no iss":   func(q url.Values) { q.Del("iss") },
	"old code": func(q url.Values) { q.Set("code", "another") },
	"deny": func(q url.Values) {
		q.Del("code")
		q.Set("error", "access_denied")
		q.Set("error_description", "Ada declined <script>alert(1)</script>\x1b[31m")
	},
	"trouble": func(q url.Values) { q.Del("code"); q.Set("error", "server_error") },
}

func (server *fakeServer) code() string { return fmt.Sprintf("code%d", server.people.serial) }

// otherClient is a client of an agent, whose tokens the CLI may end.
const otherClient = "oc_agent"

// forms are the parameters of each form, by route or grant type, without client_id.
var forms = map[string][]string{
	"device":              {"device_name", "scope"},
	"revoke":              {"token"},
	contract.GrantCode:    {"code", "code_verifier", "grant_type", "redirect_uri"},
	contract.GrantDevice:  {"device_code", "grant_type"},
	contract.GrantRefresh: {"grant_type", "refresh_token"},
}

// checkForm reports parameters that are missing, repeated or unknown, and polls that come too early.
func (server *fakeServer) checkForm(route string, r *http.Request, planned *plannedFault) {
	if route != "token" && route != "device" && route != "revoke" {
		return
	}
	if err := r.ParseForm(); err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" ||
		r.URL.RawQuery != "" {
		server.violation("%s: no form (%v)", route, err)
	}
	kind := route
	if route == "token" {
		kind = r.PostForm.Get("grant_type")
	}
	want := append([]string{"client_id"}, forms[kind]...)
	if got := slices.Sorted(maps.Keys(r.PostForm)); !slices.Equal(got, want) ||
		r.PostForm.Get("client_id") != "cli" && (kind != "revoke" || r.PostForm.Get("client_id") != otherClient) {
		server.violation("%s: parameters %v, want %v", route, got, want)
	}
	for name, values := range r.PostForm {
		if len(values) != 1 || values[0] == "" {
			server.violation("%s: %s is %q", route, name, values)
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if kind != contract.GrantDevice {
		return
	}
	if waited := time.Since(server.people.polled); waited < server.people.interval/clockDivisor {
		server.wrong = append(server.wrong,
			fmt.Sprintf("token: polled after %v, the interval is %v", waited, server.people.interval/clockDivisor))
	}
	server.people.polled = time.Now()
	if planned != nil && planned.code == "slow_down" {
		server.people.interval += 5 * time.Second
	}
}

func (server *fakeServer) startDevice(w http.ResponseWriter, r *http.Request) {
	if host, err := os.Hostname(); err != nil || r.PostForm.Get("device_name") != host ||
		r.PostForm.Get("scope") != "publish read admin" {
		server.violation("device: form %v", r.PostForm)
	}
	d := map[string]any{
		"device_code":               deviceCode,
		"user_code":                 "BCDF-GHJK",
		"verification_uri":          "http://app.test/device",
		"verification_uri_complete": "http://app.test/device?user_code=BCDF-GHJK",
		"expires_in":                900,
		"interval":                  5,
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	maps.Copy(d, server.people.device)
	seconds, _ := d["interval"].(int)
	if server.people.interval = time.Duration(seconds) * time.Second; seconds == 0 {
		server.people.interval = 5 * time.Second
	}
	server.people.polled = time.Now()
	answer(w, 200, d)
}

func deny(w http.ResponseWriter, code string) {
	plannedFault{status: 400, code: code, oauth: true}.answer("", w)
}

func (server *fakeServer) token(w http.ResponseWriter, r *http.Request) {
	server.mu.Lock()
	defer server.mu.Unlock()
	f, s := r.PostForm, &server.people
	switch f.Get("grant_type") {
	case contract.GrantCode:
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if s.asked == nil || f.Get("code") != server.code() || f.Get("redirect_uri") != s.asked.Get("redirect_uri") ||
			base64.RawURLEncoding.EncodeToString(sum[:]) != s.asked.Get("code_challenge") {
			deny(w, "invalid_grant")
			return
		}
		s.asked = nil
	case contract.GrantDevice:
		if f.Get("device_code") != deviceCode {
			server.wrong = append(server.wrong, "token: another device code")
		}
		if s.pending--; s.pending >= 0 {
			deny(w, "authorization_pending")
			return
		}
		s.serial++
	case contract.GrantRefresh:
		if !s.refresh[f.Get("refresh_token")] {
			deny(w, "invalid_grant")
			return
		}
		delete(s.refresh, f.Get("refresh_token"))
		s.serial++
	default:
		server.wrong = append(server.wrong, "token: grant type "+f.Get("grant_type"))
	}
	access := fmt.Sprintf("ap_at_preview_0123456789ABCDEF_%040d", s.serial)
	refresh := fmt.Sprintf("ap_rt_preview_0123456789ABCDEF_%040d", s.serial)
	s.access[access], s.refresh[refresh] = true, true
	answer(w, 200, contract.Token{
		AccessToken:  access,
		TokenType:    "Bearer",
		ExpiresIn:    3600,
		Scope:        "publish read admin",
		RefreshToken: refresh,
	})
}

// revoke ends both tokens of a sign-in; either one may be sent.
func (server *fakeServer) revoke(_ http.ResponseWriter, r *http.Request) {
	server.mu.Lock()
	defer server.mu.Unlock()
	tail := r.PostForm.Get("token")[len("ap_xx_"):]
	delete(server.people.access, "ap_at_"+tail)
	delete(server.people.refresh, "ap_rt_"+tail)
}

// member reports whether the bearer token is a person's access token.
func (server *fakeServer) member(w http.ResponseWriter, r *http.Request) bool {
	server.mu.Lock()
	defer server.mu.Unlock()
	if !server.people.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] {
		plannedFault{status: 401, code: "not_authenticated"}.answer("", w)
		return false
	}
	return true
}

func (server *fakeServer) workspace(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, contract.WebWorkspace{
		Workspace:       contract.WorkspaceSummary{ID: workspace, Name: workspaceName},
		WorkspaceMember: contract.MemberSummary{Email: "ada@example.com"},
	})
}

func (server *fakeServer) createKey(w http.ResponseWriter, r *http.Request) {
	var in contract.CreateKey
	server.decode(r, &in)
	host, _ := os.Hostname()
	if in.Name != "CLI ("+host+")" && strings.HasPrefix(r.Header.Get("Idempotency-Key"), "cli_login_") {
		server.wrong = append(server.wrong, "keys: name "+in.Name)
	}
	s, idem := &server.people, r.Header.Get("Idempotency-Key")
	if _, replay := s.made[idem]; !replay {
		n := len(s.made) + 1
		public := fmt.Sprintf("%016d", n)
		ends := contract.At(s.ends)
		if in.ExpiresInDays > 0 {
			ends = contract.At(epoch.AddDate(0, 0, in.ExpiresInDays))
		}
		s.made[idem] = contract.CreatedKey{
			APIKey: contract.APIKeySummary{
				ID:          id.Key(fmt.Sprintf("key_%026d", n)),
				WorkspaceID: workspace,
				Name:        in.Name,
				PublicID:    id.Public(public),
				Scopes:      []string{"publish", "read"},
				ExpiresAt:   &ends,
				CreatedAt:   contract.At(epoch),
			},
			Secret: "ap_pk_preview_" + public + "_" + strings.Repeat("k", 40),
		}
		s.keys[s.made[idem].Secret] = true
	}
	answer(w, 201, s.made[idem])
}

func (server *fakeServer) endKey(w http.ResponseWriter, _ *http.Request) {
	delete(server.people.keys, server.bearer)
	answer(w, 200, contract.RevokedKey{RevokedAt: contract.At(epoch)})
}

// tellPeople handles the commands of tellPeer about sign-ins.
func (server *fakeServer) tellPeople(ts *testscript.TestScript, args []string) {
	s, value := &server.people, any(args[len(args)-1])
	if n, err := strconv.Atoi(args[len(args)-1]); err == nil {
		value = n
	}
	switch args[0] {
	case "twist":
		if s.twist = args[1]; twists[s.twist] == nil && s.twist != "none" {
			ts.Fatalf("there is no twist %q", s.twist)
		}
	case "metadata":
		if s.metadata[args[1]] = value; args[1] == "code_challenge_methods_supported" {
			s.metadata[args[1]] = []any{value}
		}
	case "device":
		s.device[args[1]] = value
	case "older":
		s.older = value.(int)
	case "brings":
		s.bring, s.claimedBy = value.(int), ""
	case "pending":
		s.pending = value.(int)
	case "ends":
		var err error
		s.ends, err = time.Parse(time.RFC3339, args[1])
		ts.Check(err)
	case "left":
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(server.left()), 0o666))
	}
}

// left lists the valid keys and tokens of logins.
func (server *fakeServer) left() string {
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(server.people.keys)) {
		if k != memberKey && k != trialKey {
			lines = append(lines, "key "+k[len("ap_pk_preview_"):][:16])
		}
	}
	for _, t := range slices.Sorted(maps.Keys(server.people.refresh)) {
		lines = append(lines, "refresh "+t[len(t)-2:])
	}
	return strings.Join(append(lines, ""), "\n")
}
