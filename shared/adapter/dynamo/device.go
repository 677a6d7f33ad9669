package dynamo

import (
	"context"

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
	return encode(deviceKey(f.Public), &f, flowFields).ttl(ttlAfter(f.ExpiresAt))
}

func flowFields(f fields, d *oauth.Flow) {
	f.hash("mac", "pepper", &d.Hash)
	text(f, "client", &d.Client)
	text(f, "device", &d.Device)
	text(f, "net", &d.Network)
	words(f, "scopes", &d.Scopes)
	text(f, "status", &d.Answer)
	f.life(&d.CreatedAt, &d.ExpiresAt)
	f.member(&d.Member, &d.Workspace, &d.Epoch)
	f.time("settled", &d.SettledAt)
	integer(f, "polls", &d.PollTokens)
	f.time("polled", &d.PolledAt)
}

func readFlow(i item, public id.Public) *oauth.Flow {
	return decode(i, &oauth.Flow{Public: public}, flowFields)
}

// Add implements oauth.Flows.
func (s Devices) Add(ctx context.Context, f oauth.Flow, mac []byte) error {
	t := s.begin()
	t.create(flowItem(f))
	code := newItem(userCodeKey(mac)).str("flow", string(f.Public)).ttl(ttlAfter(f.ExpiresAt))
	t.put(code, "attribute_not_exists(#pk)", nil, func(item) error { return oauth.ErrCodeTaken })
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

// Flow implements oauth.PollStore.
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
			"answer":  string(f.Answer),
			"member":  string(f.Member),
			"ws":      string(f.Workspace),
			"epoch":   f.Epoch,
			"now":     f.SettledAt,
			"pending": string(oauth.Pending),
		}, grantGone)
	t.record(e)
	return s.commit(ctx, t)
}

// RecordPoll implements oauth.PollStore with one write.
func (s Devices) RecordPoll(ctx context.Context, f, was oauth.Flow) (bool, error) {
	_, alone, err := s.change(ctx, deviceKey(f.Public), "SET #polls = :polls, #polled = :at",
		"#polls = :had AND #polled = :before AND #status = :pending",
		values{
			"polls":   f.PollTokens,
			"at":      f.PolledAt,
			"had":     was.PollTokens,
			"before":  was.PolledAt,
			"pending": string(oauth.Pending),
		})
	return alone, err
}

// Redeem implements oauth.PollStore.
func (s Devices) Redeem(ctx context.Context, f oauth.Flow, g oauth.Grant) error {
	t := s.begin()
	t.update(deviceKey(f.Public), "SET #status = :redeemed", "#status = :approved",
		values{"redeemed": string(oauth.Redeemed), "approved": string(oauth.Approved)}, grantGone)
	t.create(grantItem(g))
	return s.commit(ctx, t)
}
