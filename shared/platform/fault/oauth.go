package fault

import (
	"errors"
	"fmt"
	"time"
)

// OAuthCode is an error code of the authorization server: RFC 6749, RFC 8628, RFC 8693 and agent registration.
type OAuthCode string

// The codes of the token, claim, device, registration and revocation endpoints.
const (
	OAuthInvalidRequest         OAuthCode = "invalid_request"
	OAuthInvalidClient          OAuthCode = "invalid_client"
	OAuthInvalidGrant           OAuthCode = "invalid_grant"
	OAuthUnauthorizedClient     OAuthCode = "unauthorized_client"
	OAuthUnsupportedGrant       OAuthCode = "unsupported_grant_type"
	OAuthInvalidScope           OAuthCode = "invalid_scope"
	OAuthInvalidTarget          OAuthCode = "invalid_target"
	OAuthAuthorizationPending   OAuthCode = "authorization_pending"
	OAuthSlowDown               OAuthCode = "slow_down"
	OAuthAccessDenied           OAuthCode = "access_denied"
	OAuthExpiredToken           OAuthCode = "expired_token"
	OAuthInvalidRedirect        OAuthCode = "invalid_redirect_uri"
	OAuthInvalidMetadata        OAuthCode = "invalid_client_metadata"
	OAuthUnsupportedResponse    OAuthCode = "unsupported_response_type"
	OAuthProvisionRateLimited   OAuthCode = "ephemeral_provision_rate_limited"
	OAuthProvisionUnavailable   OAuthCode = "ephemeral_provision_unavailable"
	OAuthTemporarilyUnavailable OAuthCode = "temporarily_unavailable" // not configured, or a provider's keys are missing
	// the store or the provider is unavailable, or the service has a bug
	OAuthServerError OAuthCode = "server_error"
)

// The codes of refusals of assertions and security events, which identity providers make.
const (
	OAuthReplayDetected       OAuthCode = "replay_detected"
	OAuthInvalidIssuer        OAuthCode = "invalid_issuer"
	OAuthInvalidSignature     OAuthCode = "invalid_signature"
	OAuthInvalidAudience      OAuthCode = "invalid_audience"
	OAuthExpired              OAuthCode = "expired"
	OAuthInvalidClientID      OAuthCode = "invalid_client_id"
	OAuthMissingEmail         OAuthCode = "missing_verified_email"
	OAuthLoginRequired        OAuthCode = "login_required"
	OAuthInteractionRequired  OAuthCode = "interaction_required"
	OAuthInvalidKey           OAuthCode = "invalid_key"           // RFC 8935, in err
	OAuthAuthenticationFailed OAuthCode = "authentication_failed" // RFC 8935, in err
)

// OAuthError is a failure of the authorization server: {error, error_description}, not the envelope.
type OAuthError struct {
	Code OAuthCode
	// Description is shown to people and agents. It holds no secret, no internal detail and no URL but an origin of the
	// deployment.
	Description string
	// RetryAfter is how long to wait before trying again; zero sends no header.
	RetryAfter time.Duration
	// MaxAge is how long ago the person may have signed in, with OAuthLoginRequired.
	MaxAge time.Duration
	// Limited makes the status 429 instead of the code's own, because the caller sent too many requests.
	Limited bool

	cause error
}

// NewOAuth makes a refusal with a description for the caller.
func NewOAuth(code OAuthCode, format string, args ...any) *OAuthError {
	return &OAuthError{Code: code, Description: fmt.Sprintf(format, args...)}
}

// After returns a copy of e with a Retry-After.
func (e *OAuthError) After(wait time.Duration) *OAuthError {
	s := *e
	s.RetryAfter = wait
	return &s
}

// AsRateLimited returns a copy of e that answers 429 with a Retry-After.
func (e *OAuthError) AsRateLimited(wait time.Duration) *OAuthError {
	s := e.After(wait)
	s.Limited = true
	return s
}

// WithCause returns a copy of e with a cause that is logged but not shown.
func (e *OAuthError) WithCause(cause error) *OAuthError {
	s := *e
	s.cause = cause
	return &s
}

// Error joins code, description and cause; it is for logs.
func (e *OAuthError) Error() string {
	s := string(e.Code) + ": " + e.Description
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

// Unwrap returns the hidden cause.
func (e *OAuthError) Unwrap() error { return e.cause }

// OAuthErrorOf finds the refusal in err, or converts its Fault. Unavailable and unclassified errors become
// server_error, limits become slow_down with status 429, and all others become invalid_request.
func OAuthErrorOf(err error) *OAuthError {
	if r, ok := errors.AsType[*OAuthError](err); ok {
		return r
	}
	f := Of(err)
	switch f.Code.Kind() {
	case KindInternal:
		return NewOAuth(OAuthServerError, "something went wrong on our side; try again").WithCause(err)
	case KindUnavailable:
		return NewOAuth(OAuthServerError, "a part of this service does not answer; try again in a moment").
			WithCause(err).After(f.RetryAfter)
	case KindLimited:
		return NewOAuth(OAuthSlowDown, "%s", f.Message).WithCause(err).AsRateLimited(f.RetryAfter)
	}
	return NewOAuth(OAuthInvalidRequest, "%s", f.Message).WithCause(err)
}
