package credential

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/seal"
)

// Keys is what Keeper needs of the store.
type Keys interface {
	// Create stores a key of an open workspace with its event and the command's record, in one transaction. If the
	// key has a login of the CLI, the login must not have ended, and ends the key from then on. However many run at
	// once, no more keys that Counts live in the workspace than c.Most. Errors: *idempotency.AlreadyDone, not_authenticated
	// (the workspace closed, or the login ended), forbidden (the login has limits.LoginKeys, or the workspace has
	// c.Most), database_unavailable.
	Create(ctx context.Context, c Creation) error
	// Key reads a key strongly consistent, nil if there is none.
	Key(ctx context.Context, public id.Public) (*Key, error)
	// End stamps a live key as revoked with its event and the command's record, in one transaction; a key that is
	// revoked already keeps its first stamp, which is returned, and nothing is written. A zero time: the key is gone.
	End(ctx context.Context, e Ending) (time.Time, error)
	// List returns keys of a workspace, newest first, and the place of the last one if others follow. A copy may serve,
	// and hashes are left out.
	List(ctx context.Context, q KeyQuery) (rows []Key, next string, err error)
}

// KeyQuery is which keys a list shows.
type KeyQuery struct {
	Workspace workspace.Workspace // as it is now
	Which     Which
	After     string // a place; empty: from the start
	Limit     int
	Now       time.Time
}

// Which tells live keys from the others.
type Which string

// The lists of keys.
const (
	AllKeys   Which = "all"
	LiveKeys  Which = "live"
	EndedKeys Which = "ended" // revoked and expired ones, for limits.EndedKeyLife
)

// Shows tells whether a key is in the list.
func (q KeyQuery) Shows(k Key) bool {
	return q.Which == AllKeys || k.Over(q.Now, q.Workspace) == (q.Which == EndedKeys)
}

// Creation is everything that a new key writes.
type Creation struct {
	Command idempotency.Command
	Result  []byte
	Key     Key
	Most    int // live keys that the workspace may have with this one
	Event   event.Event
}

// Ending is everything that a revocation writes.
type Ending struct {
	Command idempotency.Command
	Result  []byte
	Key     Key // as it was read
	At      time.Time
	Event   event.Event
}

// Keeper keeps the API keys of workspaces for their members.
type Keeper struct {
	Store       Keys
	Peppers     keyring.Derived
	Box         *seal.Box // closes the secrets that a repeated creation shows again
	Cursors     *cursor.Codec
	Environment Environment
	Now         func() time.Time
}

// created is what a record keeps of a creation: the secret opens only with the seal ring and in this very record.
type created struct {
	Key    contract.APIKeySummary `json:"key"`
	Sealed []byte                 `json:"sealed"`
}

// place is what a sealed secret belongs to.
func place(k idempotency.Key) string {
	return strings.Join([]string{k.Actor, string(k.Operation), k.Target, k.Client}, "\x00") // no part holds a NUL
}

// Create makes a key that may publish and read, until life is over; zero: for good. Repeating the command shows the same
// secret again.
func (k *Keeper) Create(ctx context.Context, by Actor, c idempotency.Command, r *idempotency.Record, name string, life time.Duration) (contract.CreatedKey, error) {
	if err := by.Require(Admin); err != nil {
		return contract.CreatedKey{}, err
	}
	now := k.Now()
	if r.Finished(now) {
		return k.replay(r, c)
	}
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > limits.KeyNameRunes {
		return contract.CreatedKey{}, fault.New(fault.InvalidRequest, "name must have 1 to %d characters", limits.KeyNameRunes)
	}
	token := Mint(APIKey, k.Environment, by.Workspace.ID, "")
	key := Key{
		ID:        id.NewKey(token.Public),
		Public:    token.Public,
		Workspace: by.Workspace.ID,
		Hash:      token.Hash(k.Peppers),
		Name:      name,
		Scopes:    []Scope{Publish, Read},
		Epoch:     by.Workspace.Epoch,
		Member:    by.Member,
		CLIGrant:  by.CLIGrant,
		CreatedAt: now,
	}
	if life > 0 {
		key.ExpiresAt = now.Add(life)
	}
	result, err := k.sealed(key, token, c)
	if err != nil {
		return contract.CreatedKey{}, err
	}
	err = k.Store.Create(ctx, Creation{
		Command: c,
		Result:  result,
		Key:     key,
		Most:    limits.LiveKeys,
		Event:   key.event(event.KeyCreated, by, now),
	})
	finished, err := idempotency.Lost(err, now)
	switch {
	case finished != nil:
		return k.replay(finished, c)
	case err != nil:
		return contract.CreatedKey{}, err
	}
	return contract.CreatedKey{APIKey: key.Summary(), Secret: token.Reveal()}, nil
}

func (k *Keeper) sealed(key Key, token Token, c idempotency.Command) ([]byte, error) {
	closed, err := k.Box.Seal([]byte(token.Reveal()), place(c.Key))
	if err != nil {
		return nil, err
	}
	return json.Marshal(created{key.Summary(), closed})
}

func (k *Keeper) replay(r *idempotency.Record, c idempotency.Command) (contract.CreatedKey, error) {
	var first created
	if err := r.Replay(c, &first); err != nil {
		return contract.CreatedKey{}, err
	}
	secret, err := k.Box.Open(first.Sealed, place(c.Key))
	return contract.CreatedKey{APIKey: first.Key, Secret: string(secret)}, err
}

// List answers one page of the keys of the caller's workspace, newest first.
func (k *Keeper) List(ctx context.Context, by Actor, which Which, p cursor.Page) (contract.WebKeyList, error) {
	if err := by.Require(Admin); err != nil {
		return contract.WebKeyList{}, err
	}
	q := KeyQuery{Workspace: by.Workspace, Which: which, Now: k.Now()}
	of := cursor.List{Workspace: by.Workspace.ID, Name: "keys." + string(which), Now: q.Now}
	keys, info, err := cursor.Read(k.Cursors, of, p, func(after string, limit int) ([]Key, string, error) {
		q.After, q.Limit = after, limit
		return k.Store.List(ctx, q)
	})
	if err != nil {
		return contract.WebKeyList{}, err
	}
	out := contract.WebKeyList{Items: make([]contract.WebKey, len(keys)), PageInfo: info}
	for i, key := range keys {
		out.Items[i] = key.row(by.Workspace)
	}
	return out, nil
}

// Key answers one key of the caller's workspace; not_found if there is none.
func (k *Keeper) Key(ctx context.Context, by Actor, which id.Key) (contract.WebKey, error) {
	if err := by.Require(Admin); err != nil {
		return contract.WebKey{}, err
	}
	key, err := k.find(ctx, by, which)
	if err != nil {
		return contract.WebKey{}, err
	}
	return key.row(by.Workspace), nil
}

// row is the key in the list of its workspace.
func (k Key) row(w workspace.Workspace) contract.WebKey {
	k.RevokedAt = k.endedAt(w)
	return contract.WebKey{APIKeySummary: k.Summary(), Revoked: !k.RevokedAt.IsZero()}
}

// Revoke ends a key of the caller's workspace from this commit on. A key that was revoked before keeps its time.
func (k *Keeper) Revoke(ctx context.Context, by Actor, c idempotency.Command, r *idempotency.Record, which id.Key) (contract.RevokedKey, error) {
	if err := by.Require(Admin); err != nil {
		return contract.RevokedKey{}, err
	}
	now := k.Now()
	if r.Finished(now) {
		return idempotency.First[contract.RevokedKey](r, c)
	}
	key, err := k.find(ctx, by, which)
	if err != nil {
		return contract.RevokedKey{}, err
	}
	if !key.RevokedAt.IsZero() {
		return key.revoked(), nil
	}
	ended := key
	ended.RevokedAt = now
	result, err := json.Marshal(ended.revoked())
	if err != nil {
		return contract.RevokedKey{}, err
	}
	at, err := k.Store.End(ctx, Ending{
		Command: c,
		Result:  result,
		Key:     key,
		At:      now,
		Event:   key.event(event.KeyRevoked, by, now),
	})
	finished, err := idempotency.Lost(err, now)
	switch {
	case finished != nil:
		return idempotency.First[contract.RevokedKey](finished, c)
	case err != nil:
		return contract.RevokedKey{}, err
	case at.IsZero():
		return contract.RevokedKey{}, unknownKey()
	}
	ended.RevokedAt = at
	return ended.revoked(), nil
}

// find reads a key of the caller's workspace; what is malformed, unknown or another's is equally not there.
func (k *Keeper) find(ctx context.Context, by Actor, which id.Key) (Key, error) {
	public, err := which.Public()
	if err != nil {
		return Key{}, unknownKey()
	}
	key, err := k.Store.Key(ctx, public)
	if err != nil {
		return Key{}, err
	}
	if key == nil || key.ID != which || key.Workspace != by.Workspace.ID {
		return Key{}, unknownKey()
	}
	return *key, nil
}

func unknownKey() error {
	return fault.New(fault.NotFound, "no such API key in this workspace")
}

func (k Key) revoked() contract.RevokedKey {
	return contract.RevokedKey{APIKey: k.Summary(), RevokedAt: contract.At(k.RevokedAt)}
}

func (k Key) event(action event.Action, by Actor, at time.Time) event.Event {
	return by.Record(at, action, event.OnKey, string(k.ID), k.Name)
}

// Summary is the key on the wire.
func (k Key) Summary() contract.APIKeySummary {
	return contract.APIKeySummary{
		ID:          k.ID,
		WorkspaceID: k.Workspace,
		Name:        k.Name,
		PublicID:    k.Public,
		Scopes:      ScopeStrings(k.Scopes),
		RevokedAt:   contract.AtOrNull(k.RevokedAt),
		ExpiresAt:   contract.AtOrNull(k.ExpiresAt),
		CreatedAt:   contract.At(k.CreatedAt),
		LastUsedAt:  contract.AtOrNull(k.LastUsedAt),
	}
}
