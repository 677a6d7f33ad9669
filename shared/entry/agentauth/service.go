package agentauth

import (
	"cmp"
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
	"vitrine/shared/identity/delegation"
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
)

// ErrMoved reports that the registration was changed since it was read.
var ErrMoved = errors.New("the registration has changed meanwhile")

// Store is the storage that Service uses.
type Store interface {
	// Add commits workspace, registration, claim token and event in one transaction.
	Add(ctx context.Context, e NewRegistration) error
	// Registration reads a registration and a workspace in one strongly consistent batch. It returns nil for what does
	// not exist.
	Registration(ctx context.Context, r id.Registration, w id.Workspace) (*Registration, *workspace.Workspace, error)
	// ByClaimToken reads a claim token and its registration in one strongly consistent batch. It returns nil
	// for what does not exist.
	ByClaimToken(ctx context.Context, claimToken id.Public) (*claim.Token, *Registration, error)
	// Change commits a change of a registration. It returns ErrMoved if Generation and Version are not those that were
	// read.
	Change(ctx context.Context, c Change) error
	// List reads registrations that were claimed into a workspace, newest claim first. next is the position of the last
	// row if others follow.
	List(ctx context.Context, q cursor.Query[Registration]) (rows []Registration, next string, err error)
}

// Mover commits claims.
type Mover interface {
	// Move commits a claim. Its errors are claim.ErrGone, not_authenticated if the destination is closed, and
	// database_unavailable.
	Move(ctx context.Context, m claim.Move) error
}

// Admission counts requests for a workspace without an account, over all routes.
type Admission interface {
	// Admit fails if one address, or all addresses together, send too many requests.
	Admit(ctx context.Context, from netip.Addr) (ephemeral.Admission, error)
}

// NewRegistration holds the items that an anonymous registration creates.
type NewRegistration struct {
	Workspace    workspace.Workspace
	Registration Registration
	Token        claim.Token
	Event        event.Event
}

// Change is a change of a registration.
type Change struct {
	Was, To Registration
	Key     *credential.Key // the access token that it creates unless the delegation of To has ended; nil: none
	Link    *Link           // the delegation that it makes; nil: none
	Ends    []id.Public     // the access tokens that it revokes
	At      time.Time
	Events  []event.Event
}

// Link is the delegation that a person makes by agreeing.
type Link struct {
	Was *delegation.Delegation // as it was read; nil: there was none
	To  delegation.Delegation
}

// Service registers agents, issues their access tokens and completes their claims.
type Service struct {
	Store     Store
	Mover     Mover
	Artifacts claim.Artifacts
	Admission Admission
	Counters  rate.Counters
	Failures  rate.FailureCounter
	Limiter   *rate.Limiter
	Limits    *limits.Limits
	Allowlist workspace.Allowlist // Store has to read what it judges by
	// Signer signs and verifies assertions. nil: agents cannot register, and registered ones get no tokens.
	Signer *assertion.Signer
	// Providers verifies the tokens of identity providers of agents. nil: none is trusted.
	Providers   Providers
	Delegations Delegations
	Revocations Revocations
	Peppers     keyring.Derived
	Cursors     *cursor.Codec
	Environment credential.Environment
	Origins     address.Origins
	// NoAnonymous refuses registrations without a person. Agents that have registered stay as they are.
	NoAnonymous bool
	Now         func() time.Time
	// Trace records the issuer of a provider's token and the key that signed it. nil: they are not recorded.
	Trace func(ctx context.Context, issuer, keyID string)
}

// races bounds optimistic retries. Every lost attempt means that another one succeeded, so that the registration makes
// progress.
var races = conflict.Policy{Lost: ErrMoved, Attempts: 10, Exhausted: func() error {
	return fault.New(fault.RateLimitedActor,
		"too many requests change the same registration; wait as long as Retry-After says").After(time.Second)
}}

// race repeats try, which reads, decides and writes on the condition that its reads still hold. A caller that exhausts
// its attempts gets 429, because it sent the competing requests itself.
func race(try func() error) error {
	_, err := conflict.Retry(races, func() (struct{}, error) { return struct{}{}, try() })
	// The store gave up on a transaction that others kept out: that is the same contention as a lost race.
	if errors.Is(err, conflict.ErrHeld) {
		return races.Exhausted()
	}
	return err
}

// now returns the time in the precision of the store.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// rate returns r, without a limit where limits are off.
func (s *Service) rate(r limits.Rate) limits.Rate {
	if s.Limits.Off {
		r.Limit = math.MaxInt
	}
	return r
}

// checkEnabled refuses requests where agents cannot register.
func (s *Service) checkEnabled() error {
	if s.Signer == nil {
		return fault.NewOAuth(fault.OAuthTemporarilyUnavailable, "agent registration is not set up here")
	}
	return nil
}

// admits refuses tokens in a workspace whose members the deployment does not let in. w is nil if there is none.
func (s *Service) admits(w *workspace.Workspace) error {
	if w != nil && !s.Allowlist.Admits(*w, "") {
		return errDead.WithCause(s.Allowlist.Refuse())
	}
	return nil
}

// registrationOf reads the registration of a claim token or an attempt token. It returns nil for what does not exist
// or does not match. found reports that sent is the claim token itself.
func (s *Service) registrationOf(
	ctx context.Context,
	sent credential.Token,
) (t *claim.Token, r *Registration, found bool, err error) {
	t, r, err = s.Store.ByClaimToken(ctx, sent.Public)
	if err != nil {
		return nil, nil, false, err
	}
	hash := credential.Hash{} // so that an unknown token costs the same as a known one
	if t != nil && r != nil {
		hash = t.Hash
	}
	found = sent.Matches(hash, s.Peppers) && t != nil && r != nil && t.Registration == r.ID && t.Public == r.Claim
	return t, r, found, nil
}

// claimable reads the registration of a claim token, and waits until the agent is admitted.
func (s *Service) claimable(ctx context.Context, sent credential.Token, admitted Admitted) (*Registration, error) {
	_, r, found, err := s.registrationOf(ctx, sent)
	if err == nil {
		err = admitted()
	}
	if err != nil || !found {
		return nil, cmp.Or[error](err, errExpired)
	}
	return r, nil
}

// scopes are the scopes of agents, before and after the claim.
var scopes = credential.Delegable()

// scopes returns the scopes of the registration: all scopes of agents, unless its provider asked for fewer.
func (r Registration) scopes() []credential.Scope {
	if len(r.Vouched.Scopes) == 0 {
		return scopes
	}
	return r.Vouched.Scopes
}

// stored returns the stored form of an access token: an API key that expires soon.
func (s *Service) stored(
	secret credential.Token,
	r Registration,
	w workspace.Workspace,
	now time.Time,
	granted []credential.Scope,
) *credential.Key {
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
		Term:         r.term(),
		CreatedAt:    now,
		ExpiresAt:    r.tokenEnd(now),
	}
}

// tokenEnd returns when an access token that is created now expires, which is with its registration at the latest.
// tokenLife is how long an access token of an agent registration is valid.
const tokenLife = time.Hour

func (r Registration) tokenEnd(now time.Time) time.Time {
	if end := now.Add(tokenLife); end.Before(r.ExpiresAt) {
		return end
	}
	return r.ExpiresAt
}

// keyName is the name of agents' access tokens in lists.
const keyName = "Agent auth"

// answer returns the token response.
func answer(secret credential.Token, k *credential.Key) contract.Token {
	return contract.Token{
		AccessToken: secret.Reveal(),
		TokenType:   "Bearer",
		ExpiresIn:   contract.Seconds(k.ExpiresAt.Sub(k.CreatedAt)),
		Scope:       strings.Join(credential.ScopeStrings(k.Scopes), " "),
	}
}

// assert signs an assertion with the registration's current claims.
func (s *Service) assert(r Registration, epoch int64, now time.Time) (string, error) {
	return s.Signer.Sign(assertion.Claims{
		Registration: r.ID,
		Type:         string(r.Kind),
		Phase:        r.phase(),
		Scopes:       credential.ScopeStrings(r.scopes()),
		Generation:   r.Generation,
		Workspace:    r.Workspace,
		Epoch:        epoch,
		IssuedAt:     now,
		ExpiresAt:    r.ExpiresAt,
	})
}

// record returns an event about a registration.
func record(
	r Registration,
	w id.Workspace,
	at time.Time,
	a event.Action,
	by event.Actor,
	requestID string,
) event.Event {
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

// change returns the change that commits a step.
func change(was Registration, st step, at time.Time) Change {
	return Change{
		Was:  was,
		To:   st.to,
		Ends: slices.Clone(st.ends),
		At:   at,
	}
}
