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

func (s agents) Preview(ctx context.Context, _ credential.Actor, token string) (agentauth.Request, error) {
	if err := s.called(ctx, "Look "+token); err != nil {
		return agentauth.Request{}, err
	}
	if s.over != nil {
		return agentauth.Request{}, s.over
	}
	var vouched agentauth.Vouched
	if s.vouched {
		d := linkedDelegation(s.client, s.email)
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
) ([]agentauth.Registration, string, error) {
	if s.empty {
		return nil, "", nil
	}
	one, err := s.Connection(ctx, by, agentID)
	next, wrong := s.turn(p)
	return []agentauth.Registration{one}, next, cmp.Or(err, wrong)
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
func (s *house) turn(p cursor.Page) (string, error) {
	if p.Cursor == "gone" {
		return "", fault.New(fault.InvalidCursor, "not here")
	}
	if !s.more {
		return "", nil
	}
	return "next+cursor", nil
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
	client := cmp.Or(s.app, "oc_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9")
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
) ([]oauth.Grant, string, error) {
	if s.empty {
		return nil, "", nil
	}
	g, err := s.Allowed(ctx, by, grantID)
	own := g
	own.Client, own.Name = oauth.CLI, "Vitrine command line"
	next, wrong := s.turn(p)
	return []oauth.Grant{g, own}, next, cmp.Or(err, wrong)
}

func (s apps) Allowed(ctx context.Context, _ credential.Actor, public id.Public) (oauth.Grant, error) {
	if public != grantID {
		return oauth.Grant{}, fault.New(fault.NotFound, "no such app")
	}
	g := oauth.Grant{
		Public:    grantID,
		Client:    cmp.Or(s.app, "oc_x"),
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
