package app

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

const (
	secret      = "c2Vzc2lvbi1zZWNyZXQtb2YtdGhlLXRlc3Q"
	homeID      = id.Workspace("5b0f8a52-6f0e-4c55-9a2c-1d2f7a1f0c11")
	memberID    = id.Member("mem_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9")
	keyID       = "key_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	endedKeyID  = "key_01J8Z0T7Q1W2E3R4T5Y6V7X8ZA"
	agentID     = "reg_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	grantID     = "0123456789ABCDEF"
	artifactID  = "art_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	claimToken  = "ap_ct_preview_0123456789ABCDEF_" + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	attemptText = "ap_ca_preview_0123456789ABCDEF_" + "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
	userCode    = "BCDF-GHJK-LMNP-QRST-VWXZ"
	formType    = "application/x-www-form-urlencoded"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// house answers in place of every service of members; what reaches it is written down.
type house struct {
	calls []string
	fail  error // of every call but Open
	hang  bool  // every call waits for the end of its context

	name, title, device, client string // what strangers chose
	email                       string
	empty                       bool
	over                        error // of looking at what is asked
	begun                       []string
	back                        signin.Callback
	finished                    signin.Finished
	redirect                    string
	refused                     oauth.Refused
	commands                    []idempotency.Command
	completed                   contract.CompleteClaim
	loopback, firstParty        bool
	scene                       string // of an artifact: what is particular about it
	wanted                      contract.CreateLink
	linkEnd                     time.Time // of the share link, as it is stored
	counted                     []string
	tooMany                     error  // of being counted
	days                        int    // artifacts live, as the workspace chose
	more                        bool   // links that are not listed
	title2                      string // of a renaming
	scopes                      []credential.Scope
	pinRefused, mintRefused     error
	restoreRefused              error
	calling                     *sync.Mutex
	appURL, contentURL          string
}

func newHouse() *house {
	return &house{
		name:       "Harbour Survey",
		title:      "Seals of the bay",
		device:     "office-mac.local",
		client:     "Reading Room",
		email:      "ada@example.test",
		finished:   signin.Finished{Session: "bmV3LXNlc3Npb24", ReturnTo: "/keys"},
		redirect:   "https://client.example/cb?code=abc&state=xyz",
		appURL:     "http://localhost:8704",
		contentURL: "http://127.0.0.1:8703",
		calling:    new(sync.Mutex),
		scopes:     []credential.Scope{credential.Publish, credential.Read, credential.Admin},
	}
}

// called writes down that a service was used.
func (s *house) called(ctx context.Context, what string) error {
	s.calling.Lock()
	s.calls = append(s.calls, what)
	s.calling.Unlock()
	if s.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.fail
}

func (s *house) handler() http.Handler { h, _ := s.host(); return h.Handler() }

func (s *house) host() (*Host, *bytes.Buffer) {
	var lines bytes.Buffer
	numbers := limits.Default()
	return &Host{
		Surface:   &web.Server{Log: slog.New(slog.NewJSONHandler(&lines, nil))},
		Origins:   origins(s.appURL, s.contentURL),
		Limiter:   counter{s},
		Now:       func() time.Time { return noon },
		Sessions:  sessions{s},
		SignIns:   signIns{s},
		Account:   workspaces{steward{s}, auditor{s}, accounts{&numbers}},
		Keys:      keyring{s},
		Artifacts: kept{artifacts{s}, shelf{s}},
		Views:     shown{resolver(opens), views{s}},
		Links:     doorkeeper{s},
		Agents:    agents{s},
		Apps:      clients{apps{s}, devices{s}},
		Claims:    claims{s},
	}, &lines
}

func origins(app, content string) address.Origins {
	return address.Origins{App: app, Content: content, API: "http://localhost:8701"}
}

// What answers in place of one service is several types, one for each port.
type (
	workspaces struct {
		steward
		auditor
		accounts
	}
	kept struct {
		artifacts
		shelf
	}
	shown struct {
		Resolver
		ArtifactViews
	}
	clients struct {
		apps
		devices
	}
)

type sessions struct{ *house }

func (s sessions) Authenticate(ctx context.Context, given, requestID string) (session.Authenticated, error) {
	if given != secret {
		return session.Authenticated{}, fault.New(fault.NotAuthenticated, "sign in to go on")
	}
	if s.hang {
		return session.Authenticated{}, s.called(ctx, "Open")
	}
	all := s.scopes
	free := limits.Default().Tiers[limits.Free]
	return session.Authenticated{
		Session: session.Session{
			Member:    memberID,
			Workspace: homeID,
			CreatedAt: noon,
			Browser:   "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
			Network:   "192.0.2.0/24",
		},
		Member: member.Member{
			ID:        memberID,
			Workspace: homeID,
			Email:     s.email,
			Scopes:    all,
		},
		Actor: credential.Actor{
			Member:    memberID,
			Scopes:    all,
			Policy:    free,
			RequestID: requestID,
			Workspace: workspace.Workspace{
				ID:        homeID,
				Name:      s.name,
				Plan:      workspace.FreePlan,
				CreatedAt: noon,
				ClaimedAt: noon,
				AutoDays:  s.days,
			},
		},
	}, nil
}

func (s sessions) End(ctx context.Context, given, _ string) error { return s.called(ctx, "End "+given) }
func (s sessions) EndAll(ctx context.Context, _ credential.Actor) error {
	return s.called(ctx, "EndAll")
}

type signIns struct{ *house }

func (s signIns) Begin(ctx context.Context, returnTo string, _ netip.Addr) (signin.Begun, error) {
	s.begun = append(s.begun, returnTo)
	return signin.Begun{URL: "https://id.example/authorize?state=s", Cookie: "Ym91bmQ"}, s.called(ctx, "Begin")
}

func (s signIns) Finish(ctx context.Context, c signin.Callback, _ session.Client, _ string) (signin.Finished, error) {
	s.back = c
	return s.finished, s.called(ctx, "Finish")
}

func (s signIns) SignOutURL() string { return "https://id.example/logout?client_id=web" }

type agents struct{ *house }

func (s agents) Preview(ctx context.Context, _ credential.Actor, token string) (agentauth.Request, error) {
	if err := s.called(ctx, "Look "+token); err != nil {
		return agentauth.Request{}, err
	}
	if s.over != nil {
		return agentauth.Request{}, s.over
	}
	return agentauth.Request{
		Registration: agentID,
		CreatedAt:    noon.Add(-time.Hour),
		Network:      "198.51.100.0/24",
		ExpiresAt:    noon.Add(10 * time.Minute),
		Artifacts:    []string{s.title, "Counts by observer"},
		Count:        3,
	}, nil
}

func (s agents) Complete(
	ctx context.Context, _ credential.Actor, c contract.CompleteClaim,
) (contract.CompletedClaim, error) {
	s.completed = c
	if err := s.called(ctx, "Complete"); err != nil {
		return contract.CompletedClaim{}, err
	}
	if c.UserCode != "123456" {
		return contract.CompletedClaim{}, fault.New(fault.InvalidRequest, "not that")
	}
	return contract.CompletedClaim{OK: true, RegistrationID: agentID}, nil
}

func (s agents) Refuse(ctx context.Context, _ credential.Actor, token string) error {
	return s.called(ctx, "Refuse "+token)
}

func (s agents) Connections(
	ctx context.Context, by credential.Actor, p cursor.Page,
) ([]agentauth.Registration, contract.PageInfo, error) {
	if s.empty {
		return nil, contract.PageInfo{}, nil
	}
	one, err := s.Connection(ctx, by, agentID)
	info, wrong := s.turn(p)
	return []agentauth.Registration{one}, info, cmp.Or(err, wrong)
}

func (s agents) Connection(ctx context.Context, _ credential.Actor, r id.Registration) (agentauth.Registration, error) {
	if r != agentID {
		return agentauth.Registration{}, fault.New(fault.NotFound, "no such agent")
	}
	return agentauth.Registration{
		ID:          agentID,
		State:       agentauth.Verified,
		CreatedAt:   noon.Add(-time.Hour),
		CompletedAt: noon,
		Network:     "198.51.100.0/24",
	}, s.failing(ctx)
}

// turn answers what follows a page; "gone" is a cursor of nobody here.
func (s *house) turn(p cursor.Page) (contract.PageInfo, error) {
	if p.Cursor == "gone" {
		return contract.PageInfo{}, fault.New(fault.InvalidCursor, "not here")
	}
	if !s.more {
		return contract.PageInfo{}, nil
	}
	return contract.PageInfo{HasMore: true, NextCursor: new("next+cursor")}, nil
}

func (s *house) failing(ctx context.Context) error {
	if s.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.fail
}

func (s agents) Unlink(ctx context.Context, _ credential.Actor, r id.Registration) error {
	return s.called(ctx, "Unlink "+string(r))
}

type claims struct{ *house }

func (s claims) Preview(ctx context.Context, _ credential.Actor, token string) (claim.Preview, error) {
	if err := s.called(ctx, "Look "+token); err != nil {
		return claim.Preview{}, err
	}
	if token != claimToken {
		return claim.Preview{}, fault.New(fault.NotFound, "unusable")
	}
	return claim.Preview{
		CreatedAt: noon.Add(-time.Hour),
		ExpiresAt: noon.Add(limits.ClaimTokenLife),
		Titles:    []string{s.title},
		Count:     1,
	}, nil
}

func (s claims) Claim(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, token string,
) (contract.Claimed, error) {
	s.commands = append(s.commands, c)
	if err := s.called(ctx, "Claim "+token); err != nil {
		return contract.Claimed{}, err
	}
	return contract.Claimed{DestinationWorkspaceID: homeID, ArtifactIDs: []id.Artifact{artifactID}}, nil
}

type apps struct{ *house }

func (s apps) Consent(ctx context.Context, _ string) (oauth.Consent, error) {
	if s.over != nil {
		return oauth.Consent{}, s.over
	}
	client := id.Client("oc_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9")
	if s.firstParty {
		client = oauth.CLI
	}
	return oauth.Consent{
		Client:       oauth.Client{ID: client, Name: s.client, FirstParty: s.firstParty},
		RedirectHost: "client.example",
		Loopback:     s.loopback,
		Scopes:       []credential.Scope{credential.Publish, credential.Read},
		Audience:     "http://localhost:8705",
		ExpiresAt:    noon.Add(10 * time.Minute),
	}, s.failing(ctx)
}

func (s apps) Allow(ctx context.Context, _ credential.Actor, request string) (string, error) {
	return s.redirect, s.called(ctx, "Allow "+request)
}

func (s apps) Deny(ctx context.Context, _ credential.Actor, request string) (string, error) {
	return s.redirect, s.called(ctx, "Deny "+request)
}

func (s apps) Grants(
	ctx context.Context, by credential.Actor, p cursor.Page,
) ([]oauth.Grant, contract.PageInfo, error) {
	if s.empty {
		return nil, contract.PageInfo{}, nil
	}
	g, err := s.Allowed(ctx, by, grantID)
	own := g
	own.Client, own.Name = oauth.CLI, "Vitrine command line"
	info, wrong := s.turn(p)
	return []oauth.Grant{g, own}, info, cmp.Or(err, wrong)
}

func (s apps) Allowed(ctx context.Context, _ credential.Actor, public id.Public) (oauth.Grant, error) {
	if public != grantID {
		return oauth.Grant{}, fault.New(fault.NotFound, "no such app")
	}
	g := oauth.Grant{
		Public:    grantID,
		Client:    "oc_x",
		Name:      s.client,
		Audience:  "http://localhost:8705",
		CreatedAt: noon,
		ExpiresAt: noon.Add(limits.MaxRefreshLife),
		Scopes:    []credential.Scope{credential.Publish, credential.Read},
	}
	return g, s.failing(ctx)
}

func (s apps) EndGrant(ctx context.Context, _ credential.Actor, public id.Public) error {
	return s.called(ctx, "EndGrant "+string(public))
}

type devices struct{ *house }

func (s devices) Device(ctx context.Context, _ credential.Actor, code string) (oauth.Device, error) {
	if err := s.called(ctx, "Device "+code); err != nil {
		return oauth.Device{}, err
	}
	if code != userCode {
		return oauth.Device{}, fault.New(fault.NotFound, "no device")
	}
	return oauth.Device{
		Client:    oauth.Client{ID: oauth.CLI, Name: "Vitrine command line", FirstParty: true},
		Name:      s.device,
		Network:   "203.0.113.0/24",
		CreatedAt: noon,
		ExpiresAt: noon.Add(limits.DeviceLife),
	}, nil
}

func (s devices) ApproveDevice(ctx context.Context, _ credential.Actor, code string) error {
	return s.called(ctx, "ApproveDevice "+code)
}

func (s devices) DenyDevice(ctx context.Context, _ credential.Actor, code string) error {
	return s.called(ctx, "DenyDevice "+code)
}

type keyring struct{ *house }

func (s keyring) Create(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, name string, _ time.Duration,
) (contract.CreatedKey, error) {
	s.commands = append(s.commands, c)
	if err := s.called(ctx, "Create "+name); err != nil {
		return contract.CreatedKey{}, err
	}
	if name == "" {
		return contract.CreatedKey{}, fault.New(fault.InvalidRequest, "name must have 1 to 120 characters")
	}
	return contract.CreatedKey{APIKey: liveKey(name).Summary(), Secret: "ap_pk_preview_0123456789ABCDEF_" + strings.Repeat("s", 71)}, nil
}

func (s keyring) List(
	ctx context.Context, _ credential.Actor, which credential.Which, p cursor.Page,
) ([]credential.Key, contract.PageInfo, error) {
	if s.empty {
		return nil, contract.PageInfo{}, nil
	}
	list := []credential.Key{liveKey(s.title)}
	if which == credential.EndedKeys {
		past := liveKey("Last year's server")
		past.ExpiresAt = noon.Add(-time.Hour)
		list = []credential.Key{endedKey(), past}
	}
	info, err := s.turn(p)
	return list, info, cmp.Or(err, s.failing(ctx))
}

func liveKey(name string) credential.Key {
	return credential.Key{
		ID:        keyID,
		Name:      name,
		Public:    "0123456789ABCDEF",
		Scopes:    []credential.Scope{credential.Publish, credential.Read},
		CreatedAt: noon,
	}
}

func endedKey() credential.Key {
	k := liveKey("Old laptop")
	k.ID, k.RevokedAt = endedKeyID, noon
	return k
}

func (s keyring) Key(ctx context.Context, _ credential.Actor, k id.Key) (credential.Key, error) {
	switch k {
	case keyID:
		return liveKey(s.title), s.failing(ctx)
	case endedKeyID:
		return endedKey(), s.failing(ctx)
	}
	return credential.Key{}, fault.New(fault.NotFound, "no such key")
}

func (s keyring) Revoke(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, k id.Key,
) (contract.RevokedKey, error) {
	s.commands = append(s.commands, c)
	return contract.RevokedKey{}, s.called(ctx, "Revoke "+string(k))
}

type accounts struct{ numbers *limits.Limits }

func (a accounts) Workspace(by credential.Actor, m member.Member) contract.WebWorkspace {
	return contract.WebWorkspace{
		Workspace: by.Workspace.Summary(), WorkspaceMember: m.Summary(), UsagePolicy: workspace.UsagePolicy(a.numbers, by.Workspace.Tier(), nil),
	}
}

type counter struct{ *house }

func (s counter) Actor(_ context.Context, w id.Workspace, subject string) error {
	s.calling.Lock()
	defer s.calling.Unlock()
	s.counted = append(s.counted, string(w)+" "+subject)
	return s.tooMany
}

// signedIn sends a request of a member's browser. A body is that of a form.
func signedIn(h http.Handler, method, target string, fields url.Values, header ...string) *http.Response {
	if method == http.MethodPost {
		header = append([]string{"Content-Type", formType, "Sec-Fetch-Site", "same-origin"}, header...)
	}
	return send(h, method, target, fields.Encode(), append([]string{"Cookie", sessionCookie + "=" + secret}, header...)...)
}

// cookieOf is what an answer does to a cookie; nil: nothing.
func cookieOf(t *testing.T, r *http.Response, name string) *http.Cookie {
	t.Helper()
	var found *http.Cookie
	for _, c := range r.Cookies() {
		if c.Name != name {
			continue
		}
		if found != nil {
			t.Errorf("%s is set twice", name)
		}
		if found = c; !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
			t.Errorf("cookie %v", c)
		}
	}
	return found
}

// rooms are all pages of members and of the flows, with what their forms send.
var rooms = []string{
	"/dashboard", "/artifacts", "/artifacts/" + artifactID, "/artifacts/" + artifactID + "/delete", "/artifacts/" + artifactID + "/private",
	"/artifacts/" + artifactID + "/lockdown", "/artifacts/" + artifactID + "/lockdown/lift", linkPath + "/revoke", "/access-links",
	"/v/" + artifactID, "/v/" + artifactID + "?revision=" + oldID, "/keys", "/keys/ended", "/keys/" + keyID + "/revoke", "/connections",
	"/connections/agents/" + agentID + "/unlink", "/connections/apps/" + grantID + "/unlink", "/audit", "/settings", "/settings/sign-out-everywhere",
	"/claim", agentPath, "/device", "/oauth/consent?req=abc",
}

// doors are the paths that forms are sent to, with good fields.
var doors = map[string]url.Values{
	"/api/auth/sign-out": {}, "/api/auth/sign-out-everywhere": {},
	"/artifacts/" + artifactID + "/pin":           {"once": {"page-0123456789"}},
	"/artifacts/" + artifactID + "/unpin":         {"once": {"page-0123456789"}},
	"/artifacts/" + artifactID + "/title":         {"title": {"Seals of two bays"}},
	"/artifacts/" + artifactID + "/delete":        {"once": {"page-0123456789"}},
	"/artifacts/" + artifactID + "/links":         {"once": {"page-0123456789"}, "shows": {"share"}, "ends": {"24h"}},
	"/artifacts/" + artifactID + "/lockdown":      {"once": {"page-0123456789"}},
	"/artifacts/" + artifactID + "/lockdown/lift": {"once": {"page-0123456789"}},
	restorePath:                              {"once": {"page-0123456789"}},
	"/artifacts/" + artifactID + "/unlisted": {}, "/artifacts/" + artifactID + "/private": {},
	linkPath + "/address": {}, linkPath + "/revoke": {},
	"/settings":                  {"name": {"Bay Survey"}, "days": {"5"}, "once": {"page-0123456789"}},
	"/keys":                      {"name": {"Build server"}, "once": {"page-0123456789"}},
	"/keys/" + keyID + "/revoke": {"once": {"page-0123456789"}},
	"/connections/agents/" + agentID + "/unlink": {}, "/connections/apps/" + grantID + "/unlink": {},
	"/claim":         {"claim_token": {claimToken}},
	"/claim/confirm": {"claim_token": {claimToken}, "once": {"page-0123456789"}},
	agentPath:        {"user_code": {"123456"}, "attempt": {mark(attemptText)}}, agentPath + "/deny": {"attempt": {mark(attemptText)}},
	"/device": {"code": {userCode}}, "/device/approve": {"code": {userCode}}, "/device/deny": {"code": {userCode}},
	"/oauth/consent/allow": {"req": {"abc"}}, "/oauth/consent/deny": {"req": {"abc"}},
}

// attemptHeader is the cookie header of a member who followed an agent's link.
var attemptHeader = []string{"Cookie", sessionCookie + "=" + secret + "; " + attemptCookie + "=" + attemptText}
