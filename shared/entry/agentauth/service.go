package agentauth

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
)

// ErrMoved says that a registration is not any more what was read.
var ErrMoved = errors.New("the registration has changed meanwhile")

// Store is what Service needs of the store.
type Store interface {
	// AddRegistration commits workspace, registration, claim token and event in one transaction.
	AddRegistration(ctx context.Context, e NewRegistration) error
	// Registration reads a registration and a workspace in one strongly consistent batch; nil for what does not exist.
	Registration(ctx context.Context, r id.Registration, w id.Workspace) (*Registration, *workspace.Workspace, error)
	// RegistrationByClaimToken reads a claim token and the registration that it belongs to in one strongly consistent batch; nil for what
	// does not exist.
	RegistrationByClaimToken(ctx context.Context, claimToken id.Public) (*claim.Token, *Registration, error)
	// Change commits a change of a registration with all that goes with it; ErrMoved if Generation and Version are not
	// those that were read.
	Change(ctx context.Context, c Change) error
	// Registrations reads registrations that were claimed into a workspace, the newest claim first, and the place of the
	// last one if others follow.
	Registrations(ctx context.Context, q Query) (rows []Registration, next string, err error)
}

// Query is which registrations a list shows.
type Query struct {
	Workspace id.Workspace
	After     string // a place; empty: from the start
	Limit     int
	Live      func(Registration) bool // tells whether one is listed
}

// Mover is what a claim needs of the store.
type Mover interface {
	// Move commits a claim. Errors: claim.ErrGone, not_authenticated (the destination closed), database_unavailable.
	Move(ctx context.Context, m claim.Move) error
	// List returns one page of a workspace's artifacts, newest first.
	List(ctx context.Context, q artifact.Query) (rows []artifact.Artifact, more bool, err error)
}

// Admission counts requests for a workspace without an account, whichever way they come.
type Admission interface {
	// Admit refuses when everybody or one address asks too often.
	Admit(ctx context.Context, from netip.Addr) (ephemeral.Admission, error)
}

// NewRegistration is everything that an anonymous registration makes.
type NewRegistration struct {
	Workspace    workspace.Workspace
	Registration Registration
	Token        claim.Token
	Event        event.Event
}

// Change is a change of a registration.
type Change struct {
	Was, To Registration
	Key     *credential.Key // made with it; nil: none
	Ends    []id.Public     // access tokens that are revoked with it
	At      time.Time
	Events  []event.Event
}

// Service registers agents, gives them access tokens, and lets people claim them.
type Service struct {
	Store     Store
	Mover     Mover
	Admission Admission
	Counters  rate.Counters
	Failures  rate.FailureCounter
	Limiter   *rate.Limiter
	Limits    *limits.Limits
	// Signer makes and checks assertions. nil: agents cannot register, and those that did get no tokens.
	Signer      *assertion.Signer
	Peppers     keyring.Derived
	Cursors     *cursor.Codec
	Environment credential.Environment
	Origins     address.Origins
	Now         func() time.Time
}

// races bounds optimistic retries. Every lost attempt means that another one succeeded, so a registration makes progress.
var races = conflict.Policy{Lost: ErrMoved, Attempts: 10, Exhausted: func() error {
	return fault.New(fault.DatabaseUnavailable, "too many requests change the same registration; repeat the request in a moment")
}}

// race runs a read, a decision and a conditional write until the write finds what was read.
func race(try func() error) error {
	_, err := conflict.Retry(races, func() (struct{}, error) { return struct{}{}, try() })
	return err
}

// now is the instant as the store keeps it.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// rate is a limit, or none where limits are off.
func (s *Service) rate(r limits.Rate) limits.Rate {
	if s.Limits.Off {
		r.Limit = math.MaxInt
	}
	return r
}

// off refuses a request where agents cannot register.
func (s *Service) off() error {
	if s.Signer == nil {
		return fault.NewOAuth(fault.OAuthTemporarilyUnavailable, "agent registration is not set up here")
	}
	return nil
}

// registrationOf reads what belongs to a claim token or an attempt token; nil for what does not exist or does not match. found
// is true if the claim token itself was sent and is right.
func (s *Service) registrationOf(ctx context.Context, sent credential.Token) (t *claim.Token, r *Registration, found bool, err error) {
	t, r, err = s.Store.RegistrationByClaimToken(ctx, sent.Public)
	if err != nil {
		return nil, nil, false, err
	}
	hash := credential.Hash{} // whatever is unknown costs the same as what is known
	if t != nil && r != nil {
		hash = t.Hash
	}
	found = sent.Matches(hash, s.Peppers) && t != nil && r != nil && t.Registration == r.ID && t.Public == r.Claim
	return t, r, found, nil
}

// scopes are the rights of agents, before and after the claim.
var scopes = []credential.Scope{credential.Read, credential.Publish}

// stored is an access token as the store keeps it: an API key that ends soon.
func (s *Service) stored(secret credential.Token, r Registration, w workspace.Workspace, now time.Time, granted []credential.Scope) *credential.Key {
	return &credential.Key{
		ID:           id.NewKey(secret.Public),
		Public:       secret.Public,
		Workspace:    w.ID,
		Hash:         secret.Hash(s.Peppers),
		Name:         keyName,
		Scopes:       granted,
		Epoch:        w.Epoch,
		FromAgent:    r.phase() == assertion.PreClaim,
		Registration: r.ID,
		CreatedAt:    now,
		ExpiresAt:    r.tokenEnd(now),
	}
}

// tokenEnd is when an access token that is made now ends: with its registration at the latest.
func (r Registration) tokenEnd(now time.Time) time.Time {
	if end := now.Add(limits.AgentTokenLife); end.Before(r.ExpiresAt) {
		return end
	}
	return r.ExpiresAt
}

// keyName is what access tokens of agents are called in lists.
const keyName = "Agent auth"

// answer is an access token on the wire.
func answer(secret credential.Token, k *credential.Key) contract.Token {
	return contract.Token{
		AccessToken: secret.Reveal(),
		TokenType:   "Bearer",
		ExpiresIn:   contract.Seconds(k.ExpiresAt.Sub(k.CreatedAt)),
		Scope:       strings.Join(credential.ScopeStrings(k.Scopes), " "),
	}
}

// assert signs what the registration shows from now on.
func (s *Service) assert(r Registration, epoch int64, now time.Time) (string, error) {
	return s.Signer.Sign(assertion.Claims{
		Registration: r.ID,
		Type:         string(r.Kind),
		Phase:        r.phase(),
		Scopes:       credential.ScopeStrings(scopes),
		Generation:   r.Generation,
		Workspace:    r.Workspace,
		Epoch:        epoch,
		IssuedAt:     now,
		ExpiresAt:    r.ExpiresAt,
	})
}

// record is an event about a registration.
func record(r Registration, w id.Workspace, at time.Time, a event.Action, by event.Actor, requestID string) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: w,
		At:        at,
		Action:    a,
		Actor:     by,
		Target:    event.Target{Type: event.OnRegistration, ID: string(r.ID)},
		RequestID: requestID,
	}
}

// change is what has to be committed for a step.
func change(was Registration, st step, at time.Time) Change {
	return Change{
		Was:  was,
		To:   st.to,
		Ends: slices.Clone(st.ends),
		At:   at,
	}
}
