package dynamo

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// AddRequest implements oauth.Requests.
func (s *Store) AddRequest(ctx context.Context, r oauth.Request) error {
	var t transaction
	t.create(s.tables.Core, newItem(consentKey(r.Secret)).
		str("client", string(r.Client.ID)).str("name", r.Client.Name).flag("ours", r.Client.FirstParty).str("uri", r.Redirect).str("state", r.State).
		str("pkce", r.Challenge).str("scopes", joinScopes(r.Scopes)).str("aud", r.Audience).flag("loopback", r.Loopback).
		time("created", r.CreatedAt).time("exp", r.ExpiresAt).ttl(leave(r.ExpiresAt)))
	return s.commit(ctx, &t)
}

// Request implements oauth.Requests.
func (s *Store) Request(ctx context.Context, secret string) (*oauth.Request, error) {
	i, err := s.get(ctx, s.tables.Core, consentKey(secret), true)
	if err != nil || i == nil {
		return nil, err
	}
	return &oauth.Request{
		Secret:    secret,
		Client:    oauth.Client{ID: id.Client(i.getStr("client")), Name: i.getStr("name"), FirstParty: i.getFlag("ours")},
		Redirect:  i.getStr("uri"),
		State:     i.getStr("state"),
		Challenge: i.getStr("pkce"),
		Scopes:    splitScopes(i.getStr("scopes")),
		Audience:  i.getStr("aud"),
		Loopback:  i.getFlag("loopback"),
		CreatedAt: i.getTime("created"),
		ExpiresAt: i.getTime("exp"),
	}, nil
}

// GrantConsent implements oauth.Requests.
func (s *Store) GrantConsent(ctx context.Context, r oauth.Request, c oauth.Code, e event.Event) error {
	var t transaction
	t.remove(s.tables.Core, consentKey(r.Secret), "attribute_exists(#pk)", nil, ended)
	t.create(s.tables.Core, newItem(codeKey(c.Public)).
		bin("mac", c.Hash.MAC).num("pepper", int64(c.Hash.Pepper)).str("client", string(c.Client)).str("name", c.Name).str("uri", c.Redirect).
		str("pkce", c.Challenge).str("scopes", joinScopes(c.Scopes)).str("aud", c.Audience).str("mem", string(c.Member)).str("ws", string(c.Workspace)).
		num("epoch", c.Epoch).time("op_at", c.Operator).time("created", c.CreatedAt).time("exp", c.ExpiresAt).ttl(leave(c.ExpiresAt)))
	t.create(s.tables.Events, eventItem(e))
	return s.commit(ctx, &t)
}

// DropRequest implements oauth.Requests.
func (s *Store) DropRequest(ctx context.Context, r oauth.Request) error {
	var t transaction
	t.remove(s.tables.Core, consentKey(r.Secret), "attribute_exists(#pk)", nil, ended)
	return s.commit(ctx, &t)
}

// Code implements oauth.Codes.
func (s *Store) Code(ctx context.Context, public id.Public) (*oauth.Code, error) {
	i, err := s.get(ctx, s.tables.Core, codeKey(public), true)
	if err != nil || i == nil {
		return nil, err
	}
	return &oauth.Code{
		Public:    public,
		Hash:      credential.Hash{Pepper: byte(i.getNum("pepper")), MAC: i.getBin("mac")},
		Client:    id.Client(i.getStr("client")),
		Name:      i.getStr("name"),
		Redirect:  i.getStr("uri"),
		Challenge: i.getStr("pkce"),
		Scopes:    splitScopes(i.getStr("scopes")),
		Audience:  i.getStr("aud"),
		Member:    id.Member(i.getStr("mem")),
		Workspace: id.Workspace(i.getStr("ws")),
		Epoch:     i.getNum("epoch"),
		Operator:  i.getTime("op_at"),
		CreatedAt: i.getTime("created"),
		ExpiresAt: i.getTime("exp"),
		Grant:     id.Public(i.getStr("became")),
	}, nil
}

// RedeemCode implements oauth.Codes.
func (s *Store) RedeemCode(ctx context.Context, c oauth.Code, g oauth.Grant) (made id.Public, err error) {
	var t transaction
	t.update(s.tables.Core, codeKey(c.Public), "SET #became = :grant", "attribute_exists(#pk) AND attribute_not_exists(#became)",
		values{"grant": string(g.Public)}, func(old item) error {
			made = id.Public(old.getStr("became"))
			return oauth.ErrGone
		})
	t.create(s.tables.Core, grantItem(g))
	if err := s.commit(ctx, &t); err != nil {
		return made, err
	}
	return g.Public, nil
}

func flowItem(f oauth.Flow) item {
	return newItem(deviceKey(f.Public)).
		bin("mac", f.Hash.MAC).num("pepper", int64(f.Hash.Pepper)).str("client", string(f.Client)).str("device", f.Device).str("net", f.Network).
		str("scopes", joinScopes(f.Scopes)).str("status", string(f.Answer)).time("created", f.CreatedAt).time("exp", f.ExpiresAt).
		num("polls", int64(f.PollTokens)).time("polled", f.PolledAt).ttl(leave(f.ExpiresAt))
}

func readFlow(i item, public id.Public) *oauth.Flow {
	if i == nil {
		return nil
	}
	return &oauth.Flow{
		Public:     public,
		Hash:       credential.Hash{Pepper: byte(i.getNum("pepper")), MAC: i.getBin("mac")},
		Client:     id.Client(i.getStr("client")),
		Device:     i.getStr("device"),
		Network:    i.getStr("net"),
		Scopes:     splitScopes(i.getStr("scopes")),
		Answer:     oauth.Answer(i.getStr("status")),
		CreatedAt:  i.getTime("created"),
		ExpiresAt:  i.getTime("exp"),
		Member:     id.Member(i.getStr("mem")),
		Workspace:  id.Workspace(i.getStr("ws")),
		Epoch:      i.getNum("epoch"),
		SettledAt:  i.getTime("settled"),
		PollTokens: int(i.getNum("polls")),
		PolledAt:   i.getTime("polled"),
	}
}

// AddFlow implements oauth.Flows.
func (s *Store) AddFlow(ctx context.Context, f oauth.Flow, mac []byte) error {
	var t transaction
	t.create(s.tables.Core, flowItem(f))
	t.create(s.tables.Core, newItem(userCodeKey(mac)).str("flow", string(f.Public)).ttl(leave(f.ExpiresAt)))
	return s.commit(ctx, &t)
}

// FlowOf implements oauth.Flows.
func (s *Store) FlowOf(ctx context.Context, macs [][]byte) (*oauth.Flow, error) {
	b := batch{strong: true}
	for _, mac := range macs {
		b.want(userCodeKey(mac))
	}
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, mac := range macs {
		if i := f.at(userCodeKey(mac)); i != nil {
			return s.Flow(ctx, id.Public(i.getStr("flow")))
		}
	}
	return nil, nil
}

// Flow implements oauth.Polls.
func (s *Store) Flow(ctx context.Context, public id.Public) (*oauth.Flow, error) {
	i, err := s.get(ctx, s.tables.Core, deviceKey(public), true)
	return readFlow(i, public), err
}

// AnswerDevice implements oauth.Flows.
func (s *Store) AnswerDevice(ctx context.Context, f oauth.Flow, e event.Event) error {
	var t transaction
	t.update(s.tables.Core, deviceKey(f.Public), "SET #status = :answer, #mem = :member, #ws = :ws, #epoch = :epoch, #settled = :now",
		"#status = :pending AND #exp > :now",
		values{
			"answer": string(f.Answer), "member": string(f.Member), "ws": string(f.Workspace), "epoch": f.Epoch, "now": f.SettledAt,
			"pending": string(oauth.Pending),
		}, ended)
	t.create(s.tables.Events, eventItem(e))
	return s.commit(ctx, &t)
}

// RecordPoll implements oauth.Polls with one write.
func (s *Store) RecordPoll(ctx context.Context, f, was oauth.Flow) (bool, error) {
	_, alone, err := s.change(ctx, deviceKey(f.Public), "SET #polls = :polls, #polled = :at",
		"#polls = :had AND #polled = :before AND #status = :pending",
		values{"polls": f.PollTokens, "at": f.PolledAt, "had": was.PollTokens, "before": was.PolledAt, "pending": string(oauth.Pending)})
	return alone, err
}

// RedeemFlow implements oauth.Polls.
func (s *Store) RedeemFlow(ctx context.Context, f oauth.Flow, g oauth.Grant) error {
	var t transaction
	t.update(s.tables.Core, deviceKey(f.Public), "SET #status = :redeemed", "#status = :approved",
		values{"redeemed": string(oauth.Redeemed), "approved": string(oauth.Approved)}, ended)
	t.create(s.tables.Core, grantItem(g))
	return s.commit(ctx, &t)
}
