package dynamo

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/credential"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/limits"
)

// CreateKey implements credential.Keys.
func (s *Store) CreateKey(ctx context.Context, c credential.Creation) error {
	var t transaction
	s.finish(&t, c.Command, c.Result, c.Key.CreatedAt)
	s.checkFence(&t, c.Key.Workspace)
	if c.Key.Login.Grant != "" {
		s.entrust(&t, c.Key)
	}
	t.create(s.tables.Core, keyItem(c.Key))
	t.create(s.tables.Events, eventItem(c.Event))
	return s.commit(ctx, &t)
}

// entrust holds a transaction to a login that has not ended, and names the key in its grant, which ends it.
func (s *Store) entrust(t *transaction, k credential.Key) {
	t.update(s.tables.Core, grantKey(k.Login.Grant), "ADD #api_keys :key",
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
	at := millis(e.At)
	var first time.Time
	var t transaction
	s.finish(&t, e.Command, e.Result, e.At)
	t.update(s.tables.Core, credentialKey(e.Key.Public), "SET #rev_at = :now", "#id = :id AND attribute_not_exists(#rev_at)",
		values{"now": at, "id": string(e.Key.ID)}, func(old item) error {
			first = old.getTime("rev_at")
			return errRevoked
		})
	t.create(s.tables.Events, eventItem(e.Event))
	err := s.commit(ctx, &t)
	if errors.Is(err, errRevoked) {
		return first, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return at, nil
}

// APIKeys implements credential.Keys.
func (s *Store) APIKeys(ctx context.Context, w id.Workspace, limit int) ([]credential.Key, bool, error) {
	found, err := s.newest(ctx, listIndex, "g1p", keysOf(w), limit+1)
	if err != nil {
		return nil, false, err
	}
	var rows []credential.Key
	for _, i := range found[:min(len(found), limit)] {
		k := readKey(i, named[id.Public](i.key()))
		k.Workspace = w // the index does not carry it
		rows = append(rows, *k)
	}
	return rows, len(found) > limit, nil
}
