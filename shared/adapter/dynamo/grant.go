package dynamo

import (
	"context"
	"encoding/binary"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// grantItem is a grant with all its tokens. One that can be refreshed is listed under its workspace until it is revoked;
// the others end by themselves soon.
func grantItem(g oauth.Grant) item {
	i := newItem(grantKey(g.Public)).
		str("client", string(g.Client)).str("name", g.Name).str("mem", string(g.Member)).str("ws", string(g.Workspace)).
		str("aud", g.Audience).str("scopes", joinScopes(g.Scopes)).num("epoch", g.Epoch).num("chain", int64(g.ChainKeyID)).time("op_at", g.Operator).
		time("created", g.CreatedAt).time("exp", g.ExpiresAt).time("rev_at", g.RevokedAt).
		bin("tokens", packIssued(g.Access)).bin("rt_mac", g.Refresh.MAC).num("rt_pepper", int64(g.Refresh.Pepper)).
		bin("old_mac", g.Previous.MAC).num("old_pepper", int64(g.Previous.Pepper)).num("turns", int64(g.Generation)).time("rotated", g.RotatedAt).time("idle", g.IdleAt).
		ttl(g.ExpiresAt.Add(limits.Day))
	if g.RevokedAt.IsZero() && len(g.Refresh.MAC) > 0 {
		i.str("g1p", grantsOf(g.Workspace)).str("g1s", grantSort(g))
	}
	return i
}

func readGrant(i item, public id.Public) *oauth.Grant {
	if i == nil {
		return nil
	}
	return &oauth.Grant{
		Public:     public,
		Client:     id.Client(i.getStr("client")),
		Name:       i.getStr("name"),
		Member:     id.Member(i.getStr("mem")),
		Workspace:  id.Workspace(i.getStr("ws")),
		Audience:   i.getStr("aud"),
		Scopes:     splitScopes(i.getStr("scopes")),
		Epoch:      i.getNum("epoch"),
		ChainKeyID: byte(i.getNum("chain")),
		Operator:   i.getTime("op_at"),
		CreatedAt:  i.getTime("created"),
		ExpiresAt:  i.getTime("exp"),
		RevokedAt:  i.getTime("rev_at"),
		Access:     unpackIssued(i.getBin("tokens")),
		Refresh:    credential.Hash{Pepper: byte(i.getNum("rt_pepper")), MAC: i.getBin("rt_mac")},
		Previous:   credential.Hash{Pepper: byte(i.getNum("old_pepper")), MAC: i.getBin("old_mac")},
		Generation: int(i.getNum("turns")),
		RotatedAt:  i.getTime("rotated"),
		IdleAt:     i.getTime("idle"),
	}
}

// One access token is packed as its pepper, its end in milliseconds and its MAC.
const (
	macLen    = 32
	issuedLen = 1 + 8 + macLen
)

func packIssued(tokens []oauth.AccessToken) []byte {
	out := make([]byte, 0, len(tokens)*issuedLen)
	for _, t := range tokens {
		out = append(out, t.Hash.Pepper)
		out = binary.BigEndian.AppendUint64(out, uint64(t.ExpiresAt.UnixMilli()))
		out = append(out, t.Hash.MAC...)
	}
	return out
}

func unpackIssued(b []byte) (out []oauth.AccessToken) {
	for ; len(b) >= issuedLen; b = b[issuedLen:] {
		out = append(out, oauth.AccessToken{
			Hash:      credential.Hash{Pepper: b[0], MAC: b[9:issuedLen:issuedLen]},
			ExpiresAt: time.UnixMilli(int64(binary.BigEndian.Uint64(b[1:9]))).UTC(),
		})
	}
	return out
}

// Grant implements oauth.GrantStore.
func (s *Store) Grant(ctx context.Context, public id.Public) (*oauth.Grant, error) {
	i, err := s.get(ctx, s.tables.Core, grantKey(public), true)
	return readGrant(i, public), err
}
