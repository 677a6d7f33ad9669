package dynamo

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Grants stores OAuth grants and their tokens.
type Grants struct{ *db }

var _ oauth.GrantStore = Grants{}

// Grant implements oauth.GrantStore.
func (s Grants) Grant(ctx context.Context, public id.Public) (*oauth.Grant, error) {
	i, err := s.get(ctx, grantKey(public))
	return readGrant(i, public), err
}

// grantItem returns a grant with all its tokens. A grant that can be refreshed is listed under its workspace until it
// is revoked. The others are not listed, because they soon end by themselves.
func grantItem(g oauth.Grant) item {
	i := encode(grantKey(g.Public), &g, grantFields).ttl(g.ExpiresAt.Add(limits.Day))
	if g.RevokedAt.IsZero() && len(g.Refresh.MAC) > 0 {
		i.str("g1p", grantsOf(g.Workspace)).str("g1s", grantSort(g))
	}
	return i
}

func grantFields(f fields, g *oauth.Grant) {
	text(f, "client", &g.Client)
	text(f, "name", &g.Name)
	f.member(&g.Member, &g.Workspace, &g.Epoch)
	text(f, "aud", &g.Audience)
	words(f, "scopes", &g.Scopes)
	integer(f, "chain", &g.ChainKeyID)
	f.signIns(&g.Operator, &g.AuthenticatedAt)
	f.life(&g.CreatedAt, &g.ExpiresAt)
	f.time("rev_at", &g.RevokedAt)
	f.tokens("tokens", &g.Access)
	f.hash("rt_mac", "rt_pepper", &g.Refresh)
	f.hash("old_mac", "old_pepper", &g.Previous)
	integer(f, "turns", &g.Generation)
	f.time("rotated", &g.RotatedAt)
	f.time("idle", &g.IdleAt)
}

func readGrant(i item, public id.Public) *oauth.Grant {
	return decode(i, &oauth.Grant{Public: public}, grantFields)
}

// An access token is packed as its pepper, its end in milliseconds and its MAC.
const (
	macLen   = 32
	tokenLen = 1 + 8 + macLen
)

func packTokens(tokens []oauth.AccessToken) []byte {
	out := make([]byte, 0, len(tokens)*tokenLen)
	for _, t := range tokens {
		out = append(out, t.Hash.Pepper)
		out = binary.BigEndian.AppendUint64(out, uint64(t.ExpiresAt.UnixMilli()))
		out = append(out, t.Hash.MAC...)
	}
	return out
}

func unpackTokens(b []byte) (out []oauth.AccessToken) {
	for ; len(b) >= tokenLen; b = b[tokenLen:] {
		out = append(out, oauth.AccessToken{
			Hash:      credential.Hash{Pepper: b[0], MAC: b[9:tokenLen:tokenLen]},
			ExpiresAt: time.UnixMilli(int64(binary.BigEndian.Uint64(b[1:9]))).UTC(),
		})
	}
	return out
}

func grantGone(item) error { return oauth.ErrGone }

// Add implements oauth.GrantStore.
func (s Grants) Add(ctx context.Context, g oauth.Grant, p oauth.Proof, e event.Event) error {
	t := s.begin()
	t.putHot(item{}.str("pk", proofKey(p)).ttl(p.Until.Add(counterLife)),
		"attribute_not_exists(#pk)", nil, grantGone)
	t.create(grantItem(g))
	t.record(e)
	return s.commit(ctx, t)
}

// Rotate implements oauth.GrantStore with one write.
func (s Grants) Rotate(ctx context.Context, g oauth.Grant, was credential.Hash) (*oauth.Grant, error) {
	set := "SET #tokens = :tokens, #rt_mac = :mac, #rt_pepper = :pepper, #old_mac = :old, #old_pepper = :oldpepper, " +
		"#turns = :turns, #rotated = :rotated, #idle = :idle, #chain = :chain"
	condition := "#rt_mac = :old AND attribute_not_exists(#rev_at)"
	old, done, err := s.change(ctx, grantKey(g.Public), set, condition, values{
		"tokens":    packTokens(g.Access),
		"mac":       g.Refresh.MAC,
		"pepper":    int(g.Refresh.Pepper),
		"old":       was.MAC,
		"oldpepper": int(was.Pepper),
		"turns":     g.Generation,
		"rotated":   g.RotatedAt,
		"idle":      g.IdleAt,
		"chain":     int(g.ChainKeyID),
	})
	switch {
	case err != nil || done:
		return nil, err
	case old == nil:
		return &oauth.Grant{Public: g.Public, RevokedAt: g.RotatedAt}, nil
	}
	return readGrant(old, g.Public), nil
}

// Revoke implements oauth.GrantStore. It first assumes that no API key belongs to the grant, which is true for most. If
// that is wrong, the refusal tells the keys, and Revoke tries again with them. Comparing their number is enough,
// because a grant only gains keys, up to limits.LoginKeys.
func (s Grants) Revoke(ctx context.Context, public id.Public, at time.Time, e event.Event) error {
	var keys []string
	for {
		known := len(keys)
		err := s.tryRevoke(ctx, public, &keys, at, e)
		switch {
		case errors.Is(err, oauth.ErrGone):
			return nil
		case errors.Is(err, errMoreKeys) && len(keys) > known:
			continue
		}
		return err
	}
}

// errMoreKeys means that more API keys belong to a grant than the caller knew.
var errMoreKeys = errors.New("the grant has other API keys")

// tryRevoke ends a grant with its API keys, if keys lists them all. Otherwise it stores them in keys.
func (s Grants) tryRevoke(ctx context.Context, public id.Public, keys *[]string, at time.Time, e event.Event) error {
	t := s.begin()
	v := values{"now": at}
	condition := "attribute_exists(#pk) AND attribute_not_exists(#rev_at) AND attribute_not_exists(#api_keys)"
	if n := len(*keys); n > 0 {
		condition = "attribute_exists(#pk) AND attribute_not_exists(#rev_at) AND size(#api_keys) = :known"
		v["known"] = n
	}
	t.update(grantKey(public), "SET #rev_at = :now REMOVE #g1p, #g1s", condition, v, func(old item) error {
		if old == nil || !old.getTime("rev_at").IsZero() {
			return oauth.ErrGone
		}
		*keys = old.getSet("api_keys")
		return errMoreKeys
	})
	for _, k := range *keys {
		t.update(apiKeyKey(id.Public(k)),
			"SET #rev_at = if_not_exists(#rev_at, :now), #g1p = :list, #ttl = if_not_exists(#ttl, :ttl)", "",
			values{"now": at, "list": revokedKeysOf(e.Workspace), "ttl": keyTTL(at).Unix()}, nil)
	}
	if len(*keys) > 0 {
		t.uncountKeys(e.Workspace, *keys...)
	}
	t.record(e)
	return s.commit(ctx, t)
}

// List implements oauth.GrantStore. The index names the grants; their state is read from the table.
func (s Grants) List(
	ctx context.Context, m id.Member, q cursor.Query[oauth.Grant],
) ([]oauth.Grant, string, error) {
	mine := grantsOfMember(m)
	after := cmp.Or(q.After, mine+afterText)
	parts := []partition{{listIndex, grantsOf(q.Workspace), after}}
	read := func(i item) *oauth.Grant { return readGrant(i, partitionID[id.Public](i.key())) }
	return pageOf(ctx, s.db, parts, q.Limit, func(ctx context.Context, found []item) (map[string]oauth.Grant, error) {
		rows, err := tableRows(ctx, s.db, found, read)
		maps.DeleteFunc(rows, func(place string, g oauth.Grant) bool {
			return !strings.HasPrefix(place, mine) || !q.Live(g)
		})
		return rows, err
	})
}
