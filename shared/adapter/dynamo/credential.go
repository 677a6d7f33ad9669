package dynamo

import (
	"context"
	"errors"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// keyItem has the time of its login as pub_at, which lists show.
func keyItem(k credential.Key) item {
	return newItem(credentialKey(k.Public)).
		str("id", string(k.ID)).str("ws", string(k.Workspace)).bin("mac", k.Hash.MAC).num("pepper", int64(k.Hash.Pepper)).
		str("name", k.Name).str("scopes", joinScopes(k.Scopes)).num("epoch", k.Epoch).flag("agent", k.FromAgent).
		str("reg", string(k.Registration)).str("mem", string(k.Member)).str("grant", string(k.CLIGrant.Grant)).time("pub_at", k.CLIGrant.At).
		time("created", k.CreatedAt).time("exp", k.ExpiresAt).time("rev_at", k.RevokedAt).time("used_at", k.LastUsedAt).
		str("g1p", keysOf(k.Workspace)).str("g1s", stamped(k.CreatedAt, k.ID))
}

func readKey(i item, public id.Public) *credential.Key {
	if i == nil {
		return nil
	}
	return &credential.Key{
		ID:           id.Key(i.getStr("id")),
		Public:       public,
		Workspace:    id.Workspace(i.getStr("ws")),
		Hash:         credential.Hash{Pepper: byte(i.getNum("pepper")), MAC: i.getBin("mac")},
		Name:         i.getStr("name"),
		Scopes:       splitScopes(i.getStr("scopes")),
		Epoch:        i.getNum("epoch"),
		FromAgent:    i.getFlag("agent"),
		Registration: id.Registration(i.getStr("reg")),
		Member:       id.Member(i.getStr("mem")),
		CLIGrant:     credential.CLIGrant{Grant: id.Public(i.getStr("grant")), At: i.getTime("pub_at")},
		CreatedAt:    i.getTime("created"),
		ExpiresAt:    i.getTime("exp"),
		RevokedAt:    i.getTime("rev_at"),
		LastUsedAt:   i.getTime("used_at"),
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

// entrust holds a transaction to a login that has not ended, and names the key in its grant, which ends it.
func (s *Store) entrust(t *transaction, k credential.Key) {
	t.update(s.tables.Core, grantKey(k.CLIGrant.Grant), "ADD #api_keys :key",
		"attribute_exists(#pk) AND attribute_not_exists(#rev_at) AND (attribute_not_exists(#api_keys) OR size(#api_keys) < :most)",
		values{"key": []string{string(k.Public)}, "most": limits.LoginKeys}, func(grant item) error {
			if grant == nil || !grant.getTime("rev_at").IsZero() {
				return fault.New(fault.NotAuthenticated, "this login has ended; sign in again")
			}
			return fault.New(fault.Forbidden, "this login has made %d API keys; sign in again, or make them in the dashboard", limits.LoginKeys)
		})
}

// APIKey implements credential.Keys.
func (s *Store) APIKey(ctx context.Context, public id.Public) (*credential.Key, error) {
	i, err := s.get(ctx, s.tables.Core, credentialKey(public), true)
	return readKey(i, public), err
}

// EndKey implements credential.Keys. It checks no fence: a key may always be ended.
func (s *Store) EndKey(ctx context.Context, e credential.Ending) (time.Time, error) {
	var t transaction
	s.finish(&t, e.Command, e.Result, e.At)
	return s.endKey(ctx, &t, e.Key, e.At, e.Event)
}

// endKey commits the end of a key with its event. The key leaves the list of live ones for that of revoked ones, and
// makes room for another.
func (s *Store) endKey(
	ctx context.Context, t *transaction, k credential.Key, at time.Time, e event.Event,
) (time.Time, error) {
	at = millis(at)
	var first time.Time
	v := values{
		"now":  at,
		"list": revokedKeysOf(k.Workspace),
		"ttl":  leavesList(at).Unix(),
		"id":   string(k.ID),
	}
	t.update(s.tables.Core, credentialKey(k.Public), "SET #rev_at = :now, #g1p = :list, #ttl = if_not_exists(#ttl, :ttl)",
		"#id = :id AND attribute_not_exists(#rev_at)", v, func(old item) error {
			first = old.getTime("rev_at")
			return errRevoked
		})
	if k.Counts() {
		s.uncountKeys(t, k.Workspace, string(k.Public))
	}
	t.create(s.tables.Events, eventItem(e))
	return s.commitOnce(ctx, t, &first, at)
}

// Touch implements access.Store.
func (s *Store) Touch(ctx context.Context, k credential.Key, now, since time.Time) error {
	_, _, err := s.change(ctx, credentialKey(k.Public), "SET #used_at = :now",
		"attribute_exists(#pk) AND (attribute_not_exists(#used_at) OR #used_at < :since)", values{"now": now, "since": since})
	return err
}

// RevokeKey implements credential.Revocations.
func (s *Store) RevokeKey(ctx context.Context, k credential.Key, at time.Time, e event.Event) (time.Time, error) {
	return s.endKey(ctx, new(transaction), k, at, e)
}

// errRevoked stops what ends a key, a session, a link or logins and finds it ended.
var errRevoked = errors.New("ended already")

// commitOnce commits what ends something at an instant, and returns when it ended: earlier, where t found errRevoked and
// noted the first time.
func (s *Store) commitOnce(ctx context.Context, t *transaction, first *time.Time, at time.Time) (time.Time, error) {
	err := s.commit(ctx, t)
	if errors.Is(err, errRevoked) {
		return *first, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return at, nil
}
