package app

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
	"vitrine/shared/platform/policy"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
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

// fakeServices answer in place of all services of a host. What newServices gives them makes every page render; a test
// changes it, or sets a function of one of them, beside what it asserts.
type fakeServices struct {
	mu       sync.Mutex
	calls    []string // what reached the services, changes included
	changes  []string // what was to be changed, or made
	commands []idempotency.Command
	fail     error // of every call but Authenticate
	hang     bool  // every call waits for the end of its context
	empty    bool  // every list is
	more     bool  // every list goes on on another page

	appURL, contentURL           string
	actor                        credential.Actor // the member who is signed in
	title, device, client, email string           // what strangers chose
	artifact                     artifact.Artifact
	revisions                    []artifact.Revision // of the artifact
	links                        []link.Link         // of the artifact
	linked                       []delegation.Delegation
	billing                      billing.Account
	numbers                      limits.Limits

	limiter     fakeLimiter
	signIns     fakeSignIns
	keys        fakeKeys
	artifacts   fakeArtifacts
	uploads     fakeUploads
	accessLinks fakeLinks
	views       fakeViews
	comparisons fakeComparisons
	feedback    *fakeFeedback
	live        fakeLive
	exports     fakeExports
	agents      fakeAgents
	apps        fakeApps
	provider    fakeBilling
	lookups     fakeLookups
}

func newServices() *fakeServices {
	s := &fakeServices{
		appURL:     "http://localhost:8704",
		contentURL: "http://127.0.0.1:8703",
		title:      "Seals of the bay",
		device:     "office-mac.local",
		client:     "Reading Room",
		email:      "ada@example.test",
		artifact:   sealArtifact,
		revisions:  sealRevisions(),
		links:      sealLinks(),
		linked:     []delegation.Delegation{linkedDelegation("Night Desk", "ada@example.test")},
		numbers:    limits.Default(),
	}
	s.actor = credential.Actor{
		Member:          memberID,
		Scopes:          []credential.Scope{credential.Publish, credential.Read, credential.Admin},
		Policy:          s.numbers.Tiers[limits.Free],
		AuthenticatedAt: noon,
		Workspace: workspace.Workspace{
			ID:        homeID,
			Name:      "Harbour Survey",
			Plan:      workspace.FreePlan,
			CreatedAt: noon,
			ClaimedAt: noon,
		},
	}
	s.limiter = fakeLimiter{fakeServices: s}
	s.signIns = fakeSignIns{fakeServices: s, finished: signin.Finished{Session: "bmV3LXNlc3Npb24", ReturnTo: "/keys"}}
	s.keys = fakeKeys{fakeServices: s}
	s.artifacts = fakeArtifacts{fakeServices: s}
	s.uploads = fakeUploads{fakeServices: s}
	s.accessLinks = fakeLinks{fakeServices: s}
	s.views = fakeViews{fakeServices: s}
	s.comparisons = fakeComparisons{fakeServices: s, files: sealFiles()}
	s.feedback = newFeedback(s)
	s.exports = fakeExports{fakeServices: s}
	s.agents = fakeAgents{fakeServices: s}
	s.apps = fakeApps{fakeServices: s, redirect: "https://client.example/cb?code=abc&state=xyz"}
	s.provider = fakeBilling{fakeServices: s, payURL: "https://checkout.stripe.test/c/pay/1"}
	s.lookups = fakeLookups{fakeServices: s}
	return s
}

// called writes down that a service was used.
func (s *fakeServices) called(ctx context.Context, what string) error {
	s.mu.Lock()
	s.calls = append(s.calls, what)
	s.mu.Unlock()
	return s.failing(ctx)
}

// changed is called by what changes something.
func (s *fakeServices) changed(ctx context.Context, what string) error {
	s.mu.Lock()
	s.changes = append(s.changes, what)
	s.mu.Unlock()
	return s.called(ctx, what)
}

// commanded is called by what changes something by a command.
func (s *fakeServices) commanded(ctx context.Context, c idempotency.Command, what string) error {
	s.mu.Lock()
	s.commands = append(s.commands, c)
	s.mu.Unlock()
	return s.changed(ctx, what)
}

func (s *fakeServices) failing(ctx context.Context) error {
	if s.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.fail
}

// turn answers what follows a page of a list; "gone" is a cursor of nobody here.
func (s *fakeServices) turn(ctx context.Context, after string) (next string, err error) {
	if after == "gone" {
		return "", fault.New(fault.InvalidCursor, "not here")
	}
	if s.more {
		next = "next+cursor"
	}
	return next, s.failing(ctx)
}

func (s *fakeServices) handler() http.Handler { host, _ := s.host(); return host.Handler() }

// host is a host of the services, and what it logs.
func (s *fakeServices) host() (*Host, *bytes.Buffer) {
	var lines bytes.Buffer
	origins := address.Origins{App: s.appURL, Content: s.contentURL, API: "http://localhost:8701"}
	return &Host{
		Surface:     &web.Server{Log: slog.New(slog.NewJSONHandler(&lines, nil))},
		Origins:     origins,
		Manual:      manual.New(manual.Deployment{Origins: origins, Policy: policy.Default(true), Limits: &s.numbers}),
		Limiter:     &s.limiter,
		Now:         func() time.Time { return noon },
		Sessions:    fakeSessions{s},
		SignIns:     &s.signIns,
		Account:     fakeAccount{s},
		Keys:        &s.keys,
		Artifacts:   &s.artifacts,
		Uploads:     &s.uploads,
		PutOrigin:   "http://localhost:8702",
		Links:       &s.accessLinks,
		Views:       &s.views,
		Live:        &s.live,
		Comparisons: &s.comparisons,
		Feedback:    s.feedback,
		Exports:     &s.exports,
		Agents:      &s.agents,
		Apps:        &s.apps,
		Claims:      fakeClaims{s},
		Billing:     &s.provider,
		Deletions:   fakeDeletions{s},
		Operators: Operators{
			Lockdowns: fakeLockdowns{s},
			Inbox:     fakeInbox{s},
			Lookups:   &s.lookups,
			Log:       fakeOperatorLog{s},
			Gate:      fakeGate{s},
			Plans:     fakePlans{s},
			Limits:    &s.numbers,
		},
	}, &lines
}

// page reads a page of a host in some state.
func page(t *testing.T, path string, sets ...func(*fakeServices)) string {
	t.Helper()
	s := newServices()
	all(sets...)(s)
	return wantAnswer(t, path, signedIn(s.handler(), "GET", path, nil, attemptHeader...), http.StatusOK)
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
