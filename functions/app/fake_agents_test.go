package app

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

type fakeAgents struct {
	*fakeServices
	PreviewFn func(*agentauth.Request) error // changes the request, or refuses it; nil: neither
}

func (f *fakeAgents) Preview(ctx context.Context, _ credential.Actor, token string) (agentauth.Request, error) {
	r := agentauth.Request{
		Registration: agentID,
		CreatedAt:    noon.Add(-time.Hour),
		Network:      "198.51.100.0/24",
		ExpiresAt:    noon.Add(10 * time.Minute),
		Artifacts:    []string{f.title, "Counts by observer"},
		Count:        3,
	}
	err := f.called(ctx, "Look "+token)
	if err == nil && f.PreviewFn != nil {
		err = f.PreviewFn(&r)
	}
	return r, err
}

func (f *fakeAgents) Complete(
	ctx context.Context, _ credential.Actor, c contract.CompleteClaim,
) (contract.CompletedClaim, error) {
	if err := f.changed(ctx, "Complete "+c.UserCode+" "+c.AttemptToken); err != nil {
		return contract.CompletedClaim{}, err
	}
	if c.UserCode != "123456" {
		return contract.CompletedClaim{}, fault.New(fault.InvalidRequest, "not that")
	}
	return contract.CompletedClaim{OK: true, RegistrationID: agentID}, nil
}

func (f *fakeAgents) Refuse(ctx context.Context, _ credential.Actor, token string) error {
	return f.changed(ctx, "Refuse "+token)
}

func (f *fakeAgents) Connections(
	ctx context.Context, by credential.Actor, p cursor.Page,
) ([]agentauth.Registration, string, error) {
	if f.empty {
		return nil, "", nil
	}
	one, _ := f.Connection(ctx, by, agentID)
	next, err := f.turn(ctx, p.Cursor)
	return []agentauth.Registration{one}, next, err
}

func (f *fakeAgents) Connection(
	ctx context.Context, _ credential.Actor, r id.Registration,
) (agentauth.Registration, error) {
	if r != agentID {
		return agentauth.Registration{}, fault.New(fault.NotFound, "no such agent")
	}
	return agentauth.Registration{
		ID:          agentID,
		State:       agentauth.Verified,
		CreatedAt:   noon.Add(-time.Hour),
		CompletedAt: noon,
		Network:     "198.51.100.0/24",
	}, f.failing(ctx)
}

func (f *fakeAgents) Unlink(ctx context.Context, _ credential.Actor, r id.Registration) error {
	return f.changed(ctx, "Unlink "+string(r))
}

func (f *fakeAgents) LinkedProviders(
	ctx context.Context, _ credential.Actor, p cursor.Page,
) ([]delegation.Delegation, string, error) {
	if f.empty {
		return nil, "", f.failing(ctx)
	}
	next, err := f.turn(ctx, p.Cursor)
	return f.linked, next, err
}

func (f *fakeAgents) LinkedProvider(
	ctx context.Context, _ credential.Actor, which id.Delegation,
) (delegation.Delegation, error) {
	n := slices.IndexFunc(f.linked, func(one delegation.Delegation) bool { return one.ID() == which })
	if n < 0 {
		return delegation.Delegation{}, fault.New(fault.NotFound, "no such provider")
	}
	return f.linked[n], f.failing(ctx)
}

func (f *fakeAgents) UnlinkProvider(ctx context.Context, _ credential.Actor, which id.Delegation) error {
	return f.changed(ctx, "Unlink "+string(which))
}

// linkedDelegation is one of a provider with a name.
func linkedDelegation(name, email string) delegation.Delegation {
	return delegation.Delegation{
		Principal: delegation.Principal{
			Issuer:   "https://agents.example/tenant",
			Subject:  name,
			Audience: "http://localhost:8701",
		},
		Generation: 1,
		Provider:   name,
		Email:      email,
		Scopes:     []credential.Scope{credential.Read, credential.Publish},
		CreatedAt:  noon.Add(-48 * time.Hour),
		SeenAt:     noon.Add(-time.Hour),
	}
}

// vouching has two providers whose agents work for the person; one vouches for the agent that asks.
func vouching(s *fakeServices) {
	s.linked = []delegation.Delegation{linkedDelegation(s.client, s.email), linkedDelegation("Night Desk", s.email)}
	s.agents.PreviewFn = func(r *agentauth.Request) error {
		d := s.linked[0]
		r.Vouched = agentauth.Vouched{
			Principal: d.Principal,
			Provider:  d.Provider,
			Email:     d.Email,
			Scopes:    d.Scopes,
		}
		return nil
	}
}

type fakeClaims struct{ *fakeServices }

func (f fakeClaims) Preview(ctx context.Context, _ credential.Actor, token string) (claim.Preview, error) {
	if err := f.called(ctx, "Look "+token); err != nil {
		return claim.Preview{}, err
	}
	if token != claimToken {
		return claim.Preview{}, fault.New(fault.NotFound, "unusable")
	}
	return claim.Preview{
		CreatedAt: noon.Add(-time.Hour),
		ExpiresAt: noon.Add(limits.ClaimTokenLife),
		Titles:    []string{f.title},
		Count:     1,
	}, nil
}

func (f fakeClaims) Claim(
	ctx context.Context, _ credential.Actor, command idempotency.Command, _ *idempotency.Record, token string,
) (contract.Claimed, error) {
	claimed := contract.Claimed{DestinationWorkspaceID: homeID, ArtifactIDs: []id.Artifact{artifactID}}
	return claimed, f.commanded(ctx, command, "Claim "+token)
}

type fakeApps struct {
	*fakeServices
	ConsentFn func(*oauth.Consent) error // changes what is asked, or refuses it; nil: neither
	GrantsFn  func()                     // runs before an answer; nil: nothing does
	clientID  id.Client                  // of the app; empty: of one that registered itself
	redirect  string                     // where answers go
	trusted   bool                       // the member lets the app in already
}

func (f *fakeApps) Consent(ctx context.Context, _ string) (oauth.Consent, error) {
	c := oauth.Consent{
		Client:       oauth.Client{ID: cmp.Or(f.clientID, "oc_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"), Name: f.client},
		RedirectHost: "client.example",
		Scopes:       []credential.Scope{credential.Publish, credential.Read},
		Audience:     "http://localhost:8705",
		ExpiresAt:    noon.Add(10 * time.Minute),
	}
	err := f.failing(ctx)
	if err == nil && f.ConsentFn != nil {
		err = f.ConsentFn(&c)
	}
	return c, err
}

// ownApp asks for access of the command line, on this computer.
func ownApp(c *oauth.Consent) error {
	c.Client.ID, c.Client.FirstParty, c.Loopback = oauth.CLI, true, true
	return nil
}

func (f *fakeApps) Allow(ctx context.Context, _ credential.Actor, request string) (string, error) {
	return f.redirect, f.changed(ctx, "Allow "+request)
}

func (f *fakeApps) Deny(ctx context.Context, _ credential.Actor, request string) (string, error) {
	return f.redirect, f.changed(ctx, "Deny "+request)
}

func (f *fakeApps) Refused(
	ctx context.Context, by credential.Actor, asked oauth.Authorization, _ netip.Addr,
) (oauth.Refused, error) {
	if asked.ClientID == "" {
		return oauth.Refused{}, fault.NewCode(fault.InvalidRequest)
	}
	return oauth.Refused{
		Client:       oauth.Client{ID: "oc_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9", Name: f.client},
		RedirectHost: "client.example",
		Code:         fault.OAuthInvalidTarget,
		Description:  "this client can get tokens for https://mcp.example only",
		RedirectTo:   f.redirect,
		Trusted:      f.trusted && by.Member == memberID,
	}, f.called(ctx, "Refused "+asked.ClientID+" "+asked.State)
}

func (f *fakeApps) Grants(ctx context.Context, by credential.Actor, p cursor.Page) ([]oauth.Grant, string, error) {
	if f.GrantsFn != nil {
		f.GrantsFn()
	}
	if f.empty {
		return nil, "", nil
	}
	g, _ := f.Allowed(ctx, by, grantID)
	own := g
	own.Client, own.Name = oauth.CLI, "Vitrine command line"
	next, err := f.turn(ctx, p.Cursor)
	return []oauth.Grant{g, own}, next, err
}

func (f *fakeApps) Allowed(ctx context.Context, _ credential.Actor, public id.Public) (oauth.Grant, error) {
	if public != grantID {
		return oauth.Grant{}, fault.New(fault.NotFound, "no such app")
	}
	return oauth.Grant{
		Public:    grantID,
		Client:    cmp.Or(f.clientID, "oc_x"),
		Name:      f.client,
		Audience:  "http://localhost:8705",
		CreatedAt: noon,
		ExpiresAt: noon.Add(limits.MaxRefreshLife),
		Scopes:    []credential.Scope{credential.Publish, credential.Read},
	}, f.failing(ctx)
}

func (f *fakeApps) EndGrant(ctx context.Context, _ credential.Actor, public id.Public) error {
	return f.changed(ctx, "EndGrant "+string(public))
}

func (f *fakeApps) Device(ctx context.Context, _ credential.Actor, code string) (oauth.Device, error) {
	if err := f.called(ctx, "Device "+code); err != nil {
		return oauth.Device{}, err
	}
	if code != userCode {
		return oauth.Device{}, fault.New(fault.NotFound, "no device")
	}
	return oauth.Device{
		Client:    oauth.Client{ID: oauth.CLI, Name: "Vitrine command line", FirstParty: true},
		Name:      f.device,
		Network:   "203.0.113.0/24",
		CreatedAt: noon,
		ExpiresAt: noon.Add(limits.DeviceLife),
	}, nil
}

func (f *fakeApps) ApproveDevice(ctx context.Context, _ credential.Actor, code string) error {
	return f.changed(ctx, "ApproveDevice "+code)
}

func (f *fakeApps) DenyDevice(ctx context.Context, _ credential.Actor, code string) error {
	return f.changed(ctx, "DenyDevice "+code)
}
