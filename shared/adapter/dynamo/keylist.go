package dynamo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// APIKeys implements credential.Keys. Revoked keys have a partition of their own, so that a page of live ones costs the
// same however many were revoked.
func (s *Store) APIKeys(ctx context.Context, q credential.KeyQuery) ([]credential.Key, string, error) {
	parts := []partition{{listIndex, keysOf(q.Workspace.ID), q.After}}
	if q.Which != credential.LiveKeys {
		parts = append(parts, partition{listIndex, revokedKeysOf(q.Workspace.ID), q.After})
	}
	return pageOf(ctx, s, parts, q.Limit, func(ctx context.Context, found []item) (map[string]credential.Key, error) {
		rows, err := s.listedKeys(ctx, found, q.Workspace)
		maps.DeleteFunc(rows, func(_ string, k credential.Key) bool { return !q.Shows(k) })
		return rows, err
	})
}

// listedKeys are keys as the index has them, by their places. The index does not tell who made a key. That matters
// for those that do not tell when their member signed in, and are older than a sign-out: they are read from the
// table.
func (s *Store) listedKeys(
	ctx context.Context, found []item, w workspace.Workspace,
) (map[string]credential.Key, error) {
	rows := make(map[string]credential.Key, len(found))
	var unclear []key
	for _, i := range found {
		k := readKey(i, named[id.Public](i.key()))
		k.Workspace = w.ID
		rows[i.getStr("g1s")] = *k
		if k.CLIGrant.At.IsZero() && k.RevokedAt.IsZero() && !k.CreatedAt.After(w.KeysEndedAt) {
			unclear = append(unclear, i.key())
		}
	}
	f, err := s.all(ctx, unclear, false)
	for _, i := range f {
		k := readKey(i, named[id.Public](i.key()))
		k.Hash = credential.Hash{}
		rows[i.getStr("g1s")] = *k
	}
	return rows, err
}

// errUncounted says that a workspace has as many live keys as it may have, or that nobody knows how many it has.
var errUncounted = errors.New("the live API keys are to be counted")

// countTries bounds how often the keys of a workspace are counted for one new key. A count is lost only to a key that
// was made or revoked meanwhile.
const countTries = 6

// CreateKey implements credential.Keys. The item of live keys has the public id of each, so that a revocation takes
// one away exactly once. What ends by itself stays there until there is no room, and then the keys are counted.
// Workspaces from before there was such an item are counted at their next key.
func (s *Store) CreateKey(ctx context.Context, c credential.Creation) error {
	w := c.Key.Workspace
	for range countTries {
		err := s.createKey(ctx, c)
		if !errors.Is(err, errUncounted) {
			return err
		}
		live, err := s.countKeys(ctx, w, c.Key.CreatedAt)
		if err != nil {
			return err
		}
		if live >= c.Most {
			return fault.New(fault.Forbidden, "this workspace has %d live API keys; it may have %d: revoke one", live, c.Most)
		}
	}
	return fault.New(fault.DatabaseUnavailable, "too many API keys are made at once; repeat the request in a moment")
}

func (s *Store) createKey(ctx context.Context, c credential.Creation) error {
	var t transaction
	s.finish(&t, c.Command, c.Result, c.Key.CreatedAt)
	s.checkFence(&t, c.Key.Workspace)
	if c.Key.CLIGrant.Grant != "" {
		s.entrust(&t, c.Key)
	}
	t.update(s.tables.Core, liveKeysKey(c.Key.Workspace), "ADD #live :key, #ver :one",
		"attribute_exists(#since) AND (attribute_not_exists(#live) OR size(#live) < :most)",
		values{"key": []string{string(c.Key.Public)}, "one": 1, "most": c.Most}, func(item) error { return errUncounted })
	i := keyItem(c.Key)
	if !c.Key.ExpiresAt.IsZero() {
		i.ttl(leavesList(c.Key.ExpiresAt))
	}
	t.create(s.tables.Core, i)
	t.create(s.tables.Events, eventItem(c.Event))
	return s.commit(ctx, &t)
}

// liveKeysItem knows of no live key.
func liveKeysItem(w id.Workspace, since time.Time) item {
	return newItem(liveKeysKey(w)).time("since", since)
}

// uncountKeys takes keys from the live ones, if they are there.
func (s *Store) uncountKeys(t *transaction, w id.Workspace, keys ...string) {
	t.update(s.tables.Core, liveKeysKey(w), "DELETE #live :keys ADD #ver :one", "", values{"keys": keys, "one": 1}, nil)
}

// countKeys writes which keys of a workspace live at an instant, and returns how many. Nothing is written over that
// changed meanwhile; then what changed is left to the next count.
func (s *Store) countKeys(ctx context.Context, w id.Workspace, now time.Time) (int, error) {
	b := batch{strong: true}
	b.want(liveKeysKey(w))
	b.want(workspaceKey(w))
	f, err := s.read(ctx, b)
	if err != nil {
		return 0, err
	}
	was, gate := f.at(liveKeysKey(w)), readWorkspace(f.at(workspaceKey(w)), w)
	if gate == nil {
		return 0, closed(nil)
	}
	live, err := s.liveKeys(ctx, *gate, was.getSet("live"), now)
	if err != nil {
		return 0, err
	}
	if !was.getTime("since").IsZero() && slices.Equal(live, slices.Sorted(slices.Values(was.getSet("live")))) {
		return len(live), nil
	}
	set := "SET #since = if_not_exists(#since, :now), #live = :live ADD #ver :one"
	v := values{"now": now, "one": 1, "was": was.getNum("ver"), "live": live}
	if len(live) == 0 {
		set = "SET #since = if_not_exists(#since, :now) REMOVE #live ADD #ver :one"
		delete(v, "live")
	}
	condition := "#ver = :was"
	if v["was"] == int64(0) {
		condition = "attribute_not_exists(#ver)"
		delete(v, "was")
	}
	if _, done, err := s.change(ctx, liveKeysKey(w), set, condition, v); err != nil || !done {
		return 0, err // of another count: the next attempt says
	}
	return len(live), nil
}

// liveKeys are the keys that count: of those that are counted and those that the index has, the ones that live. What
// is only in one of the two is looked up, because the index may be behind. What the index says has ended has ended
// for good.
func (s *Store) liveKeys(
	ctx context.Context, w workspace.Workspace, counted []string, now time.Time,
) (live []string, err error) {
	unclear := map[id.Public]bool{}
	for _, p := range counted {
		unclear[id.Public(p)] = true
	}
	err = s.newest(ctx, partition{index: listIndex, name: keysOf(w.ID)}, len(counted)+1, func(found []item) (bool, error) {
		rows, err := s.listedKeys(ctx, found, w)
		for _, k := range rows {
			switch over := k.Over(now, w); {
			case unclear[k.Public] && !over:
				live = append(live, string(k.Public))
				fallthrough
			case over:
				delete(unclear, k.Public)
			default:
				unclear[k.Public] = true
			}
		}
		return false, err
	})
	if err != nil {
		return nil, err
	}
	var keys []key
	for p := range unclear {
		keys = append(keys, credentialKey(p))
	}
	f, err := s.all(ctx, keys, true)
	for _, i := range f {
		if k := readKey(i, named[id.Public](i.key())); k.Counts() && !k.Over(now, w) {
			live = append(live, string(k.Public))
		}
	}
	slices.Sort(live)
	return live, err
}

// leavesList is when a key that ended at an instant may leave the table. Without it, it is refused as one that is
// unknown.
func leavesList(ended time.Time) time.Time { return ended.Add(limits.EndedKeyLife) }
