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

func browserItem(b session.Session) item {
	return newItem(browserKey(b.Hash)).
		str("mem", string(b.Member)).str("ws", string(b.Workspace)).num("epoch", b.Epoch).str("browser", b.Browser).str("net", b.Network).time("op_at", b.Operator).
		time("created", b.CreatedAt).time("seen", b.SeenAt).ttl(b.CreatedAt.Add(limits.SessionMost + time.Minute))
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
func (s Sessions) StartBrowser(ctx context.Context, b session.Session, e event.Event) error {
	var t transaction
	t.create(s.tables.Core, browserItem(b))
	t.create(s.tables.Events, eventItem(e))
	return s.commit(ctx, &t)
}

// Browser implements session.Store.
func (s Sessions) Browser(ctx context.Context, h session.Hash) (*session.Session, error) {
	i, err := s.get(ctx, s.tables.Core, browserKey(h), true)
	return readBrowser(i, h), err
}

// TouchBrowser implements session.Store.
func (s Sessions) TouchBrowser(ctx context.Context, h session.Hash, now, since time.Time) error {
	_, _, err := s.change(ctx, browserKey(h), "SET #seen = :now", "attribute_exists(#pk) AND #seen < :since", values{"now": now, "since": since})
	return err
}

// EndBrowser implements session.Store.
func (s Sessions) EndBrowser(ctx context.Context, h session.Hash, e event.Event) error {
	var t transaction
	t.remove(s.tables.Core, browserKey(h), "attribute_exists(#pk)", nil, func(item) error { return errRevoked })
	t.create(s.tables.Events, eventItem(e))
	err := s.commit(ctx, &t)
	if errors.Is(err, errRevoked) {
		return nil
	}
	return err
}
