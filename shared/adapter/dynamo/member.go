package dynamo

import (
	"context"
	"errors"
	"strings"
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
	text(f, "listed", &m.Listed)
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
	f, err := s.items(ctx, append(s.judged(w), memberKey(w, m))...)
	return readMember(f.at(memberKey(w, m)), w, m), s.readJudged(f, w), err
}

// ByIdentity implements member.Store.
func (s Members) ByIdentity(ctx context.Context, issuer, subject string) (*member.Member, *workspace.Workspace, error) {
	i, err := s.get(ctx, identityKey(issuer, subject))
	if err != nil || i == nil {
		return nil, nil, err
	}
	judging := *s.db
	judging.judges = true
	m, w, err := Members{&judging}.Member(ctx, id.Workspace(i.getStr("ws")), id.Member(i.getStr("mem")))
	if err == nil && (m == nil || w == nil) {
		err = errors.New("a known identity has no member or no workspace")
	}
	return m, w, err
}

// ByAddress implements member.Store.
func (s Members) ByAddress(ctx context.Context, a member.Address) (all []member.Addressee, err error) {
	i, err := s.get(ctx, addressKey(a))
	for _, name := range i.getSet("members") {
		w, m, _ := strings.Cut(name, "#")
		all = append(all, member.Addressee{Workspace: id.Workspace(w), Member: id.Member(m)})
	}
	return all, err
}

// addressees encodes members for the item of an address.
func addressees(all ...member.Addressee) []string {
	out := make([]string, len(all))
	for n, a := range all {
		out[n] = string(a.Workspace) + "#" + string(a.Member)
	}
	return out
}

// listAddress adds a member to an address, on condition that the address has exactly the others.
func (t *transaction) listAddress(m member.Member, others []member.Addressee, r refusal) {
	v := values{"me": addressees(member.Addressee{Workspace: m.Workspace, Member: m.ID})}
	condition := "attribute_not_exists(#members)"
	if len(others) > 0 {
		condition, v["others"] = "#members = :others", addressees(others...)
	}
	t.update(addressKey(m.Listed), "ADD #members :me", condition, v, r)
}

// moveAddress lists a member under its new address, and no longer under was.
func (t *transaction) moveAddress(m member.Member, was member.Address) {
	v := values{"me": addressees(member.Addressee{Workspace: m.Workspace, Member: m.ID})}
	t.update(addressKey(m.Listed), "ADD #members :me", "", v, nil)
	if was != "" {
		t.update(addressKey(was), "DELETE #members :me", "", v, nil)
	}
}

// Add implements member.Store.
func (s Members) Add(ctx context.Context, a member.NewMember) error {
	t := s.begin()
	t.addMember(a, func(item) error { return member.ErrKnown })
	return s.commit(ctx, t)
}

// addMember adds a member with identity, address, workspace and event.
func (t *transaction) addMember(a member.NewMember, known refusal) {
	if !a.Member.ProviderMade() { // no person signs in as a member that a provider made
		t.putIdentity(a.Member, known)
	}
	if a.Member.Listed != "" {
		t.listAddress(a.Member, a.Others, known)
	}
	t.create(workspaceItem(a.Workspace))
	t.create(memberItem(a.Member))
	t.setSignIn(a.Member, workspace.SignIn{Email: a.Member.Email, Operator: a.Operator})
	t.create(liveKeysItem(a.Workspace.ID, a.Workspace.CreatedAt))
	t.record(a.Event)
}

// putIdentity assigns the member to its identity, on condition that the identity has none.
func (t *transaction) putIdentity(m member.Member, known refusal) {
	t.put(newItem(identityKey(m.Issuer, m.Subject)).
		str("ws", string(m.Workspace)).str("mem", string(m.ID)).time("created", m.CreatedAt),
		"attribute_not_exists(#pk)", nil, known)
}

const (
	touchMember = "SET #email = :email, #seen = :now"
	touchable   = "attribute_exists(#pk) AND (#seen < :since OR (#email <> :email AND #seen <= :now))"
)

// Touch implements member.Store with one write, or with a transaction if the member's address changed.
func (s Members) Touch(ctx context.Context, m member.Member, since time.Time) error {
	v := values{"email": m.Email, "now": m.SeenAt, "since": since}
	address := member.AddressOf(m.Email)
	if m.Listed == address {
		_, _, err := s.change(ctx, memberKey(m.Workspace, m.ID), touchMember, touchable, v)
		return err
	}
	t := s.begin()
	was := m.Listed
	m.Listed = address
	condition := touchable + " AND attribute_not_exists(#listed)"
	if was != "" {
		condition, v["was"] = touchable+" AND #listed = :was", string(was)
	}
	v["listed"] = string(address)
	t.update(memberKey(m.Workspace, m.ID), touchMember+", #listed = :listed", condition, v,
		func(item) error { return errTouched })
	t.moveAddress(m, was)
	if err := s.commit(ctx, t); !errors.Is(err, errTouched) {
		return err
	}
	return nil
}

// errTouched means that another request recorded the member's last use or address meanwhile.
var errTouched = errors.New("the member was touched meanwhile")

// SignOut implements session.Members. It ends all API keys of the member with one attribute of the workspace, which
// every use of a key reads. That is exact because a workspace has one member.
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
