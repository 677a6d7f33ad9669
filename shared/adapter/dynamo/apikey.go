package dynamo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Keys stores API keys.
type Keys struct{ *db }

var (
	_ credential.Keys        = Keys{}
	_ credential.Revocations = Keys{}
	_ oauth.Keys             = Keys{}
)

// apiKeyItem lists the key under its workspace. The time of its login is the attribute pub_at, which lists show.
func apiKeyItem(k credential.Key) item {
	return encode(apiKeyKey(k.Public), &k, apiKeyFields).
		str("g1p", keysOf(k.Workspace)).str("g1s", timeKey(k.CreatedAt, k.ID))
}

func apiKeyFields(f fields, k *credential.Key) {
	text(f, "id", &k.ID)
	f.member(&k.Member, &k.Workspace, &k.Epoch)
	f.hash("mac", "pepper", &k.Hash)
	text(f, "name", &k.Name)
	words(f, "scopes", &k.Scopes)
	f.flag("agent", &k.FromAgent)
	text(f, "reg", &k.Registration)
	text(f, "term", &k.Term)
	text(f, "grant", &k.CLIGrant.Grant)
	f.time("pub_at", &k.CLIGrant.At)
	f.life(&k.CreatedAt, &k.ExpiresAt)
	f.time("rev_at", &k.RevokedAt)
	f.time("used_at", &k.LastUsedAt)
}

func readAPIKey(i item, public id.Public) *credential.Key {
	return decode(i, &credential.Key{Public: public}, apiKeyFields)
}

// addToGrant adds a key to the grant of the CLI login that made it, because the key ends with the grant. It requires
// that the grant has not ended.
func (s Keys) addToGrant(t *transaction, k credential.Key) {
	t.update(grantKey(k.CLIGrant.Grant), "ADD #api_keys :key",
		"attribute_exists(#pk) AND attribute_not_exists(#rev_at) AND "+
			"(attribute_not_exists(#api_keys) OR size(#api_keys) < :most)",
		values{"key": []string{string(k.Public)}, "most": limits.LoginKeys}, func(grant item) error {
			if grant == nil || !grant.getTime("rev_at").IsZero() {
				return fault.New(fault.NotAuthenticated, "this login has ended; sign in again")
			}
			return fault.New(fault.Forbidden, "this login has made %d API keys; sign in again, or make them in the dashboard",
				limits.LoginKeys)
		})
}

// Key implements credential.Keys.
func (s Keys) Key(ctx context.Context, public id.Public) (*credential.Key, error) {
	i, err := s.get(ctx, apiKeyKey(public))
	return readAPIKey(i, public), err
}

// End implements credential.Keys. It checks no fence, because ending a key is always allowed.
func (s Keys) End(ctx context.Context, e credential.Ending) (time.Time, error) {
	t := s.begin()
	t.finish(e.Command, e.Result, e.At)
	return s.endKey(ctx, t, e.Key, e.At, e.Event)
}

// endKey commits the end of a key with its event. The key moves from the list of live keys to that of revoked ones, and
// makes room for another.
func (s *db) endKey(
	ctx context.Context, t *transaction, k credential.Key, at time.Time, e event.Event,
) (time.Time, error) {
	at = millis(at)
	var first time.Time
	v := values{
		"now":  at,
		"list": revokedKeysOf(k.Workspace),
		"ttl":  keyTTL(at).Unix(),
		"id":   string(k.ID),
	}
	t.update(apiKeyKey(k.Public), "SET #rev_at = :now, #g1p = :list, #ttl = if_not_exists(#ttl, :ttl)",
		"#id = :id AND attribute_not_exists(#rev_at)", v, func(old item) error {
			first = old.getTime("rev_at")
			return errRevoked
		})
	if k.Counts() {
		t.uncountKeys(k.Workspace, string(k.Public))
	}
	t.record(e)
	return s.commitOnce(ctx, t, &first, at)
}

// Revoke implements credential.Revocations.
func (s Keys) Revoke(ctx context.Context, k credential.Key, at time.Time, e event.Event) (time.Time, error) {
	return s.endKey(ctx, s.begin(), k, at, e)
}

// errRevoked means that a key, a session, a link or a sign-in had already ended.
var errRevoked = errors.New("ended already")

// commitOnce commits the end of an item, and returns when it ended. If the item had already ended, that is the first
// time, which the refusal of t stored in first.
func (s *db) commitOnce(ctx context.Context, t *transaction, first *time.Time, at time.Time) (time.Time, error) {
	err := s.commit(ctx, t)
	if errors.Is(err, errRevoked) {
		return *first, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return at, nil
}

// List implements credential.Keys. Revoked keys have a partition of their own, so that a page of live ones costs the
// same however many keys were revoked.
func (s Keys) List(ctx context.Context, q credential.KeyQuery) ([]credential.Key, string, error) {
	parts := []partition{{listIndex, keysOf(q.Workspace.ID), q.After}}
	if q.Which != credential.LiveKeys {
		parts = append(parts, partition{listIndex, revokedKeysOf(q.Workspace.ID), q.After})
	}
	return pageOf(ctx, s.db, parts, q.Limit, func(ctx context.Context, found []item) (map[string]credential.Key, error) {
		rows, err := s.listedKeys(ctx, found, q.Workspace)
		maps.DeleteFunc(rows, func(_ string, k credential.Key) bool { return !q.Shows(k) })
		return rows, err
	})
}

// listedKeys returns keys as the index shows them, by their sort keys in it. The index lacks the member. That matters
// for keys that do not record when their member signed in and are older than a sign-out. Those are read from the table.
func (s Keys) listedKeys(
	ctx context.Context, found []item, w workspace.Workspace,
) (map[string]credential.Key, error) {
	rows := make(map[string]credential.Key, len(found))
	var unclear []key
	for _, i := range found {
		k := readAPIKey(i, partitionID[id.Public](i.key()))
		k.Workspace = w.ID
		rows[i.getStr("g1s")] = *k
		if k.CLIGrant.At.IsZero() && k.RevokedAt.IsZero() && !k.CreatedAt.After(w.KeysEndedAt) {
			unclear = append(unclear, i.key())
		}
	}
	f, err := s.all(ctx, unclear, false)
	for _, i := range f {
		k := readAPIKey(i, partitionID[id.Public](i.key()))
		k.Hash = credential.Hash{}
		rows[i.getStr("g1s")] = *k
	}
	return rows, err
}

// errUncounted means that the count of live keys has no room, or does not exist yet.
var errUncounted = errors.New("the live API keys are to be counted")

// maxCounts bounds how often the keys of a workspace are counted for one new key. A count is wasted only if a key is
// made or revoked at the same time.
const maxCounts = 6

// Create implements credential.Keys. One item per workspace counts the live keys by their public IDs, so that a
// revocation removes exactly one. Expired keys stay in it until it has no room; then the keys are counted again. A
// workspace without such an item is counted at its next key.
func (s Keys) Create(ctx context.Context, c credential.Creation) error {
	w := c.Key.Workspace
	for range maxCounts {
		err := s.tryCreate(ctx, c)
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

func (s Keys) tryCreate(ctx context.Context, c credential.Creation) error {
	t := s.begin()
	t.finish(c.Command, c.Result, c.Key.CreatedAt)
	t.checkFence(c.Key.Workspace)
	if c.Key.CLIGrant.Grant != "" {
		s.addToGrant(t, c.Key)
	}
	t.update(liveKeysKey(c.Key.Workspace), "ADD #live :key, #ver :one",
		"attribute_exists(#since) AND (attribute_not_exists(#live) OR size(#live) < :most)",
		values{"key": []string{string(c.Key.Public)}, "one": 1, "most": c.Most}, func(item) error { return errUncounted })
	i := apiKeyItem(c.Key)
	if !c.Key.ExpiresAt.IsZero() {
		i.ttl(keyTTL(c.Key.ExpiresAt))
	}
	t.create(i)
	t.record(c.Event)
	return s.commit(ctx, t)
}

// liveKeysItem returns the count of a workspace that has no live key yet.
func liveKeysItem(w id.Workspace, since time.Time) item {
	return newItem(liveKeysKey(w)).time("since", since)
}

// uncountKeys removes keys from the count of live ones. Keys that are not in it do not matter.
func (t *transaction) uncountKeys(w id.Workspace, keys ...string) {
	t.update(liveKeysKey(w), "DELETE #live :keys ADD #ver :one", "", values{"keys": keys, "one": 1}, nil)
}

// countKeys counts which keys of a workspace are live at an instant, and returns their number. It overwrites no
// concurrent change. If there was one it returns 0, so that the caller tries again and sees it.
func (s Keys) countKeys(ctx context.Context, w id.Workspace, now time.Time) (int, error) {
	b := batch{strong: true}
	b.want(liveKeysKey(w))
	b.want(workspaceKey(w))
	f, err := s.read(ctx, b)
	if err != nil {
		return 0, err
	}
	was, of := f.at(liveKeysKey(w)), readWorkspace(f.at(workspaceKey(w)), w)
	if of == nil {
		return 0, closed(nil)
	}
	live, err := s.liveKeys(ctx, *of, was.getSet("live"), now)
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
		return 0, err // 0 makes the caller try again
	}
	return len(live), nil
}

// liveKeys returns the keys that count and are live, from the count and from the index. It looks up in the table any
// key that only one of the two has, because the index may be behind. It trusts the index about keys that have ended,
// because they never come back.
func (s Keys) liveKeys(
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
		keys = append(keys, apiKeyKey(p))
	}
	f, err := s.all(ctx, keys, true)
	for _, i := range f {
		if k := readAPIKey(i, partitionID[id.Public](i.key())); k.Counts() && !k.Over(now, w) {
			live = append(live, string(k.Public))
		}
	}
	slices.Sort(live)
	return live, err
}

// keyTTL returns when a key that ended at an instant may be deleted. From then on it is refused as an unknown one.
func keyTTL(ended time.Time) time.Time { return ended.Add(limits.EndedKeyLife) }
