package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func browserItem(b session.Session) item {
	return newItem(browserKey(b.Hash)).
		str("mem", string(b.Member)).str("ws", string(b.Workspace)).num("epoch", b.Epoch).str("browser", b.Browser).str("net", b.Network).time("op_at", b.Operator).
		time("created", b.CreatedAt).time("seen", b.SeenAt).ttl(b.CreatedAt.Add(limits.MaxSessionLife + time.Minute))
}

func readBrowser(i item, h session.Hash) *session.Session {
	if i == nil {
		return nil
	}
	return &session.Session{
		Hash:      h,
		Member:    id.Member(i.getStr("mem")),
		Workspace: id.Workspace(i.getStr("ws")),
		Epoch:     i.getNum("epoch"),
		CreatedAt: i.getTime("created"),
		SeenAt:    i.getTime("seen"),
		Browser:   i.getStr("browser"),
		Network:   i.getStr("net"),
		Operator:  i.getTime("op_at"),
	}
}

// StartBrowser implements session.Store.
func (s *Store) StartBrowser(ctx context.Context, b session.Session, e event.Event) error {
	var t transaction
	t.create(s.tables.Core, browserItem(b))
	t.create(s.tables.Events, eventItem(e))
	return s.commit(ctx, &t)
}

// Browser implements session.Store.
func (s *Store) Browser(ctx context.Context, h session.Hash) (*session.Session, error) {
	i, err := s.get(ctx, s.tables.Core, browserKey(h), true)
	return readBrowser(i, h), err
}

// TouchBrowser implements session.Store.
func (s *Store) TouchBrowser(ctx context.Context, h session.Hash, now, since time.Time) error {
	_, _, err := s.change(ctx, browserKey(h), "SET #seen = :now", "attribute_exists(#pk) AND #seen < :since", values{"now": now, "since": since})
	return err
}

// EndBrowser implements session.Store.
func (s *Store) EndBrowser(ctx context.Context, h session.Hash, e event.Event) error {
	var t transaction
	t.remove(s.tables.Core, browserKey(h), "attribute_exists(#pk)", nil, func(item) error { return errRevoked })
	t.create(s.tables.Events, eventItem(e))
	err := s.commit(ctx, &t)
	if errors.Is(err, errRevoked) {
		return nil
	}
	return err
}

// AddSignIn implements signin.Store.
func (s *Store) AddSignIn(ctx context.Context, a signin.Attempt) error {
	var t transaction
	t.create(s.tables.Core, newItem(signInKey(a.State)).
		bin("browser", a.Browser[:]).str("to", a.ReturnTo).time("exp", a.ExpiresAt).ttl(a.ExpiresAt.Add(time.Minute)))
	return s.commit(ctx, &t)
}

// TakeSignIn implements signin.Store.
func (s *Store) TakeSignIn(ctx context.Context, state string, browser signin.Hash, now time.Time) (*signin.Attempt, error) {
	condition := "attribute_exists(#pk) AND #browser = :browser AND #exp > :now"
	out, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &s.tables.Core,
		Key:                       signInKey(state).attributes(),
		ConditionExpression:       &condition,
		ReturnValues:              types.ReturnValueAllOld,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"browser": browser[:], "now": now}.attributes(),
	})
	if _, failed := conditionFailed(err); failed {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	old := item(out.Attributes)
	return &signin.Attempt{
		State:     state,
		Browser:   browser,
		ReturnTo:  old.getStr("to"),
		ExpiresAt: old.getTime("exp"),
	}, nil
}
