package dynamo

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// Devices stores device flows.
type Devices struct{ *db }

var (
	_ oauth.Flows     = Devices{}
	_ oauth.PollStore = Devices{}
)

func flowItem(f oauth.Flow) item {
	return newItem(deviceKey(f.Public)).
		bin("mac", f.Hash.MAC).num("pepper", int64(f.Hash.Pepper)).str("client", string(f.Client)).str("device", f.Device).str("net", f.Network).
		str("scopes", joinScopes(f.Scopes)).str("status", string(f.Answer)).time("created", f.CreatedAt).time("exp", f.ExpiresAt).
		num("polls", int64(f.PollTokens)).time("polled", f.PolledAt).ttl(ttlAfter(f.ExpiresAt))
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

// Add implements oauth.Flows.
func (s Devices) Add(ctx context.Context, f oauth.Flow, mac []byte) error {
	t := s.begin()
	t.create(flowItem(f))
	t.create(newItem(userCodeKey(mac)).str("flow", string(f.Public)).ttl(ttlAfter(f.ExpiresAt)))
	return s.commit(ctx, t)
}

// FlowByUserCode implements oauth.Flows.
func (s Devices) FlowByUserCode(ctx context.Context, macs [][]byte) (*oauth.Flow, error) {
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
func (s Devices) Flow(ctx context.Context, public id.Public) (*oauth.Flow, error) {
	i, err := s.get(ctx, deviceKey(public))
	return readFlow(i, public), err
}

// Answer implements oauth.Flows.
func (s Devices) Answer(ctx context.Context, f oauth.Flow, e event.Event) error {
	t := s.begin()
	t.update(deviceKey(f.Public), "SET #status = :answer, #mem = :member, #ws = :ws, #epoch = :epoch, #settled = :now",
		"#status = :pending AND #exp > :now",
		values{
			"answer": string(f.Answer), "member": string(f.Member), "ws": string(f.Workspace), "epoch": f.Epoch, "now": f.SettledAt,
			"pending": string(oauth.Pending),
		}, grantGone)
	t.record(e)
	return s.commit(ctx, t)
}

// RecordPoll implements oauth.Polls with one write.
func (s Devices) RecordPoll(ctx context.Context, f, was oauth.Flow) (bool, error) {
	_, alone, err := s.change(ctx, deviceKey(f.Public), "SET #polls = :polls, #polled = :at",
		"#polls = :had AND #polled = :before AND #status = :pending",
		values{"polls": f.PollTokens, "at": f.PolledAt, "had": was.PollTokens, "before": was.PolledAt, "pending": string(oauth.Pending)})
	return alone, err
}

// Redeem implements oauth.Polls.
func (s Devices) Redeem(ctx context.Context, f oauth.Flow, g oauth.Grant) error {
	t := s.begin()
	t.update(deviceKey(f.Public), "SET #status = :redeemed", "#status = :approved",
		values{"redeemed": string(oauth.Redeemed), "approved": string(oauth.Approved)}, grantGone)
	t.create(grantItem(g))
	return s.commit(ctx, t)
}
