package dynamo

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

func ended(item) error { return oauth.ErrGone }

// AddGrant implements oauth.GrantStore.
func (s *Store) AddGrant(ctx context.Context, g oauth.Grant, p oauth.Proof, e event.Event) error {
	var t transaction
	t.put(s.tables.Hot, item{}.str("pk", proofKey(p)).ttl(p.Until.Add(limits.CounterLife)), "attribute_not_exists(#pk)", nil, ended)
	t.create(s.tables.Core, grantItem(g))
	t.create(s.tables.Events, eventItem(e))
	return s.commit(ctx, &t)
}

// Rotate implements oauth.GrantStore with one write.
func (s *Store) Rotate(ctx context.Context, g oauth.Grant, was credential.Hash) (*oauth.Grant, error) {
	set := "SET #tokens = :tokens, #rt_mac = :mac, #rt_pepper = :pepper, #old_mac = :old, #old_pepper = :oldpepper, " +
		"#turns = :turns, #rotated = :rotated, #idle = :idle, #chain = :chain"
	condition := "#rt_mac = :old AND attribute_not_exists(#rev_at)"
	old, done, err := s.change(ctx, grantKey(g.Public), set, condition, values{
		"tokens": packIssued(g.Access), "mac": g.Refresh.MAC, "pepper": int(g.Refresh.Pepper), "old": was.MAC, "oldpepper": int(was.Pepper),
		"turns": g.Generation, "rotated": g.RotatedAt, "idle": g.IdleAt, "chain": int(g.ChainKeyID),
	})
	switch {
	case err != nil || done:
		return nil, err
	case old == nil:
		return &oauth.Grant{Public: g.Public, RevokedAt: g.RotatedAt}, nil
	}
	return readGrant(old, g.Public), nil
}

// RevokeGrant implements oauth.GrantStore. It begins as if no API key belonged to the grant, which is so for most, and
// learns the keys from the refusal; a grant only gains keys, at most limits.LoginKeys, so that their number tells them apart.
func (s *Store) RevokeGrant(ctx context.Context, public id.Public, at time.Time, e event.Event) error {
	var keys []string
	for {
		known := len(keys)
		err := s.revoke(ctx, public, &keys, at, e)
		switch {
		case errors.Is(err, oauth.ErrGone):
			return nil
		case errors.Is(err, errMoreKeys) && len(keys) > known:
			continue
		}
		return err
	}
}

// errMoreKeys says that more API keys belong to a grant than were known.
var errMoreKeys = errors.New("the grant has other API keys")

// revoke ends a grant with its API keys if these are all; else it tells which they are.
func (s *Store) revoke(ctx context.Context, public id.Public, keys *[]string, at time.Time, e event.Event) error {
	var t transaction
	condition, v := "attribute_exists(#pk) AND attribute_not_exists(#rev_at) AND attribute_not_exists(#api_keys)", values{"now": at}
	if n := len(*keys); n > 0 {
		condition = "attribute_exists(#pk) AND attribute_not_exists(#rev_at) AND size(#api_keys) = :known"
		v["known"] = n
	}
	t.update(s.tables.Core, grantKey(public), "SET #rev_at = :now REMOVE #g1p, #g1s", condition, v, func(old item) error {
		if old == nil || !old.getTime("rev_at").IsZero() {
			return oauth.ErrGone
		}
		*keys = old.getSet("api_keys")
		return errMoreKeys
	})
	for _, k := range *keys {
		t.update(s.tables.Core, credentialKey(id.Public(k)),
			"SET #rev_at = if_not_exists(#rev_at, :now), #g1p = :list, #ttl = if_not_exists(#ttl, :ttl)", "",
			values{"now": at, "list": revokedKeysOf(e.Workspace), "ttl": leavesList(at).Unix()}, nil)
	}
	if len(*keys) > 0 {
		s.uncountKeys(&t, e.Workspace, *keys...)
	}
	t.create(s.tables.Events, eventItem(e))
	return s.commit(ctx, &t)
}

// GrantsOf implements oauth.GrantStore. The index names them, and the table tells what they are now.
func (s *Store) GrantsOf(ctx context.Context, q oauth.GrantQuery) ([]oauth.Grant, string, error) {
	mine := grantsOfMember(q.Member)
	after := cmp.Or(q.After, mine+afterText)
	parts := []partition{{listIndex, grantsOf(q.Workspace), after}}
	read := func(i item) *oauth.Grant { return readGrant(i, named[id.Public](i.key())) }
	return pageOf(ctx, s, parts, q.Limit, func(ctx context.Context, found []item) (map[string]oauth.Grant, error) {
		rows, err := tableRows(ctx, s, found, read)
		maps.DeleteFunc(rows, func(place string, g oauth.Grant) bool {
			return !strings.HasPrefix(place, mine) || !q.Live(g)
		})
		return rows, err
	})
}

// Failures implements rate.Tries.
func (s *Store) Failures(ctx context.Context, w rate.Window) (int, error) {
	i, err := s.get(ctx, s.tables.Hot, key{pk: rateKey(w)}, true)
	return int(i.getNum("c")), err
}

// Client implements oauth.Clients.
func (s *Store) Client(ctx context.Context, c id.Client) (*oauth.Client, error) {
	i, err := s.get(ctx, s.tables.Core, clientKey(c), true)
	if err != nil || i == nil {
		return nil, err
	}
	return &oauth.Client{
		ID:        c,
		Name:      i.getStr("name"),
		Redirects: strings.Fields(i.getStr("uris")),
		CreatedAt: i.getTime("created"),
		UsedAt:    i.getTime("used_at"),
	}, nil
}

// AddClient implements oauth.Clients.
func (s *Store) AddClient(ctx context.Context, c oauth.Client, until time.Time) error {
	var t transaction
	t.create(s.tables.Core, newItem(clientKey(c.ID)).
		str("name", c.Name).str("uris", strings.Join(c.Redirects, " ")).time("created", c.CreatedAt).time("used_at", c.UsedAt).ttl(until))
	return s.commit(ctx, &t)
}

// TouchClient implements oauth.Clients.
func (s *Store) TouchClient(ctx context.Context, c id.Client, now, since, until time.Time) error {
	_, _, err := s.change(ctx, clientKey(c), "SET #used_at = :now, #ttl = :ttl", "attribute_exists(#pk) AND (attribute_not_exists(#used_at) OR #used_at < :since)",
		values{"now": now, "since": since, "ttl": until.Unix()})
	return err
}

// leave is when an item that ended at an instant may leave the table; what was used twice is recognised until then.
func leave(end time.Time) time.Time { return end.Add(limits.Day) }
