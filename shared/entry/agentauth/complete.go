package agentauth

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// lookup is a registration with the member who answers it.
type lookup struct {
	token        claim.Token
	registration Registration
	visitor      visitor
}

// meet reads the registration of an attempt token or a claim token. Every invalid token costs the same and gives a
// visitor without rights.
func (s *Service) meet(ctx context.Context, by credential.Actor, sent credential.Token, code string) (lookup, error) {
	t, r, found, err := s.registrationOf(ctx, sent)
	if err != nil {
		return lookup{}, err
	}
	known := t != nil && r != nil
	if !known {
		t, r = new(claim.Token), new(Registration)
	}
	m := lookup{token: *t, registration: *r, visitor: visitor{member: by.Member, workspace: by.Workspace.ID}}
	attempt := sent.Matches(r.Attempt.Token, s.Peppers)
	m.visitor.token = known && (found || attempt && len(r.Attempt.Token.MAC) > 0)
	m.visitor.code = s.codeFits(r.Attempt, sent.Public, code)
	return m, nil
}

// codeFits reports whether a code is that of an attempt. An attempt that does not exist costs the same.
func (s *Service) codeFits(a Attempt, claim id.Public, code string) bool {
	stored := a.Code
	if len(stored.MAC) == 0 {
		stored = s.hashCode(claim, "")
	}
	return credential.MatchesCode(stored, s.Peppers, codeUse, claim, code) && len(a.Code.MAC) > 0
}

// requireMember refuses callers who cannot accept an agent. A member needs the scopes that the agent gets: to read and
// to publish.
func (s *Service) requireMember(by credential.Actor) error {
	if by.Member == "" || by.Workspace.ClaimedAt.IsZero() {
		return fault.New(fault.NotAuthenticated, "only a member can answer an agent: sign in")
	}
	for _, sc := range scopes {
		if err := by.Require(sc); err != nil {
			return err
		}
	}
	return nil
}

// attemptOf parses the token of an attempt. A malformed text is errWrong like every other invalid token.
func (s *Service) attemptOf(text string) (credential.Token, error) {
	sent, err := credential.Parse(text, credential.ClaimAttempt, s.Environment)
	if err != nil {
		return credential.Token{}, errWrong
	}
	return sent, nil
}

// Preview returns the content of the page on which a person answers. It fails with the same invalid_request for every
// invalid token. It writes no item.
func (s *Service) Preview(ctx context.Context, by credential.Actor, attemptToken string) (Request, error) {
	if err := s.requireMember(by); err != nil {
		return Request{}, err
	}
	sent, err := s.attemptOf(attemptToken)
	if err != nil {
		return Request{}, err
	}
	m, err := s.meet(ctx, by, sent, "")
	if err != nil {
		return Request{}, err
	}
	r := m.registration
	if !r.meets(m.visitor, s.now()) {
		return Request{}, errWrong
	}
	if r.Kind == Provider {
		return Request{
			Registration: r.ID,
			CreatedAt:    r.CreatedAt,
			Network:      r.Network,
			ExpiresAt:    r.Attempt.ExpiresAt,
			Vouched:      r.Vouched,
		}, nil
	}
	shown, _, err := s.Artifacts.List(ctx, artifact.Query{Workspace: r.Workspace, Limit: limits.ClaimListed, Now: s.now()})
	if err != nil {
		return Request{}, err
	}
	out := Request{
		Registration: r.ID,
		CreatedAt:    r.CreatedAt,
		Network:      r.Network,
		ExpiresAt:    r.Attempt.ExpiresAt,
		Artifacts:    []string{},
		Count:        len(shown),
	}
	for _, a := range shown[:min(len(shown), limits.ClaimTitles)] {
		out.Artifacts = append(out.Artifacts, a.Title)
	}
	return out, nil
}

var sixDigits = regexp.MustCompile(`^[0-9]{6}$`)

// Complete accepts an agent into the caller's workspace if the code is the one that the agent shows. A wrong code
// counts against the attempt, the registration and the member.
func (s *Service) Complete(
	ctx context.Context,
	by credential.Actor,
	c contract.CompleteClaim,
) (contract.CompletedClaim, error) {
	if err := s.requireMember(by); err != nil {
		return contract.CompletedClaim{}, err
	}
	code := strings.TrimSpace(c.UserCode)
	if !sixDigits.MatchString(code) || c.AttemptToken == "" && c.ClaimToken == "" {
		return contract.CompletedClaim{}, fault.New(fault.InvalidRequest,
			"send the six digits that the agent shows, with its token")
	}
	if err := s.Limiter.Check(ctx, s.Failures, s.Limits.WrongCode, string(by.Member)); err != nil {
		return contract.CompletedClaim{}, err
	}
	sent, err := s.attemptOf(c.AttemptToken)
	if c.AttemptToken == "" {
		sent, err = credential.Parse(c.ClaimToken, credential.ClaimToken, s.Environment)
	}
	if err != nil {
		return contract.CompletedClaim{}, errWrong
	}
	var done contract.CompletedClaim
	err = race(func() error {
		m, err := s.meet(ctx, by, sent, code)
		if err != nil {
			return err
		}
		done = contract.CompletedClaim{OK: true, RegistrationID: m.registration.ID}
		return s.commitCode(ctx, by, m)
	})
	if err != nil {
		return contract.CompletedClaim{}, err
	}
	return done, nil
}

// commitCode commits the effect of a code that a person typed.
func (s *Service) commitCode(ctx context.Context, by credential.Actor, m lookup) error {
	now := s.now()
	st := m.registration.complete(m.visitor, now)
	switch {
	case st.refusal == nil && m.registration.Kind == Anonymous:
		err := s.Mover.Move(ctx, s.move(by, m, now))
		if errors.Is(err, claim.ErrGone) {
			return errWrong
		}
		return err
	case st.refusal == nil:
		return s.link(ctx, by, m.registration, st.to, now)
	case st.write:
		c := locking(m.registration, st, now, by.Event(), by.RequestID)
		if err := s.Store.Change(ctx, c); err != nil {
			return err
		}
	}
	// The member's count follows the commit, so that an attempt that loses a race and runs again counts once.
	if st.guessed {
		return cmp.Or(s.Limiter.Take(ctx, s.Limits.WrongCode, string(by.Member)), error(errWrong))
	}
	return st.refusal
}

// move returns the claim of a registration with all artifacts of its agent.
func (s *Service) move(by credential.Actor, m lookup, now time.Time) claim.Move {
	r := m.registration
	claimed := record(r, by.Workspace.ID, now, event.WorkspaceClaimed, by.Event(), by.RequestID)
	claimed.Target = event.Target{Type: event.OnWorkspace, ID: string(r.Workspace)}
	return claim.Move{
		Source:       r.Workspace,
		Destination:  by.Workspace.ID,
		Token:        m.token,
		Member:       by.Member,
		Registration: r.ID,
		Attempt:      r.Attempt.Number,
		MinExpiry:    limits.End(now, by.Workspace.Life(by.Policy)),
		At:           now,
		Events:       []event.Event{claimed, record(r, by.Workspace.ID, now, event.ClaimCompleted, by.Event(), by.RequestID)},
	}
}

// Refuse ends an attempt because the caller does not know the agent. The agent learns of it at its next poll.
func (s *Service) Refuse(ctx context.Context, by credential.Actor, attemptToken string) error {
	if err := s.requireMember(by); err != nil {
		return err
	}
	sent, err := s.attemptOf(attemptToken)
	if err != nil {
		return err
	}
	return race(func() error {
		m, err := s.meet(ctx, by, sent, "")
		if err != nil {
			return err
		}
		now := s.now()
		st := m.registration.refuse(m.visitor, now)
		if !st.write {
			return st.refusal
		}
		return s.Store.Change(ctx, locking(m.registration, st, now, by.Event(), by.RequestID))
	})
}
