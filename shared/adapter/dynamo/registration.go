package dynamo

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Registrations stores the registrations of agents.
type Registrations struct{ *db }

var _ agentauth.Store = Registrations{}

// registrationItem returns a registration. It is listed under the workspace that claimed it until it is revoked.
// Claims.Move writes the claim.
func registrationItem(r agentauth.Registration) item {
	i := encode(registrationKey(r.ID), &r, registrationFields).ttl(r.ExpiresAt.Add(limits.MovedLife))
	if r.State == agentauth.Verified && r.Kind != agentauth.Provider { // of the others, lists show the delegation
		i.str("g1p", registrationsOf(r.Workspace)).str("g1s", timeKey(r.CompletedAt, r.ID))
	}
	return i
}

func registrationFields(f fields, r *agentauth.Registration) {
	registrationOrigin(f, r)
	registrationState(f, r)
}

// registrationOrigin names the attributes that never change, and the version, which every change raises.
func registrationOrigin(f fields, r *agentauth.Registration) {
	text(f, "kind", &r.Kind)
	integer(f, "ver", &r.Version)
	text(f, "claim", &r.Claim)
	f.time("created", &r.CreatedAt)
	text(f, "network", &r.Network)
	f.principal(&r.Vouched.Principal)
	text(f, "name", &r.Vouched.Provider)
	text(f, "email", &r.Vouched.Email)
	words(f, "scopes", &r.Vouched.Scopes)
}

// registrationState names the attributes that Change writes.
func registrationState(f fields, r *agentauth.Registration) {
	text(f, "state", &r.State)
	integer(f, "gen", &r.Generation)
	text(f, "ws", &r.Workspace)
	text(f, "member", &r.Member)
	integer(f, "attempt", &r.Attempt.Number)
	integer(f, "tries", &r.Attempt.Failures)
	f.time("attempt_exp", &r.Attempt.ExpiresAt)
	f.hash("attempt_mac", "attempt_pepper", &r.Attempt.Token)
	f.hash("code_mac", "code_pepper", &r.Attempt.Code)
	integer(f, "starts", &r.Starts)
	f.time("started_at", &r.Started.Since)
	integer(f, "started", &r.Started.Count)
	integer(f, "wrong", &r.Wrong)
	f.flag("locked", &r.Locked)
	f.flag("refused", &r.Refused)
	f.time("completed_at", &r.CompletedAt)
	integer(f, "redeemed", &r.Redeemed)
	text(f, "redeemed_key", &r.RedeemedKey)
	integer(f, "polls", &r.PollTokens)
	f.time("polled_at", &r.PolledAt)
	f.time("exchanged_at", &r.Exchanged.Since)
	integer(f, "exchanged", &r.Exchanged.Count)
	words(f, "keys", &r.Keys)
	f.time("exp", &r.ExpiresAt)
	integer(f, "link", &r.Link)
}

// changedNames lists the names of the attributes that Change writes.
var changedNames = func() []string {
	names := []string{"g1p", "g1s"}
	registrationState(fields{names: &names}, new(agentauth.Registration))
	return names
}()

func readRegistration(i item, r id.Registration) *agentauth.Registration {
	return decode(i, &agentauth.Registration{ID: r}, registrationFields)
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
func (s Registrations) Registration(
	ctx context.Context, r id.Registration, w id.Workspace,
) (*agentauth.Registration, *workspace.Workspace, error) {
	f, err := s.items(ctx, append(s.judged(w), registrationKey(r))...)
	return readRegistration(f.at(registrationKey(r)), r), s.readJudged(f, w), err
}

// ByClaimToken implements agentauth.Store.
func (s Registrations) ByClaimToken(
	ctx context.Context, claimToken id.Public,
) (*claim.Token, *agentauth.Registration, error) {
	r := id.RegistrationOf(claimToken)
	f, err := s.items(ctx, claimTokenKey(claimToken), registrationKey(r))
	return readClaimToken(f.at(claimTokenKey(claimToken)), claimToken), readRegistration(f.at(registrationKey(r)), r), err
}

// Change implements agentauth.Store with one update, or with one transaction if there are keys or events.
func (s Registrations) Change(ctx context.Context, c agentauth.Change) error {
	u := s.updateOf(c)
	if c.Key == nil && c.Link == nil && len(c.Ends) == 0 && len(c.Events) == 0 {
		return s.update(ctx, u)
	}
	moved := func(item) error { return agentauth.ErrMoved }
	t := s.begin()
	t.add(types.TransactWriteItem{Update: u}, moved)
	switch {
	case c.Link != nil:
		t.putDelegation(c.Link.Was, c.Link.To, moved)
		t.checkFence(c.Link.To.Workspace)
	case c.Key != nil && c.To.Kind == agentauth.Provider:
		t.checkDelegation(c.To.Vouched.Principal.ID(), c.To.Link, moved)
	}
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

// agentKeyTTL returns when an agent's access token that expired at an instant may be deleted. No list shows it.
func agentKeyTTL(expired time.Time) time.Time { return expired.Add(limits.Day) }

// revokeToken revokes an access token of an agent. A token that was revoked before keeps its first time. For a token
// that is already deleted, it leaves an item with the time only, which expires too.
func (s Registrations) revokeToken(t *transaction, p id.Public, at time.Time) {
	t.update(apiKeyKey(p), "SET #rev_at = if_not_exists(#rev_at, :now), #ttl = if_not_exists(#ttl, :ttl)", "",
		values{"now": at, "ttl": agentKeyTTL(at).Unix()}, nil)
}

// updateOf returns the conditional update of a registration. Every change raises ver, so that no concurrent change is
// overwritten.
func (s Registrations) updateOf(c agentauth.Change) *types.Update {
	to := registrationItem(c.To)
	v := values{"was_gen": c.Was.Generation, "was_ver": c.Was.Version, "one": 1}.attributes()
	var set, remove []string
	for _, name := range changedNames {
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

// update makes one conditional update outside a transaction. A conflict with a transaction counts as a lost race.
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

// List implements agentauth.Store. The index names the registrations; their state is read from the table.
func (s Registrations) List(
	ctx context.Context, q cursor.Query[agentauth.Registration],
) ([]agentauth.Registration, string, error) {
	read := func(i item) *agentauth.Registration {
		return readRegistration(i, partitionID[id.Registration](i.key()))
	}
	return liveRows(ctx, s.db, registrationsOf(q.Workspace), q, read)
}
