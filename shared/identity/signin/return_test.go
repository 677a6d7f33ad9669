package signin_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestT39APathThatCouldLeaveTheHostBecomesTheHomePage(t *testing.T) {
	for _, bad := range []string{
		"", "//evil", "/\\evil", "\\evil", "https:evil", "https://evil", "javascript:alert(1)", "/%0d%0aSet-Cookie:a=b",
		"/..//evil", "/a/../b", "/%2e%2e/evil", "/%2E%2e//evil", "/a/./b", "/a//b", "/%2fevil", "/%5cevil", "/a%5c",
		"/\t/evil", "/a\r\nb", "/a\x00", "/a\x7f", "/%7f", "/%", "/%2", "/%zz", "/%250d%250a", "/a b", "/ä", "/a#b",
		"/a\"b", "/?a=%0a", "/?a=%", "/?\\", "evil", "?a", "/api/auth/sign-in", "/api", "/%61pi/auth/sign-in", "/ap%69",
		"/%61%70%69/auth/sign-out?x=1", "/..", "/a/..", "/" + strings.Repeat("a", 1100), "/{a}", "/a|b",
	} {
		if got := signin.ReturnPath(bad); got != "/" {
			t.Errorf("%q comes back as %q", bad, got)
		}
	}
}

func TestAPageOfTheAppIsReturnedTo(t *testing.T) {
	for _, good := range []string{
		"/", "/dashboard", "/artifacts/art_0123456789ABCDEFGHJKMNPQRS", "/device?user_code=BCDF-GHJK",
		"/oauth/authorize?request=aa-_", "/v/x/", "/a%20b", "/audit?request_id=a%2Fb&x=%25", "/apis", "/%61pis", "/x/%61pi",
	} {
		if got := signin.ReturnPath(good); got != good {
			t.Errorf("%q comes back as %q", good, got)
		}
	}
}

func FuzzReturnPath(f *testing.F) {
	for _, seed := range []string{
		"/", "//evil", "/\\evil", "/..//evil", "/%0d%0aSet-Cookie", "/a/%2e%2e/b?c=%25", "https:evil", "/%25%32%66",
		"/a;b//c",
	} {
		f.Add(seed)
	}
	app, err := url.Parse("https://app.example.org/api/auth/callback")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := signin.ReturnPath(s)
		if !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.ContainsFunc(got, func(r rune) bool {
			return r == '\\' || unicode.IsControl(r)
		}) {
			t.Fatalf("%q comes back as %q", s, got)
		}
		u, err := app.Parse(got)
		if err != nil || u.Scheme != app.Scheme || u.Host != app.Host || u.User != nil {
			t.Fatalf("%q leads to %v, %v", got, u, err)
		}
		if strings.HasPrefix(u.Path, "//") || strings.ContainsFunc(u.Path, func(r rune) bool {
			return r == '\\' || unicode.IsControl(r)
		}) {
			t.Fatalf("%q is the path %q", got, u.Path)
		}
		again, err := url.PathUnescape(u.Path)
		if err == nil && (strings.HasPrefix(again, "//") || strings.ContainsFunc(again, unicode.IsControl)) {
			t.Fatalf("%q is the path %q when it is decoded twice", got, again)
		}
		if u.Path == "/api" || strings.HasPrefix(u.Path, "/api/") {
			t.Fatalf("%q signs in or out again", got)
		}
		if signin.ReturnPath(got) != got {
			t.Fatalf("%q is not returned to as it is", got)
		}
	})
}

// withAgents adds a member whom a provider of agents made.
func (e *env) withAgents(t *testing.T, email string) member.NewMember {
	t.Helper()
	e.Takeovers = &signin.Takeovers{Store: e.Stores.Takeovers, Sessions: e.Sessions, Now: e.clock.Now}
	made := member.New(member.Agents(id.DelegationOf("i", email, "a"), email), e.clock.Now(), "")
	if err := e.Stores.Members.Add(ctx, made); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestT82ASessionOpensOnceThePersonHasAnswered(t *testing.T) {
	s := newEnv(t)
	made := s.withAgents(t, "ada@example.org")
	in := s.signIn(t, "ada@example.org")
	if in.Session != "" || in.Question == "" {
		t.Fatalf("%+v, want a question in place of a session", in)
	}
	q, linked, err := s.Takeovers.PendingTakeover(ctx, in.Question)
	if err != nil || q.Workspace != made.Workspace.ID || len(linked) != 0 {
		t.Fatal(q, linked, err)
	}
	done, err := s.Takeovers.FinishTakeover(ctx, in.Question, nil, "", about, "")
	if err != nil || done.Member.ID != made.Member.ID {
		t.Fatal(done, err)
	}
	opened, err := s.Sessions.Authenticate(ctx, done.Session, "")
	if err != nil || opened.Actor.Workspace.ID != made.Workspace.ID || opened.Member.ProviderMade() {
		t.Errorf("%+v %v, want the agents' workspace, the person's own", opened, err)
	}
	if again := s.signIn(t, "ada@example.org"); again.Question != "" || again.Member.ID != made.Member.ID {
		t.Errorf("asked again: %+v", again)
	}
	if _, err := s.Takeovers.FinishTakeover(ctx, in.Question, nil, "", session.Client{}, ""); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error("a question is answered twice", err)
	}
}

// lastingSessions is a store that ends no session.
type lastingSessions struct {
	session.Store
	err error
}

func (s lastingSessions) End(context.Context, session.Hash, event.Event) error { return s.err }

func TestNoSessionOpensBesideOneThatDoesNotEnd(t *testing.T) {
	s := newEnv(t)
	previous := s.signIn(t, "eve@example.org").Session
	s.withAgents(t, "ada@example.org")
	in := s.signIn(t, "ada@example.org")
	away := errors.New("the tables are away")
	s.Sessions.Store = lastingSessions{s.Sessions.Store, away}
	done, err := s.Takeovers.FinishTakeover(ctx, in.Question, nil, previous, about, "")
	if !errors.Is(err, away) || done.Session != "" {
		t.Errorf("FinishTakeover = %+v, %v, want no session and %v", done, err, away)
	}
}

func TestT82AQuestionIsForItsBrowserAndTime(t *testing.T) {
	s := newEnv(t)
	s.withAgents(t, "ada@example.org")
	in := s.signIn(t, "ada@example.org")
	for _, secret := range []string{"", "x", in.Question[:42] + "_", in.Question + "A"} {
		if _, _, err := s.Takeovers.PendingTakeover(ctx, secret); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", secret, err)
		}
	}
	s.clock.Advance(limits.TakeoverLife)
	if _, err := s.Takeovers.FinishTakeover(ctx, in.Question, nil, "", about, ""); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error("an old question is answered", err)
	}
	if later := s.signIn(t, "ada@example.org"); later.Question == "" {
		t.Error("the question is not asked again")
	}
}
