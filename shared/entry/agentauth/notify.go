package agentauth

import (
	"context"
	"errors"
	"net/netip"

	"vitrine/shared/identity/delegation"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
)

// Revocations ends delegations on behalf of their provider.
type Revocations interface {
	// Revoke ends the delegation of a principal, once for each token. It fails with delegation.ErrReplayed if another
	// token with the same id was used.
	Revoke(ctx context.Context, p delegation.Principal, by delegation.Proof, requestID string) error
}

// Notify processes a security event of a provider. An event by which the provider no longer vouches for a person ends
// the person's delegation, and with it all registrations and access tokens. The same event again has no effect. Notify
// accepts and ignores other events.
func (s *Service) Notify(ctx context.Context, token string, from netip.Addr, requestID string) error {
	if s.Providers == nil {
		return s.RefuseProvider(ctx, from)
	}
	subject := address.Subject(from, s.Peppers)
	if err := s.Limiter.Check(ctx, s.Failures, s.Limits.EventFailure, subject); err != nil {
		return err
	}
	e, err := s.Providers.Event(ctx, token)
	if err != nil {
		return s.countRefused(ctx, subject, err)
	}
	s.trace(ctx, e.Issuer, e.KeyID)
	if err := s.Limiter.Take(ctx, s.Limits.Event, string(delegation.Principal{Issuer: e.Issuer}.ID())); err != nil {
		return err
	}
	proof := delegation.Proof{
		Kind:     delegation.Event,
		Issuer:   e.Issuer,
		ID:       e.ID,
		Digest:   e.Digest,
		IssuedAt: e.IssuedAt,
		Until:    e.Expires.Add(proofSlack),
	}
	if e.Revoked {
		p := delegation.Principal{Issuer: e.Issuer, Subject: e.Subject, Audience: e.Audience}
		err = s.Revocations.Revoke(ctx, p, proof, requestID)
	} else if err = s.Delegations.Use(ctx, proof); errors.Is(err, delegation.ErrRepeated) {
		err = nil
	}
	if errors.Is(err, delegation.ErrReplayed) {
		err = fault.NewOAuth(fault.OAuthReplayDetected, "another event of this issuer had the same jti")
	}
	return err
}

// countRefused counts a refused event as a failure of its address, and returns the answer. It does not count a provider
// whose keys could not be read, because the address did not cause that.
func (s *Service) countRefused(ctx context.Context, subject string, refused error) error {
	switch fault.OAuthErrorOf(refused).Code {
	case fault.OAuthServerError, fault.OAuthTemporarilyUnavailable:
		return refused
	}
	if err := s.Limiter.Take(ctx, s.Limits.EventFailure, subject); err != nil {
		return err
	}
	return refused
}
