package signin

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/netip"
	"time"

	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// Store stores pending sign-ins.
type Store interface {
	// Add stores a pending sign-in.
	Add(ctx context.Context, a Attempt) error
	// Take deletes and returns the pending sign-in with a state if it began in this browser and has not expired. Of
	// several concurrent calls one gets it. Take returns nil, and changes no item, if there is none.
	Take(ctx context.Context, state string, browser Hash, now time.Time) (*Attempt, error)
}

// Service signs people in.
type Service struct {
	Provider  Provider // nil: sign-in is disabled
	Issuer    string   // of Provider
	Store     Store
	Registrar *member.Service
	Sessions  *session.Service
	Takeovers *Takeovers
	Limiter   *rate.Limiter
	Limits    *limits.Limits
	Peppers   keyring.Derived
	Now       func() time.Time
}

// ErrDeclined reports that the provider sent the person back without having signed them in.
var ErrDeclined = errors.New("the provider declined the sign-in")

// Begun is a sign-in that continues at the provider.
type Begun struct {
	URL    string
	Cookie string // binds the sign-in to this browser for limits.SignInLife
}

// Destination is where a sign-in ends.
type Destination struct {
	Path  string // on the app host
	Fresh bool   // the person has to authenticate anew, because an action there needs a fresh sign-in
}

// Begin starts a sign-in. It fails with database_unavailable if the provider or the store does not answer in time, and
// with rate_limited_actor for an address that begins too many.
func (s *Service) Begin(ctx context.Context, to Destination, from netip.Addr) (Begun, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.IdentityAnswer)
	defer cancel()
	if s.Provider == nil {
		return Begun{}, errDisabled()
	}
	if err := s.Limiter.Take(ctx, s.Limits.SignIn, address.Subject(from, s.Peppers)); err != nil {
		return Begun{}, err
	}
	a, cookie := begin(ReturnPath(to.Path), s.Now())
	t := transaction(a.State, cookie)
	t.Fresh = to.Fresh
	url, err := s.Provider.Begin(ctx, t)
	if err != nil {
		return Begun{}, err
	}
	return Begun{URL: url, Cookie: cookie}, s.Store.Add(ctx, a)
}

// Callback holds the values that the browser brings back from the provider.
type Callback struct {
	State  string
	Code   string
	Error  string // why there is no code
	Issuer string // iss of the authorization response; empty: the provider sends none
	Cookie string // from Begun
	// Session is the browser's previous session, if any, which Finish ends.
	Session string
}

// Finished is a person who has signed in.
type Finished struct {
	Session  string // secret of the new session; empty: there is a question instead
	Question string // secret of the question of which agents the person keeps; empty: the person is signed in
	ReturnTo string // path on the app host
	Member   member.Member
	New      bool // the member was created by this sign-in
}

// Finish completes a sign-in once, in the browser where it began. It fails with database_unavailable if the provider or
// the store does not answer in time. It fails with forbidden for an unverified address (ErrUnverified), a closed
// workspace, and one whose deletion has begun (workspace.ErrRemoved). It fails with invalid_request otherwise, which
// wraps ErrDeclined if the provider returned an error.
func (s *Service) Finish(ctx context.Context, c Callback, about session.Client, requestID string) (Finished, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.IdentityAnswer)
	defer cancel()
	a, err := s.take(ctx, c)
	if err != nil {
		return Finished{}, err
	}
	who, err := s.Provider.Finish(ctx, c.Code, transaction(a.State, c.Cookie))
	if err != nil {
		return Finished{}, err
	}
	entered, err := s.Registrar.SignIn(ctx, who, requestID)
	if asked, ok := errors.AsType[*member.Unconfirmed](err); ok {
		secret, err := s.Takeovers.ask(ctx, asked, a.ReturnTo)
		return Finished{Question: secret}, err
	}
	if err != nil {
		return Finished{}, err
	}
	if w := entered.Workspace; !w.Kept().Open() {
		return Finished{}, refuseClosed(w)
	}
	// The old session ends first: a failure in between leaves the browser signed out, never with two sessions.
	if err := s.Sessions.End(ctx, c.Session, requestID); err != nil {
		return Finished{}, err
	}
	secret, err := s.Sessions.Start(ctx, entered, about, requestID)
	return Finished{
		Session:  secret,
		ReturnTo: ReturnPath(a.ReturnTo),
		Member:   entered.Member,
		New:      entered.New,
	}, err
}

// refuseClosed returns the refusal for a person whose workspace is closed. Before its deletion begins, a workspace does
// not count as closed, because its member may cancel the deletion.
func refuseClosed(w workspace.Workspace) error {
	if w.Lock == "" && !w.RemovedAt.IsZero() {
		return fault.Wrap(fault.Forbidden, workspace.ErrRemoved, "this workspace is being deleted; sign up again in an hour")
	}
	return fault.New(fault.Forbidden, "this workspace is closed")
}

// take removes and returns the pending sign-in of a callback, even if the callback is then refused.
func (s *Service) take(ctx context.Context, c Callback) (*Attempt, error) {
	if s.Provider == nil {
		return nil, errDisabled()
	}
	if !secret(c.State) || !secret(c.Cookie) {
		return nil, Refused(errors.New("state or cookie is missing or malformed"))
	}
	a, err := s.Store.Take(ctx, c.State, sha256.Sum256([]byte(c.Cookie)), s.Now())
	switch {
	case err != nil:
		return nil, err
	case a == nil:
		return nil, Refused(errors.New("no such sign-in in this browser, or it was used or expired"))
	case c.Issuer != "" && c.Issuer != s.Issuer: // first, because the rest of another issuer's answer means nothing
		return nil, Refused(errors.New("another issuer answers"))
	case c.Error != "":
		return nil, Refused(ErrDeclined)
	case c.Code == "":
		return nil, Refused(errors.New("no code came back"))
	}
	return a, nil
}

// SignOutURL returns the URL where a person signs out of the provider too. It is empty if the provider has none.
func (s *Service) SignOutURL() string {
	if s.Provider == nil {
		return ""
	}
	return s.Provider.SignOut()
}

func errDisabled() error {
	return fault.New(fault.DatabaseUnavailable, "nobody can sign in here: no identity provider is configured")
}
