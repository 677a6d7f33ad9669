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
	renewBudget = 250 * time.Millisecond // how long a request waits until its session's last use is recorded
)

// Store stores sessions.
type Store interface {
	// Add commits a new session and its event.
	Add(ctx context.Context, s Session, e event.Event) error
	// Session reads a session with strong consistency. It returns nil if there is none.
	Session(ctx context.Context, h Hash) (*Session, error)
	// Touch records the last use of a session unless a use after since is recorded. It does not revive an ended session.
	Touch(ctx context.Context, h Hash, now, since time.Time) error
	// End deletes a session and records the event in one transaction. It changes no item if the session is gone already.
	End(ctx context.Context, h Hash, e event.Event) error
	// List returns the newest sessions of a member, including ended ones that are not removed yet. It misses sessions of
	// older versions of this service and, for a moment, those that have just begun.
	List(ctx context.Context, w id.Workspace, m id.Member, most int) ([]Session, error)
}

// Members reads the members of sessions and signs them out.
type Members interface {
	// Member reads a member and the workspace with strong consistency. It returns nil for what does not exist.
	Member(ctx context.Context, w id.Workspace, m id.Member) (*member.Member, *workspace.Workspace, error)
	// SignOut ends a member's sessions, grants and API keys that are not newer than at, and records the event, in one
	// transaction. The stored instant only moves forward.
	SignOut(ctx context.Context, w id.Workspace, m id.Member, at time.Time, e event.Event) error
}

// Service starts, authenticates and ends sessions.
type Service struct {
	Store     Store
	Members   Members
	Limits    *limits.Limits
	Allowlist workspace.Allowlist // Members has to read what it judges by
	Now       func() time.Time
}

// Client describes a session to its member.
type Client struct {
	Browser string // the User-Agent
	Network string // address prefix
}

// Start begins a session and returns its secret. The secret is always new, so that a session id planted in the browser
// is useless.
func (s *Service) Start(
	ctx context.Context,
	in member.SignedIn,
	about Client,
	requestID string,
) (secret string, err error) {
	var raw [secretBytes]byte
	rand.Read(raw[:])
	m, now := in.Member, s.Now().UTC().Truncate(time.Millisecond)
	// A sign-out everywhere in the same millisecond would end this session too.
	if !m.Live(now) {
		now = m.SignedOutAt.Add(time.Millisecond)
	}
	session := Session{
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
	if err := s.Store.Add(ctx, session, session.event(event.SessionStarted, now, requestID)); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(raw[:]), nil
}

// Authenticate returns the member of a session. All failures are the same not_authenticated error. Only that of a
// workspace whose deletion can still be cancelled differs, and wraps workspace.ErrDeleting. That of a member whom the
// deployment does not let in wraps workspace.NotAllowedError. A malformed secret costs no read.
func (s *Service) Authenticate(ctx context.Context, secret, requestID string) (Authenticated, error) {
	return s.authenticate(ctx, secret, requestID, workspace.Workspace.Open)
}

// AuthenticateDeleting is Authenticate for the few actions that a member may take in a workspace that is being deleted.
func (s *Service) AuthenticateDeleting(ctx context.Context, secret, requestID string) (Authenticated, error) {
	return s.authenticate(ctx, secret, requestID, func(w workspace.Workspace) bool { return w.Kept().Open() })
}

func (s *Service) authenticate(
	ctx context.Context, secret, requestID string, open func(workspace.Workspace) bool,
) (Authenticated, error) {
	hash, ok := hashOf(secret)
	if !ok {
		return Authenticated{}, errUnauthenticated()
	}
	session, err := s.Store.Session(ctx, hash)
	if err != nil {
		return Authenticated{}, err
	}
	now := s.Now()
	if session == nil || !session.live(now) {
		return Authenticated{}, errUnauthenticated()
	}
	renewed := s.renew(ctx, session, now)
	m, w, err := s.Members.Member(ctx, session.Workspace, session.Member)
	err = cmp.Or(err, renewed())
	switch {
	case err != nil:
		return Authenticated{}, err
	case m == nil || w == nil || !m.Live(session.CreatedAt) || w.Epoch != session.Epoch || !w.Open() && !w.Kept().Open():
		return Authenticated{}, errUnauthenticated()
	case !s.Allowlist.Admits(*w, m.ID):
		return Authenticated{}, s.Allowlist.Hide(errUnauthenticated())
	case !open(*w):
		return Authenticated{}, w.RefuseDeleting()
	}
	return Authenticated{Session: *session, Member: *m, Actor: credential.Actor{
		Member:          m.ID,
		CLIGrant:        credential.CLIGrant{At: session.CreatedAt},
		Scopes:          m.Scopes,
		Operator:        session.Operator,
		AuthenticatedAt: session.AuthenticatedAt,
		Workspace:       *w,
		Policy:          s.Limits.Tiers[w.Tier()],
		RequestID:       requestID,
	}}, nil
}

// renew records the session's last use, concurrently with the request, if the recorded one is old. It drops a failure
// of the store, because the next request records the use again.
func (s *Service) renew(ctx context.Context, session *Session, now time.Time) (wait func() error) {
	since := now.Add(-limits.SessionSeenEvery)
	if session.SeenAt.After(since) {
		return func() error { return nil }
	}
	ctx, cancel := context.WithTimeout(ctx, renewBudget)
	return async.Start(func() error {
		defer cancel()
		s.Store.Touch(ctx, session.Hash, now, since)
		return nil
	})
}

// End ends one session. It does not fail for a secret without a session.
func (s *Service) End(ctx context.Context, secret, requestID string) error {
	hash, ok := hashOf(secret)
	if !ok {
		return nil
	}
	session, err := s.Store.Session(ctx, hash)
	if err != nil || session == nil {
		return err
	}
	return s.Store.End(ctx, hash, session.event(event.SessionEnded, s.Now(), requestID))
}

// List returns the live sessions of the caller, newest first, at most maxListed.
// maxListed is how many sessions of a member List returns.
const maxListed = 50

func (s *Service) List(ctx context.Context, a Authenticated) ([]Session, error) {
	all, err := s.Store.List(ctx, a.Session.Workspace, a.Member.ID, maxListed)
	now := s.Now()
	return slices.DeleteFunc(all, func(session Session) bool {
		return !session.live(now) || !a.Member.Live(session.CreatedAt) || session.Epoch != a.Session.Epoch
	}), err
}

// EndNamed ends the session of the caller with a Hash.Name. It does not fail for a session that has ended.
func (s *Service) EndNamed(ctx context.Context, a Authenticated, name string) error {
	all, err := s.List(ctx, a)
	if err != nil {
		return err
	}
	for _, session := range all {
		if session.Hash.Name() == name {
			return s.Store.End(ctx, session.Hash, session.event(event.SessionEnded, s.Now(), a.Actor.RequestID))
		}
	}
	return nil
}

// EndAll signs a member out everywhere. From its commit on, older sessions, grants of OAuth clients and API keys are
// invalid. An API key is as old as the session or grant that created it, so that a key created meanwhile is invalid
// too.
func (s *Service) EndAll(ctx context.Context, by credential.Actor) error {
	if by.Member == "" {
		return fault.New(fault.Forbidden, "only a member can sign out")
	}
	now := s.Now()
	return s.Members.SignOut(ctx, by.Workspace.ID, by.Member, now,
		by.Record(now, event.SessionsEnded, event.OnBrowser, string(by.Member), ""))
}

// Name returns a part of the hash that identifies the session in events but does not authenticate.
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
	// The decoder skips line ends, so a text of the right length may decode to fewer bytes.
	if err != nil || len(raw) != secretBytes {
		return h, false
	}
	return sha256.Sum256(raw), true
}

func errUnauthenticated() error { return fault.New(fault.NotAuthenticated, "sign in to go on") }
