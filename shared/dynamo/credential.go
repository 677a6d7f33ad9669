package dynamo

import (
	"context"
	"errors"
	"strings"
	"time"

	"vitrine/shared/credential"
	"vitrine/shared/event"
	"vitrine/shared/id"
)

// keyItem has the time of its login as pub_at, which lists show.
func keyItem(k credential.Key) item {
	return newItem(credentialKey(k.Public)).
		str("id", string(k.ID)).str("ws", string(k.Workspace)).bin("mac", k.Hash.MAC).num("pepper", int64(k.Hash.Pepper)).
		str("name", k.Name).str("scopes", joinScopes(k.Scopes)).num("epoch", k.Epoch).flag("agent", k.FromAgent).
		str("reg", string(k.Registration)).str("mem", string(k.Member)).str("grant", string(k.Login.Grant)).time("pub_at", k.Login.At).
		time("created", k.CreatedAt).time("exp", k.ExpiresAt).time("rev_at", k.RevokedAt).time("used_at", k.LastUsedAt).
		str("g1p", keysOf(k.Workspace)).str("g1s", stamped(k.CreatedAt, k.ID))
}

func readKey(i item, public id.Public) *credential.Key {
	if i == nil {
		return nil
	}
	return &credential.Key{
		ID: id.Key(i.getStr("id")), Public: public, Workspace: id.Workspace(i.getStr("ws")),
		Hash: credential.Hash{Pepper: byte(i.getNum("pepper")), MAC: i.getBin("mac")}, Name: i.getStr("name"),
		Scopes: splitScopes(i.getStr("scopes")), Epoch: i.getNum("epoch"), FromAgent: i.getFlag("agent"),
		Registration: id.Registration(i.getStr("reg")), Member: id.Member(i.getStr("mem")),
		Login:     credential.Login{Grant: id.Public(i.getStr("grant")), At: i.getTime("pub_at")},
		CreatedAt: i.getTime("created"), ExpiresAt: i.getTime("exp"), RevokedAt: i.getTime("rev_at"), LastUsedAt: i.getTime("used_at"),
	}
}

func joinScopes(scopes []credential.Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}

func splitScopes(s string) (out []credential.Scope) {
	for _, w := range strings.Fields(s) {
		out = append(out, credential.Scope(w))
	}
	return out
}

// Touch implements access.Store.
func (s *Store) Touch(ctx context.Context, k credential.Key, now, since time.Time) error {
	_, _, err := s.change(ctx, credentialKey(k.Public), "SET #used_at = :now",
		"attribute_exists(#pk) AND (attribute_not_exists(#used_at) OR #used_at < :since)", values{"now": now, "since": since})
	return err
}

// RevokeKey implements credential.Revocations.
func (s *Store) RevokeKey(ctx context.Context, k credential.Key, at time.Time, e event.Event) (time.Time, error) {
	at = millis(at)
	var first time.Time
	var t transaction
	t.update(s.tables.Core, credentialKey(k.Public), "SET #rev_at = :now", "attribute_exists(#pk) AND attribute_not_exists(#rev_at)",
		values{"now": at}, func(old item) error {
			first = old.getTime("rev_at")
			return errRevoked
		})
	t.create(s.tables.Events, eventItem(e))
	err := s.commit(ctx, &t)
	if errors.Is(err, errRevoked) {
		return first, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return at, nil
}

// errRevoked ends a revocation that found the key revoked.
var errRevoked = errors.New("the key is revoked already")
