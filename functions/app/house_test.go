package app

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/sharing"
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
	userCode    = "BCDF-GHJK"
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
	fresh                       bool      // the sign-in that began last
	authenticated               time.Time // when the provider authenticated the member; zero: not known
	exported                    *export.Export
	operator                    time.Time // when the member was confirmed as an operator; zero: never
	deletes                     time.Time // when the workspace goes; zero: it stays
	back                        signin.Callback
	finished                    signin.Finished
	redirect                    string
	refused                     oauth.Refused
	commands                    []idempotency.Command
	completed                   contract.CompleteClaim
	loopback, firstParty        bool
	app                         id.Client // that asks, or that was let in; empty: one that registered itself
	scene                       string    // of an artifact: what is particular about it
	wanted                      sharing.Request
	linkEnd                     time.Time // of the share link, as it is stored
	counted                     []string
	tooMany                     error  // of being counted
	days                        int    // artifacts live, as the workspace chose
	more                        bool   // links that are not listed
	title2                      string // of a renaming
	scopes                      []credential.Scope
	pinRefused, mintRefused     error
	restoreRefused              error
	linked                      []delegation.Delegation
	vouched                     bool // a provider vouches for the agent that asks
	kept                        []id.Delegation
	calling                     *sync.Mutex
	appURL, contentURL          string
	bundle                      artifact.Availability
	others                      []string // last characters of the ids of further artifacts
	files                       comparedFiles
	lock                        workspace.Workspace // its lock is that of the workspace
	account                     billing.Account
	noInvoices                  error  // of the payment provider
	slow                        bool   // it hangs
	payURL                      string // its page
	many                        int    // older revisions beside those of the scenes
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
		files:      sealFiles(),
		payURL:     "https://checkout.stripe.test/c/pay/1",
		scopes:     []credential.Scope{credential.Publish, credential.Read, credential.Admin},

		authenticated: noon,
	}
}

// called writes down that a service was used.
func (h *house) called(ctx context.Context, what string) error {
	h.calling.Lock()
	h.calls = append(h.calls, what)
	h.calling.Unlock()
	if h.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.fail
}

func (h *house) handler() http.Handler { host, _ := h.host(); return host.Handler() }

func (h *house) host() (*Host, *bytes.Buffer) {
	var lines bytes.Buffer
	numbers := limits.Default()
	return &Host{
		Surface:     &web.Server{Log: slog.New(slog.NewJSONHandler(&lines, nil))},
		Origins:     origins(h.appURL, h.contentURL),
		Limiter:     counter{h},
		Now:         func() time.Time { return noon },
		Sessions:    sessions{h},
		SignIns:     allSignIns{signIns{h}, takeovers{h}},
		Account:     workspaces{steward{h}, auditor{h}, accounts{&numbers}},
		Keys:        keyring{h},
		Artifacts:   kept{artifacts{h}, shelf{h}},
		Links:       doorkeeper{h},
		Views:       shown{resolver(opens), views{h}},
		Live:        &fakeLive{},
		Comparisons: compared{h},
		Exports:     exporters{h},
		Agents:      allAgents{agents{h}, delegations{h}},
		Apps:        clients{apps{h}, devices{h}},
		Claims:      claims{h},
		Billing:     seller{h},
		Deletions:   deletions{h},
		Operators:   Operators{bolts{h}, inbox{h}, findings{h}, logbook{h}, gate{h}, grantor{h}, &numbers},
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
		linkResolver
		artifactViews
	}
	clients struct {
		apps
		devices
	}
)

type sessions struct{ *house }

func (s sessions) Authenticate(ctx context.Context, given, requestID string) (session.Authenticated, error) {
	found, err := s.find(ctx, given, requestID)
	if err == nil {
		err = refuseDeleting(found)
	}
	return found, err
}

func (s sessions) find(ctx context.Context, given, requestID string) (session.Authenticated, error) {
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
			Member:          memberID,
			Scopes:          all,
			Policy:          free,
			RequestID:       requestID,
			Operator:        s.operator,
			AuthenticatedAt: s.authenticated,
			Workspace: workspace.Workspace{
				ID:        homeID,
				Name:      s.name,
				Plan:      workspace.FreePlan,
				CreatedAt: noon,
				ClaimedAt: noon,
				AutoDays:  s.days,
				DeletesAt: s.deletes,
				Lock:      s.lock.Lock,
			},
		},
	}, nil
}

func (s sessions) End(ctx context.Context, given, _ string) error { return s.called(ctx, "End "+given) }
func (s sessions) EndAll(ctx context.Context, _ credential.Actor) error {
	return s.called(ctx, "EndAll")
}

func (s sessions) List(ctx context.Context, a session.Authenticated) ([]session.Session, error) {
	other := a.Session
	other.Hash[0], other.Browser, other.SeenAt = 7, s.device, noon.Add(-2*time.Hour)
	return []session.Session{a.Session, other}, s.called(ctx, "Sessions")
}

func (s sessions) EndNamed(ctx context.Context, _ session.Authenticated, name string) error {
	return s.called(ctx, "EndNamed "+name)
}

type signIns struct{ *house }

func (s signIns) Begin(ctx context.Context, to signin.Destination, _ netip.Addr) (signin.Begun, error) {
	s.begun = append(s.begun, to.Path)
	s.fresh = to.Fresh
	return signin.Begun{URL: "https://id.example/authorize?state=s", Cookie: "Ym91bmQ"}, s.called(ctx, "Begin")
}

func (s signIns) Finish(ctx context.Context, c signin.Callback, _ session.Client, _ string) (signin.Finished, error) {
	s.back = c
	return s.finished, s.called(ctx, "Finish")
}

func (s signIns) SignOutURL() string { return "https://id.example/logout?client_id=web" }

// page reads a page of a house in some state.
func page(t *testing.T, path string, sets ...func(*house)) string {
	t.Helper()
	s := newHouse()
	all(sets...)(s)
	r := signedIn(s.handler(), "GET", path, nil, attemptHeader...)
	if r.StatusCode != http.StatusOK {
		t.Errorf("%s: %d", path, r.StatusCode)
	}
	return text(t, r)
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

// attemptHeader is the cookie header of a member who followed an agent's link.
var attemptHeader = []string{"Cookie", sessionCookie + "=" + secret + "; " + attemptCookie + "=" + attemptText}
