package fault_test

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
)

// kinds is the table of the contract: what a caller can do about each code.
var kinds = map[fault.Code]fault.Kind{
	"api_key_not_found":                fault.KindNotFound,
	"api_key_revoked":                  fault.KindConflict,
	"artifact_not_found":               fault.KindNotFound,
	"database_unavailable":             fault.KindUnavailable,
	"draft_revision_conflict":          fault.KindConflict,
	"entrypoint_not_in_revision":       fault.KindUnprocessable,
	"ephemeral_provision_rate_limited": fault.KindLimited,
	"ephemeral_provision_unavailable":  fault.KindUnavailable,
	"file_count_cap_exceeded":          fault.KindInvalid,
	"file_size_cap_exceeded":           fault.KindInvalid,
	"forbidden":                        fault.KindForbidden,
	"idempotency_in_flight":            fault.KindConflict,
	"internal_error":                   fault.KindInternal,
	"invalid_auth":                     fault.KindInvalid,
	"invalid_content_length":           fault.KindInvalid,
	"invalid_cursor":                   fault.KindInvalid,
	"invalid_idempotency_key":          fault.KindInvalid,
	"invalid_request":                  fault.KindInvalid,
	"not_authenticated":                fault.KindUnauthenticated,
	"not_found":                        fault.KindNotFound,
	"patch_conflict":                   fault.KindUnprocessable,
	"feedback_conflict":                fault.KindConflict,
	"pinned_artifact_cap_exceeded":     fault.KindConflict,
	"pow_invalid":                      fault.KindInvalid,
	"pow_required":                     fault.KindUnauthenticated,
	"rate_limited_actor":               fault.KindLimited,
	"rate_limited_artifact":            fault.KindLimited,
	"rate_limited_workspace":           fault.KindLimited,
	"revision_ceiling_exceeded":        fault.KindLimited,
	"revision_retained":                fault.KindGone,
	"revision_size_cap_exceeded":       fault.KindInvalid,
	"revision_unpublished":             fault.KindNotFound,
	"storage_unavailable":              fault.KindUnavailable,
	"unexpected_upload_object":         fault.KindConflict,
	"upload_incomplete":                fault.KindConflict,
	"upload_session_expired":           fault.KindConflict,
	"upload_session_not_found":         fault.KindNotFound,
	"usage_policy_exceeded":            fault.KindLimited,
	"write_allowance_exceeded":         fault.KindLimited,
}

func TestEveryCodeHasItsKind(t *testing.T) {
	spelling := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	codes := fault.Codes()
	if len(codes) != len(kinds) {
		t.Errorf("%d codes, want %d", len(codes), len(kinds))
	}
	for _, code := range codes {
		want, known := kinds[code]
		if !known {
			t.Errorf("%s is not a code of the contract", code)
		}
		if got := code.Kind(); got != want {
			t.Errorf("%s is of kind %d, want %d", code, got, want)
		}
		if !spelling.MatchString(string(code)) {
			t.Errorf("%q is not spelled as the codes of the contract are", code)
		}
	}
}

func TestAnUnknownCodeIsInternal(t *testing.T) {
	if got := fault.Code("made_up").Kind(); got != fault.KindInternal {
		t.Errorf("kind %d, want %d", got, fault.KindInternal)
	}
}

var errCause = errors.New("connection refused")

func TestTheFaultOfAnErrorIsTheFirstInItsChain(t *testing.T) {
	inner := fault.New(fault.NotFound, "no artifact %q", "a")
	for name, tt := range map[string]struct {
		err     error
		code    fault.Code
		kind    fault.Kind
		message string
	}{
		"a fault":             {inner, fault.NotFound, fault.KindNotFound, `no artifact "a"`},
		"a wrapped fault":     {fmt.Errorf("read: %w", inner), fault.NotFound, fault.KindNotFound, `no artifact "a"`},
		"a joined fault":      {errors.Join(errCause, inner), fault.NotFound, fault.KindNotFound, `no artifact "a"`},
		"a fault as cause":    {fault.Wrap(fault.Forbidden, inner, "no"), fault.Forbidden, fault.KindForbidden, "no"},
		"a code alone":        {fault.NewCode(fault.Forbidden), fault.Forbidden, fault.KindForbidden, "forbidden"},
		"an unclassified one": {errCause, fault.Internal, fault.KindInternal, "internal_error"},
		"an OAuth error": {
			fault.NewOAuth(fault.OAuthInvalidGrant, "secret"), fault.Internal, fault.KindInternal, "internal_error",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := fault.Of(tt.err)
			if got.Code != tt.code || fault.CodeOf(tt.err) != tt.code || fault.KindOf(tt.err) != tt.kind {
				t.Errorf("%s and %s of kind %d, want %s of kind %d",
					got.Code, fault.CodeOf(tt.err), fault.KindOf(tt.err), tt.code, tt.kind)
			}
			if got.Message != tt.message {
				t.Errorf("shows %q, want %q", got.Message, tt.message)
			}
		})
	}
}

func TestNoErrorHasNoCode(t *testing.T) {
	if got := fault.CodeOf(nil); got != "" {
		t.Errorf("code %q", got)
	}
}

func TestAnErrorIsLoggedWithItsCause(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"a message":           {fault.New(fault.NotFound, "no artifact"), "not_found: no artifact"},
		"a code is not twice": {fault.NewCode(fault.NotFound), "not_found"},
		"a cause": {
			fault.Wrap(fault.DatabaseUnavailable, errCause, "try again"),
			"database_unavailable: try again: connection refused",
		},
		"a code with a cause": {
			fault.Of(errCause),
			"internal_error: connection refused",
		},
		"an OAuth error": {fault.NewOAuth(fault.OAuthInvalidGrant, "used %d times", 2), "invalid_grant: used 2 times"},
		"an OAuth error with a cause": {
			fault.NewOAuth(fault.OAuthServerError, "try again").WithCause(errCause),
			"server_error: try again: connection refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestACauseIsFoundButNotShown(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		shown string
	}{
		"wrapped":      {fault.Wrap(fault.StorageUnavailable, errCause, "try again"), "try again"},
		"unclassified": {fault.Of(fmt.Errorf("put: %w", errCause)), "internal_error"},
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(tt.err, errCause) {
				t.Error("the cause is lost")
			}
			if got := fault.Of(tt.err).Message; got != tt.shown {
				t.Errorf("shows %q, want %q", got, tt.shown)
			}
		})
	}
	if err := errors.Unwrap(fault.New(fault.NotFound, "no")); err != nil {
		t.Errorf("a fault without a cause wraps %v", err)
	}
}

func TestAWaitIsThatOfTheCopyAlone(t *testing.T) {
	f := fault.Wrap(fault.RateLimitedActor, errCause, "too many")
	later := f.After(time.Minute)
	if later.RetryAfter != time.Minute || f.RetryAfter != 0 {
		t.Errorf("waits %v, and %v in the original", later.RetryAfter, f.RetryAfter)
	}
	if later.Code != f.Code || later.Message != f.Message || !errors.Is(later, errCause) {
		t.Errorf("the copy is %v, want %v", later, f)
	}

	r := fault.NewOAuth(fault.OAuthSlowDown, "too many").WithCause(errCause)
	limited := r.AsRateLimited(time.Minute)
	if limited.RetryAfter != time.Minute || !limited.Limited || r.RetryAfter != 0 || r.Limited {
		t.Errorf("the copy is %+v of %+v", limited, r)
	}
	if limited.Code != r.Code || limited.Description != r.Description || !errors.Is(limited, errCause) {
		t.Errorf("the copy is %v, want %v", limited, r)
	}
	if later := r.After(time.Second); later.RetryAfter != time.Second || later.Limited {
		t.Errorf("a wait alone makes %+v", later)
	}
}

func TestTheOAuthErrorOfAnError(t *testing.T) {
	const wait = 7 * time.Second
	for name, tt := range map[string]struct {
		err         error
		code        fault.OAuthCode
		description string
		retryAfter  time.Duration
		limited     bool
	}{
		"its own, wrapped": {
			fmt.Errorf("token: %w", fault.NewOAuth(fault.OAuthInvalidGrant, "used").After(wait)),
			"invalid_grant", "used", wait, false,
		},
		"an invalid request": {fault.New(fault.InvalidRequest, "no title"), "invalid_request", "no title", 0, false},
		"a missing item":     {fault.New(fault.NotFound, "no client"), "invalid_request", "no client", 0, false},
		"a limit": {
			fault.New(fault.RateLimitedActor, "too many").After(wait), "slow_down", "too many", wait, true,
		},
		"an unavailable store": {
			fault.Wrap(fault.DatabaseUnavailable, errCause, "table core").After(wait),
			"server_error", "a part of this service does not answer; try again in a moment", wait, false,
		},
		"an unclassified error": {
			errCause, "server_error", "something went wrong on our side; try again", 0, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := fault.OAuthErrorOf(tt.err)
			if got.Code != tt.code || got.Description != tt.description {
				t.Errorf("%s: %q, want %s: %q", got.Code, got.Description, tt.code, tt.description)
			}
			if got.RetryAfter != tt.retryAfter || got.Limited != tt.limited {
				t.Errorf("waits %v, limited %v; want %v, %v", got.RetryAfter, got.Limited, tt.retryAfter, tt.limited)
			}
		})
	}
}

func TestAConvertedErrorKeepsItsCause(t *testing.T) {
	for _, err := range []error{
		errCause,
		fault.Wrap(fault.StorageUnavailable, errCause, "try again"),
		fault.Wrap(fault.RateLimitedActor, errCause, "too many"),
		fault.Wrap(fault.InvalidRequest, errCause, "no title"),
	} {
		if !errors.Is(fault.OAuthErrorOf(err), errCause) {
			t.Errorf("%v loses its cause", err)
		}
	}
}

func TestACauseIsThatOfTheCopyAlone(t *testing.T) {
	r := fault.NewOAuth(fault.OAuthServerError, "try again")
	if !errors.Is(r.WithCause(errCause), errCause) {
		t.Error("the cause is lost")
	}
	if errors.Unwrap(r) != nil {
		t.Error("the original has the cause too")
	}
}
