package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
)

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
			err:         fmt.Errorf("token: %w", fault.NewOAuth(fault.OAuthInvalidGrant, "used").After(wait)),
			code:        "invalid_grant",
			description: "used",
			retryAfter:  wait,
		},
		"an invalid request": {
			err:         fault.New(fault.InvalidRequest, "no title"),
			code:        "invalid_request",
			description: "no title",
		},
		"a missing item": {
			err:         fault.New(fault.NotFound, "no client"),
			code:        "invalid_request",
			description: "no client",
		},
		"a limit": {
			err:         fault.New(fault.RateLimitedActor, "too many").After(wait),
			code:        "slow_down",
			description: "too many",
			retryAfter:  wait,
			limited:     true,
		},
		"an unavailable store": {
			err:         fault.Wrap(fault.DatabaseUnavailable, errCause, "table core").After(wait),
			code:        "server_error",
			description: "a part of this service does not answer; try again in a moment",
			retryAfter:  wait,
		},
		"an unclassified error": {
			err:         errCause,
			code:        "server_error",
			description: "something went wrong on our side; try again",
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
