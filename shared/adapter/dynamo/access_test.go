package dynamo

import (
	"slices"
	"testing"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

const (
	apiOrigin = "https://api.test"
	mcpOrigin = "https://mcp.test"
)

// desk lets members in, on the api host and on the MCP host.
type desk struct {
	Stores
	api, mcp *access.Members
	peppers  keyring.Derived
	clock    time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	peppers := must(keyring.New().Pepper.Derive("credential"))(t)
	d := &desk{Stores: newStore(t), peppers: peppers, clock: now()}
	numbers := limits.Default()
	d.api = &access.Members{
		Store:       d.Access,
		Peppers:     peppers,
		Limits:      &numbers,
		Environment: credential.Preview,
		Audience:    apiOrigin,
		Now:         func() time.Time { return d.clock },
	}
	there := *d.api
	there.Audience, there.Delegated = mcpOrigin, true
	d.mcp = &there
	return d
}

// person is a member with one grant and its access token.
type person struct {
	member member.Member
	home   workspace.Workspace
	grant  oauth.Grant
	token  credential.Token
}

// person makes a member for which a client may act; change may alter all of it before it is stored.
func (d *desk) person(t testing.TB, change ...func(*person)) *person {
	t.Helper()
	w := workspace.Workspace{
		ID:        id.NewWorkspace(),
		Name:      "Home",
		Plan:      workspace.FreePlan,
		CreatedAt: d.clock,
		ClaimedAt: d.clock,
		Epoch:     3,
	}
	p := &person{home: w, token: credential.Mint(credential.AccessToken, credential.Preview, w.ID, "")}
	p.member = member.Member{
		ID:        id.NewMember(),
		Workspace: w.ID,
		Issuer:    "i",
		Subject:   "s",
		Email:     "a@b.test",
		CreatedAt: d.clock,
		SeenAt:    d.clock,
		Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
	}
	p.grant = oauth.Grant{
		Public:    p.token.Public,
		Client:    oauth.CLI,
		Name:      "CLI",
		Member:    p.member.ID,
		Workspace: w.ID,
		Audience:  apiOrigin,
		Scopes:    []credential.Scope{credential.Read},
		Epoch:     w.Epoch,
		CreatedAt: d.clock,
		ExpiresAt: d.clock.Add(limits.MaxRefreshLife),
		Access:    []oauth.AccessToken{{Hash: p.token.Hash(d.peppers), ExpiresAt: d.clock.Add(limits.AccessTokenLife)}},
	}
	for _, f := range change {
		f(p)
	}
	store(t, d.Stores, workspaceItem(p.home), memberItem(p.member), grantItem(p.grant))
	return p
}

// opens tells whether a host lets a token in.
func opens(t *testing.T, host *access.Members, token credential.Token) bool {
	t.Helper()
	_, err := host.Authenticate(ctx, token.Reveal(), access.Request{}, "")
	if err != nil && fault.CodeOf(err) != fault.NotAuthenticated {
		t.Error(err)
	}
	return err == nil
}

func TestT03TokensOfTheMCPHostHaveTheRightsThatTokenAndMemberShare(t *testing.T) {
	d := newDesk(t)
	foreign := func(p *person) {
		p.grant.Audience, p.grant.Client = mcpOrigin, id.NewClient()
		p.grant.Scopes = []credential.Scope{credential.Read, credential.Publish}
		p.member.Scopes = []credential.Scope{credential.Read, credential.Admin}
	}
	p := d.person(t, foreign)
	opened, err := d.mcp.Authenticate(ctx, p.token.Reveal(), access.Request{}, "")
	if err != nil || !slices.Equal(opened.Actor.Scopes, []credential.Scope{credential.Read}) {
		t.Errorf("%v %v", opened.Actor.Scopes, err)
	}
	if len(opened.Member.Scopes) != 2 {
		t.Errorf("the member's own scopes are %v", opened.Member.Scopes)
	}
	if opens(t, d.api, p.token) {
		t.Error("it opens the api host too")
	}
	if opens(t, d.mcp, d.person(t).token) {
		t.Error("a token of the api host opens the MCP host")
	}
}

// TestT03WithoutAnMCPHostTheClientsOfOthersStillOpenNothingOfTheApi has both kinds of clients at one origin.
func TestT03WithoutAnMCPHostTheClientsOfOthersStillOpenNothingOfTheApi(t *testing.T) {
	d := newDesk(t)
	d.mcp.Audience = apiOrigin
	own, foreign := d.person(t), d.person(t, func(p *person) { p.grant.Client = id.NewClient() })
	for name, c := range map[string]struct {
		host  *access.Members
		token credential.Token
		opens bool
	}{
		"ours, on the api":               {d.api, own.token, true},
		"ours, where others' are let in": {d.mcp, own.token, false},
		"another's, on the api":          {d.api, foreign.token, false},
		"another's, where it is let in":  {d.mcp, foreign.token, true},
	} {
		if opens(t, c.host, c.token) != c.opens {
			t.Errorf("%s: opens: %t", name, !c.opens)
		}
	}
}

// misfits change a person so that access is refused. What of a grant refuses it is tested where tokens are judged.
var misfits = map[string]func(*person){
	"T83: the epoch was raised":     func(p *person) { p.home.Epoch++ },
	"the workspace was claimed":     func(p *person) { p.home.ClaimedInto = id.NewWorkspace() },
	"no audience":                   func(p *person) { p.grant.Audience = "" },
	"the grant is of another space": func(p *person) { p.grant.Workspace = id.NewWorkspace() },
	"another secret": func(p *person) {
		p.token = credential.MintAs(credential.AccessToken, credential.Preview, p.home.ID, p.token.Public)
	},
	"an unknown token": func(p *person) {
		p.token = credential.Mint(credential.AccessToken, credential.Preview, p.home.ID, "")
	},
	"an unknown space":   func(p *person) { p.token.Workspace = id.NewWorkspace() },
	"T06: a refresh":     func(p *person) { p.token.Kind = credential.RefreshToken },
	"T06: a claim token": func(p *person) { p.token.Kind = credential.ClaimToken },
	"T06: a device code": func(p *person) { p.token.Kind = credential.DeviceCode },
	"T06: a code":        func(p *person) { p.token.Kind = credential.AuthorizationCode },
	"T06: an attempt":    func(p *person) { p.token.Kind = credential.ClaimAttempt },
	"T70: an API key":    func(p *person) { p.token.Kind = credential.APIKey },
	"another environment": func(p *person) {
		p.token = credential.Mint(credential.AccessToken, credential.Production, p.home.ID, "")
	},
}

func TestEveryRefusalOfAMemberIsTheSame(t *testing.T) {
	d := newDesk(t)
	_, want := d.api.Authenticate(ctx, "nothing", access.Request{}, "")
	for name, spoil := range misfits {
		t.Run(name, func(t *testing.T) {
			p := d.person(t, spoil)
			if p.token.Kind != credential.AccessToken { // the very secret, under another name
				p.grant.Access[0].Hash = p.token.Hash(d.peppers)
				store(t, d.Stores, grantItem(p.grant))
			}
			opened, err := d.api.Authenticate(ctx, p.token.Reveal(), access.Request{}, "")
			if fault.CodeOf(err) != fault.NotAuthenticated || fault.Of(err).Message != fault.Of(want).Message ||
				opened.Actor.Member != "" {
				t.Errorf("%+v %v, want nobody, and the words of the refusal", opened.Actor, err)
			}
		})
	}
}

// TestBothLiveAccessTokensOfAGrantWork has a member who signed out before the grant was made.
func TestBothLiveAccessTokensOfAGrantWork(t *testing.T) {
	d := newDesk(t)
	var newer credential.Token
	p := d.person(t, func(p *person) {
		p.member.SignedOutAt = p.grant.CreatedAt.Add(-time.Millisecond)
		newer = credential.MintAs(credential.AccessToken, credential.Preview, p.home.ID, p.token.Public)
		p.grant.Access = append(p.grant.Access,
			oauth.AccessToken{Hash: newer.Hash(d.peppers), ExpiresAt: d.clock.Add(2 * limits.AccessTokenLife)})
	})
	if !opens(t, d.api, p.token) || !opens(t, d.api, newer) {
		t.Error("one of two does not work")
	}
	d.clock = d.clock.Add(limits.AccessTokenLife)
	if opens(t, d.api, p.token) || !opens(t, d.api, newer) {
		t.Error("the older one outlives its hour, or the newer one does not")
	}
}

func TestT49ARecordIsFoundForItsMemberOnly(t *testing.T) {
	d := newDesk(t)
	p, other := d.person(t), d.person(t)
	wants := access.Request{Operation: idempotency.CreateKey, Client: "the-same-key"}
	c := idempotency.Command{Key: wants.Command(string(p.member.ID))}
	tx := d.begin()
	tx.finish(c, []byte(`{}`), d.clock)
	noError(t, d.commit(ctx, tx))
	opened, err := d.api.Authenticate(ctx, p.token.Reveal(), wants, "")
	if err != nil || !opened.Record.Finished(d.clock) {
		t.Errorf("%+v %v, want a finished record", opened.Record, err)
	}
	if opened, err = d.api.Authenticate(ctx, other.token.Reveal(), wants, ""); err != nil || opened.Record != nil {
		t.Errorf("another member finds it: %+v %v", opened.Record, err)
	}
	wants.Client = "short"
	if opened, err = d.api.Authenticate(ctx, p.token.Reveal(), wants, ""); err != nil || opened.Record != nil {
		t.Errorf("a malformed key is looked up: %+v %v", opened.Record, err)
	}
}
