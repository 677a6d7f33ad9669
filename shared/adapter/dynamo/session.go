package dynamo

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/session"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Sessions stores browser sessions.
type Sessions struct{ *db }

var _ session.Store = Sessions{}

func sessionItem(b session.Session) item {
	return newItem(sessionKey(b.Hash)).
		str("mem", string(b.Member)).str("ws", string(b.Workspace)).num("epoch", b.Epoch).str("browser", b.Browser).str("net", b.Network).time("op_at", b.Operator).
		time("created", b.CreatedAt).time("seen", b.SeenAt).ttl(b.CreatedAt.Add(limits.SessionMost + time.Minute))
}

func readSession(i item, h session.Hash) *session.Session {
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

// Add implements session.Store.
func (s Sessions) Add(ctx context.Context, b session.Session, e event.Event) error {
	t := s.begin()
	t.create(sessionItem(b))
	t.record(e)
	return s.commit(ctx, t)
}

// Session implements session.Store.
func (s Sessions) Session(ctx context.Context, h session.Hash) (*session.Session, error) {
	i, err := s.get(ctx, sessionKey(h))
	return readSession(i, h), err
}

// Touch implements session.Store.
func (s Sessions) Touch(ctx context.Context, h session.Hash, now, since time.Time) error {
	_, _, err := s.change(ctx, sessionKey(h), "SET #seen = :now", "attribute_exists(#pk) AND #seen < :since", values{"now": now, "since": since})
	return err
}

// End implements session.Store.
func (s Sessions) End(ctx context.Context, h session.Hash, e event.Event) error {
	t := s.begin()
	t.remove(sessionKey(h), "attribute_exists(#pk)", nil, func(item) error { return errRevoked })
	t.record(e)
	err := s.commit(ctx, t)
	if errors.Is(err, errRevoked) {
		return nil
	}
	return err
}
