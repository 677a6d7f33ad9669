package credential

import (
	"context"
	"strings"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/seal"
	"vitrine/shared/platform/text"
)

// Store is the storage that Service uses.
type Store interface {
	Keys
	Revocations
}

// Keys stores the API keys of members.
type Keys interface {
	// Create stores a key of an open workspace with its event and the command's record in one transaction. If the key has
	// a login of the CLI, the login must not have ended; its end ends the key. The keys of the workspace that Counts
	// never exceed c.Most, however many calls run at once. Errors: *idempotency.AlreadyDone, not_authenticated (the
	// workspace closed, or the login ended), forbidden (the login has limits.LoginKeys, or the workspace has c.Most),
	// database_unavailable.
	Create(ctx context.Context, c Creation) error
	// Key reads a key with strong consistency. It returns nil if there is none.
	Key(ctx context.Context, public id.Public) (*Key, error)
	// End revokes a live key with its event and the command's record in one transaction, and returns the time of the
	// revocation. It writes no item for a key that is revoked already and returns the earlier time. A zero time means
	// that the key is gone.
	End(ctx context.Context, e Ending) (time.Time, error)
	// List returns keys of a workspace, newest first, and the place of the last one if others follow. It may read with
	// eventual consistency, and omits hashes.
	List(ctx context.Context, q KeyQuery) (rows []Key, next string, err error)
}

// Revocations revokes keys at their own request.
type Revocations interface {
	// Revoke revokes a live key and records the event in one transaction, and returns the time of the revocation. It
	// writes no item for a key that is revoked already and returns the earlier time. A zero time means that the key is
	// gone.
	Revoke(ctx context.Context, k Key, at time.Time, e event.Event) (time.Time, error)
}

// KeyQuery selects the keys of a list.
type KeyQuery struct {
	Workspace workspace.Workspace // as it is now
	Which     Which
	After     string // a place; empty: from the start
	Limit     int
	Now       time.Time
}

// Which selects keys by whether they live.
type Which string

// The lists of keys.
const (
	AllKeys   Which = "all"
	LiveKeys  Which = "live"
	EndedKeys Which = "ended" // revoked and expired ones, for limits.EndedKeyLife
)

// Shows reports whether the list includes a key.
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

// Service makes, lists and ends the API keys of workspaces.
type Service struct {
	Store       Store
	Peppers     keyring.Derived
	Box         *seal.Box // seals the secrets that a repeated creation shows again
	Cursors     *cursor.Codec
	Environment Environment
	Now         func() time.Time
}

// Created is a new key with its secret, which only the creation and its repetitions show.
type Created struct {
	Key    Key
	Secret string
}

// created is the stored result of a creation. The sealed secret opens only with the seal ring and in the same record.
type created struct {
	Key    Record `json:"key"`
	Sealed []byte `json:"sealed"`
}

// revoked is the stored result of a revocation.
type revoked struct {
	Key       Record           `json:"api_key"`
	RevokedAt idempotency.Time `json:"revoked_at"`
}

// place returns the place to which a sealed secret is bound: the record of its command.
func place(k idempotency.Key) string {
	return strings.Join([]string{k.Actor, string(k.Operation), k.Target, k.Client}, "\x00") // no part holds a NUL
}

// Create makes a key that may publish and read. The key ends after life; 0: never. A repeated command gets the same
// secret.
func (s *Service) Create(
	ctx context.Context, by Actor, c idempotency.Command, r *idempotency.Record, name string, life time.Duration,
) (Created, error) {
	if err := by.Require(Admin); err != nil {
		return Created{}, err
	}
	now := s.Now()
	return idempotency.DoWith(c, r, now, func() (Created, error) {
		name, err := text.KeyName.Clean(name)
		if err != nil {
			return Created{}, err
		}
		key, token := s.mint(by, name, life, now)
		result, err := s.sealed(key, token, c)
		if err != nil {
			return Created{}, err
		}
		err = s.Store.Create(ctx, Creation{
			Command: c,
			Result:  result,
			Key:     key,
			Most:    limits.LiveKeys,
			Event:   key.event(event.KeyCreated, by, now),
		})
		if err != nil {
			return Created{}, err
		}
		return Created{Key: key, Secret: token.Reveal()}, nil
	}, func(first created) (Created, error) {
		secret, err := s.Box.Open(first.Sealed, place(c.Key))
		return Created{Key: first.Key.key(), Secret: string(secret)}, err
	})
}

// mint makes a key of the caller's workspace that ends with the caller's sign-in.
func (s *Service) mint(by Actor, name string, life time.Duration, now time.Time) (Key, Token) {
	token := Mint(APIKey, s.Environment, by.Workspace.ID, "")
	key := Key{
		ID:        id.NewKey(token.Public),
		Public:    token.Public,
		Workspace: by.Workspace.ID,
		Hash:      token.Hash(s.Peppers),
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
	return key, token
}

func (s *Service) sealed(key Key, token Token, c idempotency.Command) ([]byte, error) {
	closed, err := s.Box.Seal([]byte(token.Reveal()), place(c.Key))
	if err != nil {
		return nil, err
	}
	return idempotency.Encode(created{key.Record(), closed}), nil
}

// List returns one page of the keys of the caller's workspace, newest first. Their RevokedAt includes the end of keys
// by a sign-out everywhere.
func (s *Service) List(ctx context.Context, by Actor, which Which, p cursor.Page) (_ []Key, next string, _ error) {
	if err := by.Require(Admin); err != nil {
		return nil, "", err
	}
	q := KeyQuery{Workspace: by.Workspace, Which: which, Now: s.Now()}
	of := cursor.List{Workspace: by.Workspace.ID, Name: "keys." + string(which), Now: q.Now}
	keys, next, err := cursor.Read(s.Cursors, of, p, func(after string, limit int) ([]Key, string, error) {
		q.After, q.Limit = after, limit
		return s.Store.List(ctx, q)
	})
	for i, k := range keys {
		keys[i].RevokedAt = k.endedAt(by.Workspace)
	}
	return keys, next, err
}

// Key returns one key like List. It fails with not_found if there is none.
func (s *Service) Key(ctx context.Context, by Actor, which id.Key) (Key, error) {
	if err := by.Require(Admin); err != nil {
		return Key{}, err
	}
	key, err := s.find(ctx, by, which)
	key.RevokedAt = key.endedAt(by.Workspace)
	return key, err
}

// Revoke ends a key of the caller's workspace from its commit on, and returns the key with the time of its revocation.
// A key that was revoked before keeps its time.
func (s *Service) Revoke(
	ctx context.Context, by Actor, c idempotency.Command, r *idempotency.Record, which id.Key,
) (Key, error) {
	if err := by.Require(Admin); err != nil {
		return Key{}, err
	}
	now := s.Now()
	return idempotency.DoWith(c, r, now, func() (Key, error) {
		key, err := s.find(ctx, by, which)
		if err != nil {
			return Key{}, err
		}
		if !key.RevokedAt.IsZero() {
			return key, nil
		}
		ended := key
		ended.RevokedAt = now
		ended.RevokedAt, err = s.Store.End(ctx, Ending{
			Command: c,
			Result:  idempotency.Encode(revoked{ended.Record(), idempotency.Time{Time: now}}),
			Key:     key,
			At:      now,
			Event:   key.event(event.KeyRevoked, by, now),
		})
		switch {
		case err != nil:
			return Key{}, err
		case ended.RevokedAt.IsZero():
			return Key{}, unknownKey()
		}
		return ended, nil
	}, func(first revoked) (Key, error) { return first.Key.key(), nil })
}

// RevokeOwn ends a key at its own request from its commit on, and returns the key with the time of its revocation.
func (s *Service) RevokeOwn(ctx context.Context, k Key, requestID string) (Key, error) {
	now := s.Now()
	at, err := s.Store.Revoke(ctx, k, now, event.Event{
		ID:        id.NewEvent(),
		Workspace: k.Workspace,
		At:        now,
		Action:    event.KeyRevoked,
		Actor:     event.ByKey(k.ID),
		Target:    event.Target{Type: event.OnKey, ID: string(k.ID)},
		RequestID: requestID,
	})
	if err != nil {
		return Key{}, err
	}
	if at.IsZero() {
		return Key{}, fault.NewCode(fault.NotAuthenticated)
	}
	k.RevokedAt = at
	return k, nil
}

// find reads a key of the caller's workspace. It fails with the same not_found for a malformed id, an unknown key and a
// key of another workspace.
func (s *Service) find(ctx context.Context, by Actor, which id.Key) (Key, error) {
	public, err := which.Public()
	if err != nil {
		return Key{}, unknownKey()
	}
	key, err := s.Store.Key(ctx, public)
	if err != nil {
		return Key{}, err
	}
	// An id has 48 random bits besides the public id by which the key is found, so the whole id is compared.
	if key == nil || key.ID != which || key.Workspace != by.Workspace.ID {
		return Key{}, unknownKey()
	}
	return *key, nil
}

func unknownKey() error {
	return fault.New(fault.NotFound, "no such API key in this workspace")
}

func (k Key) event(action event.Action, by Actor, at time.Time) event.Event {
	return by.Record(at, action, event.OnKey, string(k.ID), k.Name)
}
