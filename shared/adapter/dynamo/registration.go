package dynamo

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Registrations stores the registrations of agents.
type Registrations struct{ *db }

var _ agentauth.Store = Registrations{}

// registrationItem is listed under the workspace that it was claimed into until it is revoked. Move writes the claim.
func registrationItem(r agentauth.Registration) item {
	i := newItem(registrationKey(r.ID)).
		str("kind", string(r.Kind)).str("state", string(r.State)).num("gen", r.Generation).num("ver", r.Version).
		str("ws", string(r.Workspace)).str("member", string(r.Member)).str("claim", string(r.Claim)).
		time("created", r.CreatedAt).time("exp", r.ExpiresAt).str("network", r.Network).
		num("attempt", int64(r.Attempt.Number)).num("tries", int64(r.Attempt.Failures)).time("attempt_exp", r.Attempt.ExpiresAt).
		bin("attempt_mac", r.Attempt.Token.MAC).num("attempt_pepper", int64(r.Attempt.Token.Pepper)).
		bin("code_mac", r.Attempt.Code.MAC).num("code_pepper", int64(r.Attempt.Code.Pepper)).
		num("starts", int64(r.Starts)).num("wrong", int64(r.Wrong)).flag("locked", r.Locked).flag("refused", r.Refused).
		time("completed_at", r.CompletedAt).num("redeemed", int64(r.Redeemed)).str("redeemed_key", string(r.RedeemedKey)).
		num("polls", int64(r.PollTokens)).time("polled_at", r.PolledAt).
		time("started_at", r.Started.Since).num("started", int64(r.Started.Count)).
		time("exchanged_at", r.Exchanged.Since).num("exchanged", int64(r.Exchanged.Count)).
		str("keys", joinPublics(r.Keys)).ttl(r.ExpiresAt.Add(limits.MovedLife))
	if r.State == agentauth.Verified {
		i.str("g1p", registrationsOf(r.Workspace)).str("g1s", timeKey(r.CompletedAt, r.ID))
	}
	return i
}

// registrationFields are the attributes of a registration that Change writes; the others stay as they were made.
var registrationFields = []string{
	"state", "gen", "ws", "member", "attempt", "tries", "attempt_exp", "attempt_mac", "attempt_pepper", "code_mac", "code_pepper", "starts", "wrong",
	"locked", "refused", "completed_at", "redeemed", "redeemed_key", "polls", "polled_at", "started_at", "started", "exchanged_at", "exchanged",
	"keys", "g1p", "g1s",
}

func readRegistration(i item, r id.Registration) *agentauth.Registration {
	if i == nil {
		return nil
	}
	hash := func(mac, pepper string) credential.Hash {
		return credential.Hash{Pepper: byte(i.getNum(pepper)), MAC: i.getBin(mac)}
	}
	window := func(since, count string) agentauth.Window {
		return agentauth.Window{Since: i.getTime(since), Count: int(i.getNum(count))}
	}
	return &agentauth.Registration{
		ID:         r,
		Kind:       agentauth.Kind(i.getStr("kind")),
		State:      agentauth.State(i.getStr("state")),
		Generation: i.getNum("gen"),
		Version:    i.getNum("ver"),
		Workspace:  id.Workspace(i.getStr("ws")),
		Member:     id.Member(i.getStr("member")),
		Claim:      id.Public(i.getStr("claim")),
		CreatedAt:  i.getTime("created"),
		ExpiresAt:  i.getTime("exp"),
		Network:    i.getStr("network"),
		Attempt: agentauth.Attempt{
			Number:    int(i.getNum("attempt")),
			Failures:  int(i.getNum("tries")),
			ExpiresAt: i.getTime("attempt_exp"),
			Token:     hash("attempt_mac", "attempt_pepper"),
			Code:      hash("code_mac", "code_pepper"),
		},
		Starts:      int(i.getNum("starts")),
		Started:     window("started_at", "started"),
		Wrong:       int(i.getNum("wrong")),
		Locked:      i.getFlag("locked"),
		Refused:     i.getFlag("refused"),
		CompletedAt: i.getTime("completed_at"),
		Redeemed:    int(i.getNum("redeemed")),
		RedeemedKey: id.Public(i.getStr("redeemed_key")),
		PollTokens:  int(i.getNum("polls")),
		PolledAt:    i.getTime("polled_at"),
		Exchanged:   window("exchanged_at", "exchanged"),
		Keys:        splitPublics(i.getStr("keys")),
	}
}

func joinPublics(all []id.Public) string {
	words := make([]string, len(all))
	for n, p := range all {
		words[n] = string(p)
	}
	return strings.Join(words, " ")
}

func splitPublics(s string) (out []id.Public) {
	for _, w := range strings.Fields(s) {
		out = append(out, id.Public(w))
	}
	return out
}

// Add implements agentauth.Store.
func (s Registrations) Add(ctx context.Context, e agentauth.NewRegistration) error {
	t := s.begin()
	t.create(workspaceItem(e.Workspace))
	t.create(registrationItem(e.Registration))
	t.create(claimTokenItem(e.Token))
	t.record(e.Event)
	return s.commit(ctx, t)
}

// Registration implements agentauth.Store.
func (s Registrations) Registration(ctx context.Context, r id.Registration, w id.Workspace) (*agentauth.Registration, *workspace.Workspace, error) {
	b := batch{strong: true}
	b.want(registrationKey(r))
	b.want(workspaceKey(w))
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return readRegistration(f.at(registrationKey(r)), r), readWorkspace(f.at(workspaceKey(w)), w), nil
}

// ByClaimToken implements agentauth.Store.
func (s Registrations) ByClaimToken(ctx context.Context, claimToken id.Public) (*claim.Token, *agentauth.Registration, error) {
	r := id.RegistrationOf(claimToken)
	b := batch{strong: true}
	b.want(claimTokenKey(claimToken))
	b.want(registrationKey(r))
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return readClaimToken(f.at(claimTokenKey(claimToken)), claimToken), readRegistration(f.at(registrationKey(r)), r), nil
}

// Change implements agentauth.Store: one update, or one transaction if something goes with it.
func (s Registrations) Change(ctx context.Context, c agentauth.Change) error {
	u := s.updateOf(c)
	if c.Key == nil && len(c.Ends) == 0 && len(c.Events) == 0 {
		return s.update(ctx, u)
	}
	t := s.begin()
	t.add(types.TransactWriteItem{Update: u}, func(item) error { return agentauth.ErrMoved })
	if c.Key != nil {
		t.create(apiKeyItem(*c.Key).ttl(agentKeyTTL(c.Key.ExpiresAt)))
	}
	for _, p := range c.Ends {
		s.revokeToken(t, p, c.At)
	}
	for _, e := range c.Events {
		t.record(e)
	}
	return s.commit(ctx, t)
}

// agentKeyTTL is when an access token of an agent that expired at an instant may go: nobody has to see it for long.
func agentKeyTTL(expired time.Time) time.Time { return expired.Add(limits.Day) }

// revokeToken revokes an access token of an agent. One that is revoked keeps its first stamp; one that is gone already leaves
// only a stamp, which goes too.
func (s Registrations) revokeToken(t *transaction, p id.Public, at time.Time) {
	t.update(apiKeyKey(p), "SET #rev_at = if_not_exists(#rev_at, :now), #ttl = if_not_exists(#ttl, :ttl)", "",
		values{"now": at, "ttl": agentKeyTTL(at).Unix()}, nil)
}

// updateOf is the conditional update of a registration. Every change raises ver, so that nothing is written over.
func (s Registrations) updateOf(c agentauth.Change) *types.Update {
	to := registrationItem(c.To)
	v := values{"was_gen": c.Was.Generation, "was_ver": c.Was.Version, "one": 1}.attributes()
	var set, remove []string
	for _, name := range registrationFields {
		if value, ok := to[name]; ok {
			set = append(set, "#"+name+" = :"+name)
			v[":"+name] = value
		} else {
			remove = append(remove, "#"+name)
		}
	}
	expression := "SET " + strings.Join(set, ", ") + " ADD #ver :one"
	if len(remove) > 0 {
		expression += " REMOVE " + strings.Join(remove, ", ")
	}
	condition := "#gen = :was_gen AND #ver = :was_ver"
	return &types.Update{
		TableName:                 &s.tables.Core,
		Key:                       registrationKey(c.Was.ID).attributes(),
		UpdateExpression:          &expression,
		ConditionExpression:       &condition,
		ExpressionAttributeNames:  names(expression, condition),
		ExpressionAttributeValues: v,
	}
}

// update runs one conditional update by itself. Meeting a transaction counts as a lost race.
func (s *db) update(ctx context.Context, u *types.Update) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 u.TableName,
		Key:                       u.Key,
		UpdateExpression:          u.UpdateExpression,
		ConditionExpression:       u.ConditionExpression,
		ExpressionAttributeNames:  u.ExpressionAttributeNames,
		ExpressionAttributeValues: u.ExpressionAttributeValues,
	})
	var met *types.TransactionConflictException
	if _, failed := conditionFailed(err); failed || errors.As(err, &met) {
		return agentauth.ErrMoved
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// List implements agentauth.Store. The index tells which there are, the table what they are.
func (s Registrations) List(ctx context.Context, q agentauth.Query) ([]agentauth.Registration, string, error) {
	parts := []partition{{listIndex, registrationsOf(q.Workspace), q.After}}
	read := func(i item) *agentauth.Registration { return readRegistration(i, named[id.Registration](i.key())) }
	return pageOf(ctx, s.db, parts, q.Limit, func(ctx context.Context, found []item) (map[string]agentauth.Registration, error) {
		rows, err := tableRows(ctx, s.db, found, read)
		maps.DeleteFunc(rows, func(_ string, r agentauth.Registration) bool { return !q.Live(r) })
		return rows, err
	})
}
