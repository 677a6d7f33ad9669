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
	return encode(sessionKey(b.Hash), &b, sessionFields).ttl(b.CreatedAt.Add(limits.MaxSessionLife+time.Minute)).
		str("g1p", sessionsOf(b.Workspace, b.Member)).str("g1s", timeKey(b.CreatedAt, b.Hash.Name()))
}

func sessionFields(f fields, s *session.Session) {
	f.member(&s.Member, &s.Workspace, &s.Epoch)
	f.time("created", &s.CreatedAt)
	f.time("seen", &s.SeenAt)
	text(f, "browser", &s.Browser)
	text(f, "net", &s.Network)
	f.signIns(&s.Operator, &s.AuthenticatedAt)
}

func readSession(i item, h session.Hash) *session.Session {
	return decode(i, &session.Session{Hash: h}, sessionFields)
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
	_, _, err := s.change(ctx, sessionKey(h), "SET #seen = :now", "attribute_exists(#pk) AND #seen < :since",
		values{"now": now, "since": since})
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

// List implements session.Store. The index names the sessions; the table tells which still exist.
func (s Sessions) List(ctx context.Context, w id.Workspace, m id.Member, most int) ([]session.Session, error) {
	parts := []partition{{index: listIndex, name: sessionsOf(w, m)}}
	rows, _, err := pageOf(ctx, s.db, parts, most, func(ctx context.Context, found []item) (map[string]session.Session, error) {
		return tableRows(ctx, s.db, found, func(i item) *session.Session { return readSession(i, hashIn(i.key())) })
	})
	return rows, err
}
