package app

import (
	"cmp"
	"context"
	"time"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

type agents struct{ *house }

func (a agents) Preview(ctx context.Context, _ credential.Actor, token string) (agentauth.Request, error) {
	if err := a.called(ctx, "Look "+token); err != nil {
		return agentauth.Request{}, err
	}
	if a.over != nil {
		return agentauth.Request{}, a.over
	}
	var vouched agentauth.Vouched
	if a.vouched {
		d := linkedDelegation(a.client, a.email)
		vouched = agentauth.Vouched{
			Principal: d.Principal,
			Provider:  d.Provider,
			Email:     d.Email,
			Scopes:    d.Scopes,
		}
	}
	return agentauth.Request{
		Vouched:      vouched,
		Registration: agentID,
		CreatedAt:    noon.Add(-time.Hour),
		Network:      "198.51.100.0/24",
		ExpiresAt:    noon.Add(10 * time.Minute),
		Artifacts:    []string{a.title, "Counts by observer"},
		Count:        3,
	}, nil
}

func (a agents) Complete(
	ctx context.Context, _ credential.Actor, c contract.CompleteClaim,
) (contract.CompletedClaim, error) {
	a.completed = c
	if err := a.called(ctx, "Complete"); err != nil {
		return contract.CompletedClaim{}, err
	}
	if c.UserCode != "123456" {
		return contract.CompletedClaim{}, fault.New(fault.InvalidRequest, "not that")
	}
	return contract.CompletedClaim{OK: true, RegistrationID: agentID}, nil
}

func (a agents) Refuse(ctx context.Context, _ credential.Actor, token string) error {
	return a.called(ctx, "Refuse "+token)
}

func (a agents) Connections(
	ctx context.Context, by credential.Actor, p cursor.Page,
) ([]agentauth.Registration, string, error) {
	if a.empty {
		return nil, "", nil
	}
	one, err := a.Connection(ctx, by, agentID)
	next, wrong := a.turn(p)
	return []agentauth.Registration{one}, next, cmp.Or(err, wrong)
}

func (a agents) Connection(ctx context.Context, _ credential.Actor, r id.Registration) (agentauth.Registration, error) {
	if r != agentID {
		return agentauth.Registration{}, fault.New(fault.NotFound, "no such agent")
	}
	return agentauth.Registration{
		ID:          agentID,
		State:       agentauth.Verified,
		CreatedAt:   noon.Add(-time.Hour),
		CompletedAt: noon,
		Network:     "198.51.100.0/24",
	}, a.failing(ctx)
}

// turn answers what follows a page; "gone" is a cursor of nobody here.
func (h *house) turn(p cursor.Page) (string, error) {
	if p.Cursor == "gone" {
		return "", fault.New(fault.InvalidCursor, "not here")
	}
	if !h.more {
		return "", nil
	}
	return "next+cursor", nil
}

func (h *house) failing(ctx context.Context) error {
	if h.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.fail
}

func (a agents) Unlink(ctx context.Context, _ credential.Actor, r id.Registration) error {
	return a.called(ctx, "Unlink "+string(r))
}

type claims struct{ *house }

func (c claims) Preview(ctx context.Context, _ credential.Actor, token string) (claim.Preview, error) {
	if err := c.called(ctx, "Look "+token); err != nil {
		return claim.Preview{}, err
	}
	if token != claimToken {
		return claim.Preview{}, fault.New(fault.NotFound, "unusable")
	}
	return claim.Preview{
		CreatedAt: noon.Add(-time.Hour),
		ExpiresAt: noon.Add(limits.ClaimTokenLife),
		Titles:    []string{c.title},
		Count:     1,
	}, nil
}

func (c claims) Claim(
	ctx context.Context, _ credential.Actor, command idempotency.Command, _ *idempotency.Record, token string,
) (contract.Claimed, error) {
	c.commands = append(c.commands, command)
	if err := c.called(ctx, "Claim "+token); err != nil {
		return contract.Claimed{}, err
	}
	return contract.Claimed{DestinationWorkspaceID: homeID, ArtifactIDs: []id.Artifact{artifactID}}, nil
}

type apps struct{ *house }

func (a apps) Consent(ctx context.Context, _ string) (oauth.Consent, error) {
	if a.over != nil {
		return oauth.Consent{}, a.over
	}
	client := cmp.Or(a.app, "oc_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9")
	if a.firstParty {
		client = oauth.CLI
	}
	return oauth.Consent{
		Client:       oauth.Client{ID: client, Name: a.client, FirstParty: a.firstParty},
		RedirectHost: "client.example",
		Loopback:     a.loopback,
		Scopes:       []credential.Scope{credential.Publish, credential.Read},
		Audience:     "http://localhost:8705",
		ExpiresAt:    noon.Add(10 * time.Minute),
	}, a.failing(ctx)
}

func (a apps) Allow(ctx context.Context, _ credential.Actor, request string) (string, error) {
	return a.redirect, a.called(ctx, "Allow "+request)
}

func (a apps) Deny(ctx context.Context, _ credential.Actor, request string) (string, error) {
	return a.redirect, a.called(ctx, "Deny "+request)
}

func (a apps) Grants(
	ctx context.Context, by credential.Actor, p cursor.Page,
) ([]oauth.Grant, string, error) {
	if a.empty {
		return nil, "", nil
	}
	g, err := a.Allowed(ctx, by, grantID)
	own := g
	own.Client, own.Name = oauth.CLI, "Vitrine command line"
	next, wrong := a.turn(p)
	return []oauth.Grant{g, own}, next, cmp.Or(err, wrong)
}

func (a apps) Allowed(ctx context.Context, _ credential.Actor, public id.Public) (oauth.Grant, error) {
	if public != grantID {
		return oauth.Grant{}, fault.New(fault.NotFound, "no such app")
	}
	g := oauth.Grant{
		Public:    grantID,
		Client:    cmp.Or(a.app, "oc_x"),
		Name:      a.client,
		Audience:  "http://localhost:8705",
		CreatedAt: noon,
		ExpiresAt: noon.Add(limits.MaxRefreshLife),
		Scopes:    []credential.Scope{credential.Publish, credential.Read},
	}
	return g, a.failing(ctx)
}

func (a apps) EndGrant(ctx context.Context, _ credential.Actor, public id.Public) error {
	return a.called(ctx, "EndGrant "+string(public))
}

type devices struct{ *house }

func (d devices) Device(ctx context.Context, _ credential.Actor, code string) (oauth.Device, error) {
	if err := d.called(ctx, "Device "+code); err != nil {
		return oauth.Device{}, err
	}
	if code != userCode {
		return oauth.Device{}, fault.New(fault.NotFound, "no device")
	}
	return oauth.Device{
		Client:    oauth.Client{ID: oauth.CLI, Name: "Vitrine command line", FirstParty: true},
		Name:      d.device,
		Network:   "203.0.113.0/24",
		CreatedAt: noon,
		ExpiresAt: noon.Add(limits.DeviceLife),
	}, nil
}

func (d devices) ApproveDevice(ctx context.Context, _ credential.Actor, code string) error {
	return d.called(ctx, "ApproveDevice "+code)
}

func (d devices) DenyDevice(ctx context.Context, _ credential.Actor, code string) error {
	return d.called(ctx, "DenyDevice "+code)
}
