package access_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

const apiOrigin = "https://api.example"

// fakeMembers holds one grant with its workspace and member.
type fakeMembers struct {
	grant     *oauth.Grant
	workspace *workspace.Workspace
	member    *member.Member
	reads     int
	asked     access.Request // beside the member
	errs      [2]error       // of the two reads
}

func (f *fakeMembers) GrantAndWorkspace(
	context.Context,
	id.Public,
	id.Workspace,
) (*oauth.Grant, *workspace.Workspace, error) {
	f.reads++
	return f.grant, f.workspace, f.errs[0]
}

func (f *fakeMembers) FindMember(
	_ context.Context, _ id.Workspace, _ id.Member, wants access.Request,
) (*member.Member, access.Found, error) {
	f.reads++
	f.asked = wants
	return f.member, access.Found{}, f.errs[1]
}

func (f *fakeMembers) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return f.workspace, nil
}

// tokenEnv is a member who has granted the dashboard access.
type tokenEnv struct {
	*access.Members
	store  *fakeMembers
	bearer string
}

func newTokenEnv(t *testing.T) *tokenEnv {
	t.Helper()
	peppers := newPeppers(t)
	ws := workspace.Workspace{ID: id.NewWorkspace(), ClaimedAt: now.Add(-limits.Day)}
	token := credential.Mint(credential.AccessToken, credential.Preview, ws.ID, "")
	m := member.Member{
		ID:        id.NewMember(),
		Workspace: ws.ID,
		Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
	}
	store := &fakeMembers{
		workspace: &ws,
		member:    &m,
		grant: &oauth.Grant{
			Public:    token.Public,
			Client:    oauth.Dashboard,
			Member:    m.ID,
			Workspace: ws.ID,
			Audience:  apiOrigin,
			Scopes:    []credential.Scope{credential.Read},
			Operator:  now.Add(-time.Minute),
			CreatedAt: now.Add(-time.Hour),
			ExpiresAt: now.Add(time.Hour),
			Access:    []oauth.AccessToken{{Hash: token.Hash(peppers), ExpiresAt: now.Add(time.Minute)}},
		},
	}
	l := limits.Default()
	return &tokenEnv{
		store:  store,
		bearer: token.Reveal(),
		Members: &access.Members{
			Store:       store,
			Peppers:     peppers,
			Limits:      &l,
			Environment: credential.Preview,
			Audience:    apiOrigin,
			Now:         func() time.Time { return now },
		},
	}
}

func TestAnAccessTokenActsForItsMember(t *testing.T) {
	e := newTokenEnv(t)
	got, err := e.Authenticate(t.Context(), e.bearer, access.Request{}, "request-1")
	expect.OK(t, err)
	by := got.Actor
	if by.Member != e.store.member.ID || by.Client != oauth.Dashboard || by.Workspace.ID != e.store.workspace.ID {
		t.Errorf("the actor is %+v", by)
	}
	if !slices.Equal(by.Scopes, e.store.member.Scopes) {
		t.Errorf("our own client may do %v, not what the member may", by.Scopes)
	}
	if !by.Operator.Equal(e.store.grant.Operator) {
		t.Errorf("operator since %v", by.Operator)
	}
	if by.CLIGrant.Grant != "" || !by.CLIGrant.At.Equal(e.store.grant.CreatedAt) {
		t.Errorf("the dashboard's grant is %+v", by.CLIGrant)
	}
}

func TestWhatIsReadWithAMemberDependsOnTheHost(t *testing.T) {
	all := access.Request{Artifact: id.NewArtifact(), Target: "t", Deleting: true}
	for named, want := range map[bool]access.Request{true: all, false: {Target: "t", Deleting: true}} {
		e := newTokenEnv(t)
		e.Named = named
		_, err := e.Authenticate(t.Context(), e.bearer, all, "")
		expect.OK(t, err)
		if e.store.asked != want {
			t.Errorf("with Named %t it reads %+v, want %+v", named, e.store.asked, want)
		}
	}
}

func TestKeysThatTheCLIMakesEndWithItsGrant(t *testing.T) {
	e := newTokenEnv(t)
	e.store.grant.Client = oauth.CLI
	got, err := e.Authenticate(t.Context(), e.bearer, access.Request{}, "")
	if err != nil || got.Actor.CLIGrant.Grant != e.store.grant.Public {
		t.Errorf("%+v, %v, want the CLI's grant", got.Actor.CLIGrant, err)
	}
}

func TestEveryTokenThatIsNotLiveIsRefusedAlike(t *testing.T) {
	var same refusal
	for name, change := range map[string]func(e *tokenEnv){
		"of no grant":                 func(e *tokenEnv) { e.store.grant = nil },
		"of a workspace that is gone": func(e *tokenEnv) { e.store.workspace = nil },
		"of a member who is gone":     func(e *tokenEnv) { e.store.member = nil },
		"rotated away":                func(e *tokenEnv) { e.store.grant.Access = nil },
		"expired":                     func(e *tokenEnv) { e.store.grant.Access[0].ExpiresAt = now },
		"of an ended grant":           func(e *tokenEnv) { e.store.grant.RevokedAt = now },
		"of an expired grant":         func(e *tokenEnv) { e.store.grant.ExpiresAt = now },
		"of an older epoch":           func(e *tokenEnv) { e.store.workspace.Epoch++ },
		"of a locked workspace":       func(e *tokenEnv) { e.store.workspace.Lock = id.NewLockdown() },
		"of another member":           func(e *tokenEnv) { e.store.member.ID = id.NewMember() },
		"from before a sign-out":      func(e *tokenEnv) { e.store.member.SignedOutAt = e.store.grant.CreatedAt },
		"for another host":            func(e *tokenEnv) { e.store.grant.Audience = "https://mcp.example" },
		"of a stranger's client":      func(e *tokenEnv) { e.store.grant.Client = id.NewClient() },
		"of a member who is not let in": func(e *tokenEnv) {
			e.store.workspace.SignIns = map[id.Member]workspace.SignIn{e.store.member.ID: {Email: "bob@evil.example"}}
			e.Allowlist.People.Domains = []string{"example.com"}
		},
		"of a member who is not let in, of a workspace that is being deleted": func(e *tokenEnv) {
			e.store.workspace.DeletesAt = now.Add(time.Hour)
			e.Allowlist.People.Operators = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newTokenEnv(t)
			change(e)
			_, err := e.Authenticate(t.Context(), e.bearer, access.Request{}, "")
			same.check(t, err)
		})
	}
}

func TestADelegatedHostTakesStrangersClientsOnly(t *testing.T) {
	e := newTokenEnv(t)
	e.Delegated = true
	if _, err := e.Authenticate(t.Context(), e.bearer, access.Request{}, ""); fault.CodeOf(err) != fault.NotAuthenticated {
		t.Errorf("our own client: %v", err)
	}
	e.store.grant.Client = id.NewClient()
	got, err := e.Authenticate(t.Context(), e.bearer, access.Request{}, "")
	expect.OK(t, err)
	if !slices.Equal(got.Actor.Scopes, e.store.grant.Scopes) {
		t.Errorf("it may do %v, more than was granted", got.Actor.Scopes)
	}
	if !got.Actor.Operator.IsZero() {
		t.Error("a stranger's client operates the deployment")
	}
}

func TestAMalformedTokenCostsNoRead(t *testing.T) {
	e := newTokenEnv(t)
	for _, bearer := range []string{"", "x", e.bearer + "x"} {
		if _, err := e.Authenticate(t.Context(), bearer, access.Request{}, ""); fault.CodeOf(err) != fault.NotAuthenticated {
			t.Errorf("%q: %v", bearer, err)
		}
	}
	if e.store.reads != 0 {
		t.Errorf("%d reads", e.store.reads)
	}
}

func TestNoReadOfATokenMayFail(t *testing.T) {
	for i := range 2 {
		e := newTokenEnv(t)
		e.store.errs[i] = fault.New(fault.DatabaseUnavailable, "down")
		_, err := e.Authenticate(t.Context(), e.bearer, access.Request{}, "")
		if fault.CodeOf(err) != fault.DatabaseUnavailable {
			t.Errorf("read %d: %v", i, err)
		}
	}
}

// wantDeleting checks a refusal that says when the workspace goes.
func wantDeleting(t *testing.T, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.NotAuthenticated || !errors.Is(err, workspace.ErrDeleting) ||
		!strings.Contains(err.Error(), "2026-11-23") {
		t.Errorf("refused with %v", err)
	}
}

func TestAKeyOfAWorkspaceThatIsBeingDeletedIsToldSo(t *testing.T) {
	e := newKeyEnv(t)
	e.store.found.Workspace.DeletesAt = now.Add(24 * time.Hour)
	for _, deleting := range []bool{false, true} { // the routes that let members in are not for keys
		_, err := e.Authenticate(t.Context(), e.secret, access.Request{Deleting: deleting}, "")
		wantDeleting(t, err)
	}
	other := newKeyEnv(t)
	e.store.found.Key.Hash = other.store.found.Key.Hash
	if _, err := e.Authenticate(t.Context(), e.secret, access.Request{}, ""); errors.Is(err, workspace.ErrDeleting) {
		t.Errorf("who does not hold the key learns that %v", err)
	}
}

func TestATokenOfAWorkspaceThatIsBeingDeletedOpensWhatItsMemberNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(e *tokenEnv)
		deleting bool // the route
		in, told bool
	}{
		"another route":              {func(*tokenEnv) {}, false, false, true},
		"its route":                  {func(*tokenEnv) {}, true, true, false},
		"its route, once it began":   {func(e *tokenEnv) { e.store.workspace.RemovedAt = now }, true, false, false},
		"its route, a locked one":    {func(e *tokenEnv) { e.store.workspace.Lock = id.NewLockdown() }, true, false, false},
		"its route, an older token":  {func(e *tokenEnv) { e.store.member.SignedOutAt = now.Add(-time.Minute) }, true, false, false},
		"its route, a member's gone": {func(e *tokenEnv) { e.store.member = nil }, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newTokenEnv(t)
			e.store.workspace.DeletesAt = now.Add(24 * time.Hour)
			c.change(e)
			got, err := e.Authenticate(t.Context(), e.bearer, access.Request{Deleting: c.deleting}, "")
			if (err == nil) != c.in || err != nil && fault.CodeOf(err) != fault.NotAuthenticated {
				t.Fatal(err)
			}
			if c.told {
				wantDeleting(t, err)
			}
			if c.in && !got.Actor.Workspace.Deleting() {
				t.Error("the caller's workspace does not say so")
			}
		})
	}
}
