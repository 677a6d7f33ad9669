package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

const (
	secretBytes = 32
	renewBudget = 250 * time.Millisecond // how long a request waits for the stamp of its session
)

// Store keeps sessions.
type Store interface {
	// Add commits a new session and its event.
	Add(ctx context.Context, s Session, e event.Event) error
	// Session reads a session with strong consistency. It returns nil if there is none.
	Session(ctx context.Context, h Hash) (*Session, error)
	// Touch records the last use of a session unless a use after since is recorded. It does not revive an ended
	// session.
	Touch(ctx context.Context, h Hash, now, since time.Time) error
	// End deletes a session and records the event in one transaction. It changes no item if the session is gone
	// already.
	End(ctx context.Context, h Hash, e event.Event) error
	// List returns the newest sessions of a member, ended ones among them until they are removed. It lacks sessions that
	// older code began, and for a moment those that began just now.
	List(ctx context.Context, w id.Workspace, m id.Member, most int) ([]Session, error)
}

// Members reads the members of sessions and signs them out.
type Members interface {
	// Member reads a member and the workspace with strong consistency. It returns nil for what does not exist.
	Member(ctx context.Context, w id.Workspace, m id.Member) (*member.Member, *workspace.Workspace, error)
	// SignOut moves the instant before which a member's sessions, grants and API keys have ended, and records the event,
	// in one transaction. The instant only moves forward.
	SignOut(ctx context.Context, w id.Workspace, m id.Member, at time.Time, e event.Event) error
}

// Service starts, authenticates and ends sessions.
type Service struct {
	Store   Store
	Members Members
	Limits  *limits.Limits
	Now     func() time.Time
}

// Client describes a session to its member.
type Client struct {
	Browser string // the User-Agent
	Network string // address prefix
}

// Start begins a session and returns its secret. The secret is always new, so that a session id that was planted in
// the browser is useless.
func (k *Service) Start(
	ctx context.Context,
	in member.SignedIn,
	about Client,
	requestID string,
) (secret string, err error) {
	var raw [secretBytes]byte
	rand.Read(raw[:])
	m, now := in.Member, k.Now().UTC().Truncate(time.Millisecond)
	if !m.Live(now) { // signed out everywhere in this very millisecond, and signed in again
		now = m.SignedOutAt.Add(time.Millisecond)
	}
	s := Session{
		Hash:            sha256.Sum256(raw[:]),
		Member:          m.ID,
		Workspace:       m.Workspace,
		Epoch:           in.Workspace.Epoch,
		Operator:        in.Operator,
		AuthenticatedAt: in.AuthenticatedAt,
		CreatedAt:       now,
		SeenAt:          now,
		Browser:         text.Browser(about.Browser),
		Network:         text.Browser(about.Network),
	}
	if err := k.Store.Add(ctx, s, s.event(event.SessionStarted, now, requestID)); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(raw[:]), nil
}

// Authenticate returns the member of a session. Every failure is the same not_authenticated error, but that of a
// workspace that is being deleted, which wraps workspace.ErrDeleting. A malformed secret costs no read.
func (k *Service) Authenticate(ctx context.Context, secret, requestID string) (Authenticated, error) {
	return k.authenticate(ctx, secret, requestID, workspace.Workspace.Open)
}

// AuthenticateDeleting is Authenticate for the few things that a member can do in a workspace that is being deleted.
func (k *Service) AuthenticateDeleting(ctx context.Context, secret, requestID string) (Authenticated, error) {
	return k.authenticate(ctx, secret, requestID, func(w workspace.Workspace) bool { return w.Kept().Open() })
}

func (k *Service) authenticate(
	ctx context.Context, secret, requestID string, open func(workspace.Workspace) bool,
) (Authenticated, error) {
	hash, ok := hashOf(secret)
	if !ok {
		return Authenticated{}, errUnauthenticated()
	}
	s, err := k.Store.Session(ctx, hash)
	if err != nil {
		return Authenticated{}, err
	}
	now := k.Now()
	if s == nil || !s.live(now) {
		return Authenticated{}, errUnauthenticated()
	}
	renewed := k.renew(ctx, s, now)
	m, w, err := k.Members.Member(ctx, s.Workspace, s.Member)
	err = cmp.Or(err, renewed())
	switch {
	case err != nil:
		return Authenticated{}, err
	case m == nil || w == nil || !m.Live(s.CreatedAt) || w.Epoch != s.Epoch || !w.Open() && !w.Kept().Open():
		return Authenticated{}, errUnauthenticated()
	case !open(*w):
		return Authenticated{}, w.RefuseDeleting()
	}
	return Authenticated{Session: *s, Member: *m, Actor: credential.Actor{
		Member:          m.ID,
		CLIGrant:        credential.CLIGrant{At: s.CreatedAt},
		Scopes:          m.Scopes,
		Operator:        s.Operator,
		AuthenticatedAt: s.AuthenticatedAt,
		Workspace:       *w,
		Policy:          k.Limits.Tiers[w.Tier()],
		RequestID:       requestID,
	}}, nil
}

// renew records the session's last use, concurrently with the request, if the recorded one is old. Losing an update is
// harmless.
func (k *Service) renew(ctx context.Context, s *Session, now time.Time) (wait func() error) {
	since := now.Add(-limits.SessionSeenEvery)
	if s.SeenAt.After(since) {
		return func() error { return nil }
	}
	ctx, cancel := context.WithTimeout(ctx, renewBudget)
	return async.Start(func() error {
		defer cancel()
		k.Store.Touch(ctx, s.Hash, now, since)
		return nil
	})
}

// End ends one session. It does not fail for a secret without a session.
func (k *Service) End(ctx context.Context, secret, requestID string) error {
	hash, ok := hashOf(secret)
	if !ok {
		return nil
	}
	s, err := k.Store.Session(ctx, hash)
	if err != nil || s == nil {
		return err
	}
	return k.Store.End(ctx, hash, s.event(event.SessionEnded, k.Now(), requestID))
}

// List returns the sessions of the caller that can be used, newest first, at most limits.ListedSessions.
func (k *Service) List(ctx context.Context, a Authenticated) ([]Session, error) {
	all, err := k.Store.List(ctx, a.Session.Workspace, a.Member.ID, limits.ListedSessions)
	now := k.Now()
	return slices.DeleteFunc(all, func(s Session) bool {
		return !s.live(now) || !a.Member.Live(s.CreatedAt) || s.Epoch != a.Session.Epoch
	}), err
}

// EndNamed ends one of the caller's sessions, by its Hash.Name. It does not fail for one that has ended.
func (k *Service) EndNamed(ctx context.Context, a Authenticated, name string) error {
	all, err := k.List(ctx, a)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Hash.Name() == name {
			return k.Store.End(ctx, s.Hash, s.event(event.SessionEnded, k.Now(), a.Actor.RequestID))
		}
	}
	return nil
}

// EndAll signs a member out everywhere: sessions, grants of OAuth clients and API keys that are older are invalid once
// it has committed. A key that is created meanwhile counts as old as the session or the grant that creates it.
func (k *Service) EndAll(ctx context.Context, by credential.Actor) error {
	if by.Member == "" {
		return fault.New(fault.Forbidden, "only a member can sign out")
	}
	now := k.Now()
	return k.Members.SignOut(ctx, by.Workspace.ID, by.Member, now,
		by.Record(now, event.SessionsEnded, event.OnBrowser, string(by.Member), ""))
}

// Name returns a part of the hash that identifies the session in records but does not authenticate.
func (h Hash) Name() string { return hex.EncodeToString(h[:8]) }

func (s Session) live(now time.Time) bool {
	return now.Before(s.CreatedAt.Add(limits.MaxSessionLife)) && now.Before(s.SeenAt.Add(limits.SessionIdle))
}

func (s Session) event(a event.Action, at time.Time, requestID string) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: s.Workspace,
		At:        at,
		Action:    a,
		Actor:     event.ByMember(s.Member),
		Target:    event.Target{Type: event.OnBrowser, ID: s.Hash.Name()},
		RequestID: requestID,
	}
}

func hashOf(secret string) (h Hash, ok bool) {
	if len(secret) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return h, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	if err != nil || len(raw) != secretBytes { // because the decoder skips line breaks
		return h, false
	}
	return sha256.Sum256(raw), true
}

func errUnauthenticated() error { return fault.New(fault.NotAuthenticated, "sign in to go on") }
