package dynamo

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// Members stores members and the identities by which they sign in.
type Members struct{ *db }

var (
	_ member.Store    = Members{}
	_ oauth.Members   = Members{}
	_ session.Members = Members{}
)

func memberItem(m member.Member) item {
	return encode(memberKey(m.Workspace, m.ID), &m, memberFields)
}

func memberFields(f fields, m *member.Member) {
	text(f, "iss", &m.Issuer)
	text(f, "sub", &m.Subject)
	text(f, "email", &m.Email)
	words(f, "scopes", &m.Scopes)
	f.time("created", &m.CreatedAt)
	f.time("seen", &m.SeenAt)
	f.time("out_at", &m.SignedOutAt)
}

func readMember(i item, w id.Workspace, m id.Member) *member.Member {
	return decode(i, &member.Member{ID: m, Workspace: w}, memberFields)
}

// Member implements session.Members and oauth.Members, in one strongly consistent batch.
func (s Members) Member(
	ctx context.Context, w id.Workspace, m id.Member,
) (*member.Member, *workspace.Workspace, error) {
	f, err := s.items(ctx, memberKey(w, m), workspaceKey(w))
	return readMember(f.at(memberKey(w, m)), w, m), readWorkspace(f.at(workspaceKey(w)), w), err
}

// ByIdentity implements member.Store.
func (s Members) ByIdentity(ctx context.Context, issuer, subject string) (*member.Member, *workspace.Workspace, error) {
	i, err := s.get(ctx, identityKey(issuer, subject))
	if err != nil || i == nil {
		return nil, nil, err
	}
	m, w, err := s.Member(ctx, id.Workspace(i.getStr("ws")), id.Member(i.getStr("mem")))
	if err == nil && (m == nil || w == nil) {
		err = errors.New("a known identity has no member or no workspace")
	}
	return m, w, err
}

// Add implements member.Store.
func (s Members) Add(ctx context.Context, a member.NewMember) error {
	t := s.begin()
	t.put(newItem(identityKey(a.Member.Issuer, a.Member.Subject)).
		str("ws", string(a.Workspace.ID)).str("mem", string(a.Member.ID)).time("created", a.Member.CreatedAt),
		"attribute_not_exists(#pk)", nil, func(item) error { return member.ErrKnown })
	t.create(workspaceItem(a.Workspace))
	t.create(memberItem(a.Member))
	t.create(liveKeysItem(a.Workspace.ID, a.Workspace.CreatedAt))
	t.record(a.Event)
	return s.commit(ctx, t)
}

// Touch implements member.Store.
func (s Members) Touch(ctx context.Context, m member.Member, since time.Time) error {
	_, _, err := s.change(ctx, memberKey(m.Workspace, m.ID), "SET #email = :email, #seen = :now",
		"attribute_exists(#pk) AND (#seen < :since OR (#email <> :email AND #seen <= :now))",
		values{"email": m.Email, "now": m.SeenAt, "since": since})
	return err
}

// SignOut implements session.Members. It ends the API keys of the member in the metadata of the workspace, which every
// use of a key reads, however many there are: a workspace has one member.
func (s Members) SignOut(ctx context.Context, w id.Workspace, m id.Member, at time.Time, e event.Event) error {
	t := s.begin()
	t.update(memberKey(w, m), "SET #out_at = :now",
		"attribute_exists(#pk) AND (attribute_not_exists(#out_at) OR #out_at < :now)",
		values{"now": millis(at)}, func(old item) error {
			if old == nil {
				return errors.New("a member who is signed in does not exist")
			}
			return errRevoked
		})
	t.update(workspaceKey(w), "SET #logins_out = :now, #keys_out = :now", "attribute_exists(#pk)",
		values{"now": millis(at)}, func(item) error {
			return errors.New("the workspace of a member does not exist")
		})
	t.record(e)
	err := s.commit(ctx, t)
	if errors.Is(err, errRevoked) {
		return nil
	}
	return err
}
