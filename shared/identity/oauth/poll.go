package oauth

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// poll returns the person's answer to a polling device, and issues the grant of an approval once.
func (s *Server) poll(ctx context.Context, t TokenRequest) (contract.Token, error) {
	if t.DeviceCode == "" {
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidRequest, "send device_code")
	}
	token, f, err := lookUp(ctx, s, t, t.DeviceCode, credential.DeviceCode, s.Polls.Flow)
	if err != nil {
		return contract.Token{}, err
	}
	if !token.Matches(f.Hash, s.Peppers) || string(f.Client) != t.ClientID {
		return contract.Token{}, errInvalidGrant()
	}
	now := s.Now()
	switch {
	case f.Answer == Redeemed:
		return contract.Token{}, errInvalidGrant()
	case f.Answer == Denied:
		return contract.Token{}, fault.NewOAuth(fault.OAuthAccessDenied, "the person said no")
	case !now.Before(f.ExpiresAt):
		return contract.Token{}, fault.NewOAuth(fault.OAuthExpiredToken, "nobody answered in time; begin again")
	case f.Answer == Pending:
		return contract.Token{}, s.pending(ctx, *f, now)
	}
	return s.redeemFlow(ctx, *f, t, now)
}

// redeemFlow makes the grant that a person approved.
func (s *Server) redeemFlow(ctx context.Context, f Flow, t TokenRequest, now time.Time) (contract.Token, error) {
	c := firstParty[f.Client]
	if err := checkResource(s.audienceFor(c), t.Resource); err != nil {
		return contract.Token{}, err
	}
	name := c.Name
	if f.Device != "" {
		name += " (" + f.Device + ")"
	}
	g, out := s.grant(approval{
		client:    c.ID,
		name:      name,
		member:    f.Member,
		workspace: f.Workspace,
		epoch:     f.Epoch,
		scopes:    f.Scopes,
		audience:  s.audienceFor(c),
		at:        f.SettledAt,
	}, now)
	scopes, err := s.holds(ctx, g)
	if err != nil {
		return contract.Token{}, err
	}
	out.Scope = scopeString(scopes)
	err = s.Polls.Redeem(ctx, f, g)
	if errors.Is(err, ErrGone) {
		err = errInvalidGrant()
	}
	if err != nil {
		return contract.Token{}, err
	}
	return out, nil
}

// pending returns authorization_pending, or slow_down to a device that polls too often.
func (s *Server) pending(ctx context.Context, f Flow, now time.Time) error {
	was := f
	left, wait := rate.PollBucket{Left: f.PollTokens, At: f.PolledAt}.Take(now)
	if wait == 0 {
		f.PollTokens, f.PolledAt = left.Left, left.At
		alone, err := s.Polls.RecordPoll(ctx, f, was)
		if err != nil {
			return err
		}
		if alone {
			return fault.NewOAuth(fault.OAuthAuthorizationPending, "the person has not answered yet")
		}
	}
	return fault.NewOAuth(fault.OAuthSlowDown,
		"ask less often: add five seconds to the interval").After(limits.PollInterval)
}
