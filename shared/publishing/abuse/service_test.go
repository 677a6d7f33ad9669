package abuse

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/pow"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// fakeStore has one artifact with one link, in a workspace that another one may have claimed.
type fakeStore struct {
	link     link.Link
	artifact artifact.Artifact
	owner    workspace.Workspace
	kept     []Report
	events   []event.Event
	err      error

	counted map[string]int
	burnt   map[string]bool
}

func (f *fakeStore) Link(_ context.Context, p id.Public) (*link.Link, error) {
	if p != f.link.Public {
		return nil, f.err
	}
	return &f.link, f.err
}

func (f *fakeStore) Artifact(_ context.Context, a id.Artifact) (*artifact.Artifact, error) {
	if a != f.artifact.ID {
		return nil, f.err
	}
	return &f.artifact, f.err
}

func (f *fakeStore) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return &f.owner, f.err
}

func (f *fakeStore) Add(_ context.Context, r Report, e event.Event) error {
	f.kept, f.events = append(f.kept, r), append(f.events, e)
	return f.err
}

func (f *fakeStore) Count(_ context.Context, w rate.Window, add, limit int) (int, bool, error) {
	if f.counted[w.Kind] >= limit {
		return limit, false, f.err
	}
	f.counted[w.Kind] += add
	return f.counted[w.Kind], true, f.err
}

func (f *fakeStore) CountOf(_ context.Context, w rate.Window) (int, error) {
	return f.counted[w.Kind], f.err
}

func (f *fakeStore) Burn(_ context.Context, nonce string, _ time.Time) (bool, error) {
	fresh := !f.burnt[nonce]
	f.burnt[nonce] = true
	return fresh, f.err
}

// env is a service with its store and a builder of the addresses that people paste.
type env struct {
	*Service
	store *fakeStore
	urls  *address.URLBuilder
}

func newEnv(t *testing.T) *env {
	t.Helper()
	rings := keyring.New()
	nonces, err1 := rings.Pepper.Derive("pow-report")
	peppers, err2 := rings.Pepper.Derive("credential")
	expect.OK(t, err1, err2)
	origins := addresses.Origins
	origins.API = "http://api.test:1"
	urls := addresses.At(t, origins)
	owner, shown := id.NewWorkspace(), id.NewArtifact()
	store := &fakeStore{
		link: link.Link{Public: id.NewPublic(), Artifact: shown},
		artifact: artifact.Artifact{
			ID:        shown,
			Owner:     owner,
			Status:    artifact.Live,
			ExpiresAt: noon.Add(time.Hour),
		},
		owner:   workspace.Workspace{ID: owner},
		counted: map[string]int{},
		burnt:   map[string]bool{},
	}
	numbers := limits.Default()
	clock := func() time.Time { return noon }
	return &env{store: store, urls: urls, Service: &Service{
		Store:  store,
		Reader: Reader{Origins: origins, Tokens: []*token.Codec{urls.ContentToken, urls.ViewToken}},
		Gate: &pow.Gate{
			Pow:      &pow.Service{Keys: nonces, Store: store, Now: clock},
			Limiter:  &rate.Limiter{Counters: store, Limits: &numbers, Now: clock},
			Counters: store,
			Limits:   &numbers,
			Now:      clock,
		},
		Addresses: peppers,
		Now:       clock,
	}}
}

var client = netip.MustParseAddr("203.0.113.7")

// filed returns a complete request about a target.
func filed(target string) Request {
	return Request{
		Form: Form{
			Target: target,
			Reason: Phishing,
			Text:   "It asks for\r\nmy password.",
			Email:  " ada@example.test ",
		},
		From:      client,
		RequestID: "request-1",
	}
}

func TestAReportIsKeptWithAnEventThatNamesNoSender(t *testing.T) {
	e := newEnv(t)
	public := string(e.store.link.Public)
	expect.OK(t, e.File(t.Context(), filed(public)))
	got := e.store.kept[0]
	want := Report{
		ID:        got.ID,
		Artifact:  e.store.artifact.ID,
		Workspace: e.store.owner.ID,
		Link:      e.store.link.Public,
		Reporter:  address.Subject(client, e.Addresses),
		Reason:    Phishing,
		Text:      "It asks for\nmy password.",
		Email:     "ada@example.test",
		At:        noon,
	}
	if got != want || !strings.HasPrefix(string(got.ID), "rpt_") || strings.Contains(got.Reporter, "203") {
		t.Errorf("kept %+v", got)
	}
	done := e.store.events[0]
	said := event.Event{
		ID:        done.ID,
		Workspace: e.store.owner.ID,
		At:        noon,
		Action:    event.ArtifactReported,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: event.OnArtifact, ID: string(e.store.artifact.ID)},
		Detail:    "phishing_report",
		RequestID: "request-1",
	}
	if done != said {
		t.Errorf("recorded %+v", done)
	}
}

func TestWhatWasClaimedIsReportedWhereItIsNow(t *testing.T) {
	e := newEnv(t)
	e.store.owner.ClaimedInto = id.NewWorkspace()
	expect.OK(t, e.File(t.Context(), filed(string(e.store.artifact.ID))))
	if got := e.store.kept[0].Workspace; got != e.store.owner.ClaimedInto || e.store.events[0].Workspace != got {
		t.Errorf("kept for %s", got)
	}
}

func TestEveryWayToNameAnArtifact(t *testing.T) {
	e := newEnv(t)
	public, shown := e.store.link.Public, e.store.artifact.ID
	claims := token.Claims{
		Expires:   noon.Add(-time.Hour), // what has expired is reported too
		Workspace: e.store.owner.ID,
		Artifact:  shown,
		Revision:  id.NewRevision(),
	}
	shared, err1 := e.urls.Link(public, e.store.owner.ID, shown, noon)
	content, err2 := e.urls.Content(claims)
	view, err3 := e.urls.AgentView(claims)
	claims.Link = public
	linked, err4 := e.urls.Content(claims)
	expect.OK(t, err1, err2, err3, err4)
	_, bare, _ := strings.Cut(shared, "://")
	named, unnamed := Target{Link: public}, Target{Artifact: shown}
	for text, want := range map[string]Target{
		string(public):                named,
		"  " + string(public) + "\n":  named,
		shared:                        named,
		strings.Split(shared, "#")[0]: named,
		strings.ToUpper(shared[:17]) + shared[17:]: named,
		bare:                                named,
		"/al/" + string(public):             named,
		shared + "?x=y":                     named,
		string(shown):                       unnamed,
		e.urls.Private(shown):               unnamed,
		e.urls.Private(shown) + "?revision": unnamed,
		"https://app.test/artifacts/" + string(shown) + "/links": unnamed,
		content + "a/b.html?download#x":                          unnamed,
		content:                                                  unnamed,
		view:                                                     unnamed,
		linked + "index.html":                                    {Link: public, Artifact: shown},
		content[:40] + "AAAA" + content[44:]:                     {}, // forged
	} {
		if got, ok := e.Read(text); !ok || got != want {
			t.Errorf("%s: %+v, %t, not %+v", text, got, ok, want)
		}
	}
}

func TestWhatNamesNothingIsRefusedWithWhatToPaste(t *testing.T) {
	e := newEnv(t)
	public := string(e.store.link.Public)
	for _, text := range []string{
		"", " ", "#", "hello", public[1:], public + "0", strings.ToLower(public), "art_", "art_" + public,
		"https://app.test", "https://app.test/", "https://app.test/al/", "https://app.test/al", "https://app.test/dashboard",
		"https://elsewhere.test/al/" + public, "https://app.test.evil/al/" + public, "https://x@app.test/al/" + public,
		"https://content.test/v/short/index.html", "al/" + public, "//app.test/al/" + public,
		"javascript:alert(1)", "<script>alert(1)</script>", "\u202e" + public, public + "\x00",
		"/al/" + public + strings.Repeat("x", maxTargetBytes),
	} {
		err := e.File(t.Context(), filed(text))
		var refused *Invalid
		if !errors.As(err, &refused) || refused.Field != TargetField || !strings.Contains(refused.Message, "app.test/al/") ||
			text != "" && len(text) > 20 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if len(e.store.kept)+len(e.store.counted) > 0 {
		t.Errorf("kept %v, counted %v", e.store.kept, e.store.counted)
	}
}

func TestIncompleteFormsAreRefusedByField(t *testing.T) {
	e := newEnv(t)
	for name, c := range map[string]struct {
		change func(*Form)
		field  Field
	}{
		"no reason":        {func(f *Form) { f.Reason = "" }, ReasonField},
		"unknown reason":   {func(f *Form) { f.Reason = "<b>" }, ReasonField},
		"a long text":      {func(f *Form) { f.Text = strings.Repeat("é", limits.ReportRunes+1) }, TextField},
		"other, no text":   {func(f *Form) { f.Reason, f.Text = Other, " \n\u202e " }, TextField},
		"a name":           {func(f *Form) { f.Email = "Ada <ada@example.test>" }, EmailField},
		"no address":       {func(f *Form) { f.Email = "ada" }, EmailField},
		"target first":     {func(f *Form) { *f = Form{} }, TargetField},
		"a header as mail": {func(f *Form) { f.Email = "a@b.c\r\nBcc: d@e.f" }, EmailField},
	} {
		r := filed(string(e.store.link.Public))
		c.change(&r.Form)
		err := e.File(t.Context(), r)
		var refused *Invalid
		if !errors.As(err, &refused) || refused.Field != c.field || fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := filed(string(e.store.link.Public))
	r.Text, r.Email = "", ""
	if err := e.File(t.Context(), r); err != nil || len(e.store.kept) != 1 {
		t.Errorf("a form without text and e-mail address: %v, %d kept", err, len(e.store.kept))
	}
}

func TestWhatDoesNotExistIsThankedForAndNotKept(t *testing.T) {
	for name, change := range map[string]func(*env) string{
		"an unknown link":     func(*env) string { return string(id.NewPublic()) },
		"an unknown artifact": func(*env) string { return string(id.NewArtifact()) },
		"an expired artifact": func(e *env) string {
			e.store.artifact.ExpiresAt = noon
			return string(e.store.artifact.ID)
		},
		"a deleted artifact": func(e *env) string {
			e.store.artifact.Status = artifact.Deleted
			return string(e.store.artifact.ID)
		},
		"a link to what is gone": func(e *env) string {
			e.store.link.Artifact = id.NewArtifact()
			return string(e.store.link.Public)
		},
		"a forged token": func(*env) string { return "https://content.test/v/" + strings.Repeat("A", 95) + "/" },
	} {
		e := newEnv(t)
		if err := e.File(t.Context(), filed(change(e))); err != nil || len(e.store.kept) > 0 {
			t.Errorf("%s: %v, kept %v", name, err, e.store.kept)
		}
		if diff := cmp.Diff(map[string]int{"report": 1, "reports": 1}, e.store.counted); diff != "" {
			t.Errorf("%s: counted (-want +got):\n%s", name, diff)
		}
	}
}

func TestLockedAndRevokedIsReportedAllTheSame(t *testing.T) {
	e := newEnv(t)
	e.store.artifact.Lock, e.store.link.RevokedAt = id.NewLockdown(), noon
	if err := e.File(t.Context(), filed(string(e.store.link.Public))); err != nil || len(e.store.kept) != 1 {
		t.Errorf("%v, kept %v", err, e.store.kept)
	}
}

func TestFailuresOfTheStoreAreNoThanks(t *testing.T) {
	e := newEnv(t)
	e.store.err = fault.NewCode(fault.DatabaseUnavailable)
	if err := e.File(t.Context(), filed(string(e.store.link.Public))); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Error(err)
	}
}

// challenge returns the challenge that a refusal carries, and how long none will be due.
func challenge(t *testing.T, err error) (contract.Challenge, time.Duration) {
	t.Helper()
	var required *pow.Required
	if !errors.As(err, &required) {
		t.Fatalf("no challenge: %v", err)
	}
	return required.Challenge, fault.Of(err).RetryAfter
}

func TestWorkIsAskedForWhenManyReportsArrive(t *testing.T) {
	for name, c := range map[string]struct {
		pow       limits.Pow
		own, all  int
		bits      int // 0: none
		forever   bool
		addressed bool // the wait is that of the address
	}{
		"calm":                {limits.PowAdaptive, 0, 60, 0, false, false},
		"third of an address": {limits.PowAdaptive, 2, 0, 0, false, false},
		"fourth":              {limits.PowAdaptive, 3, 0, limits.PowBits, false, true},
		"above a fifth":       {limits.PowAdaptive, 0, 61, limits.PowBits, false, false},
		"above four fifths":   {limits.PowAdaptive, 0, 241, limits.PowBitsBusy, false, false},
		"always":              {limits.PowAlways, 0, 0, limits.PowBits, true, false},
		"off":                 {limits.PowOff, 9, 299, 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.Limits.Pow = c.pow
			e.store.counted = map[string]int{"report": c.own, "reports": c.all}
			err := e.File(t.Context(), filed(string(e.store.link.Public)))
			if c.bits == 0 {
				if err != nil || len(e.store.kept) != 1 {
					t.Errorf("%v, kept %v", err, e.store.kept)
				}
				return
			}
			asked, wait := challenge(t, err)
			window := rate.WindowOf(e.Limits.Reports, "all", noon)
			if c.addressed {
				window = rate.WindowOf(e.Limits.Report, address.Subject(client, e.Addresses), noon)
			}
			want := window.End.Sub(noon)
			if c.forever {
				want = 0
			}
			if asked.Difficulty != c.bits || wait != want {
				t.Errorf("%d bits, %v to wait, not %v", asked.Difficulty, wait, want)
			}
			if len(e.store.kept) > 0 || e.store.counted["reports"] != c.all {
				t.Errorf("kept %v, counted %v", e.store.kept, e.store.counted)
			}
		})
	}
}

func TestASolutionLetsOneReportThrough(t *testing.T) {
	e := newEnv(t)
	e.store.counted = map[string]int{"reports": 100}
	r := filed(string(e.store.link.Public))
	required := e.Pow.Ask(1, "many reports arrive") // the first counters solve a single bit
	r.Proof = &pow.Proof{Challenge: required.Challenge, Solution: contract.Solution{Nonce: required.Challenge.Nonce}}
	for fault.CodeOf(e.Pow.Check(t.Context(), r.Proof.Challenge, r.Proof.Solution)) == fault.PowInvalid {
		r.Proof.Solution.Counter++
	}
	if err := e.File(t.Context(), r); fault.CodeOf(err) != fault.PowInvalid || len(e.store.kept) > 0 {
		t.Errorf("a used solution: %v", err)
	}
	e.store.burnt = map[string]bool{}
	if err := e.File(t.Context(), r); err != nil || len(e.store.kept) != 1 {
		t.Errorf("a solution: %v", err)
	}
}

func TestReportsHaveLimits(t *testing.T) {
	for kind, limit := range map[string]int{"report": 10, "reports": 300} {
		e := newEnv(t)
		e.Limits.Pow = limits.PowOff
		e.store.counted[kind] = limit
		err := e.File(t.Context(), filed(string(e.store.link.Public)))
		f := fault.Of(err)
		if f.Code != fault.RateLimitedActor || f.RetryAfter <= 0 || f.RetryAfter > 10*time.Minute || len(e.store.kept) > 0 {
			t.Errorf("%s: %v after %v", kind, err, f.RetryAfter)
		}
		e.Limits.Off = true
		if err := e.File(t.Context(), filed(string(e.store.link.Public))); err != nil || len(e.store.kept) != 1 {
			t.Errorf("%s without limits: %v", kind, err)
		}
	}
}
