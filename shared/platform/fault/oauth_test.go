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
