package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// limit spends the credential's budget and returns after the Retry-After.
func limit(ctx context.Context, v *deployment) error {
	target := v.anyone.At.APIURL + "/v1/whoami"
	a, err := expect(ctx, v.agent, http.StatusOK, "GET", target)
	if err != nil {
		return err
	}
	var me contract.Whoami
	if err := json.Unmarshal(a.Body, &me); err != nil {
		return err
	}
	most := 2 * me.UsagePolicy.ActorRateLimitPerMinute // a window may end in between
	for n := 0; a.Status == http.StatusOK; n++ {
		if n > most {
			return fmt.Errorf("%d requests pass although %d a minute are allowed", n, me.UsagePolicy.ActorRateLimitPerMinute)
		}
		if a, err = v.agent.Do(ctx, "GET", target, nil); err != nil {
			return err
		}
	}
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if a.Status != http.StatusTooManyRequests || a.Code() != fault.RateLimitedActor || err != nil || wait < 1 ||
		wait > 60 {
		return fmt.Errorf("over the limit: %d %s, Retry-After %q", a.Status, a.Code(), a.Header.Get("Retry-After"))
	}
	fmt.Printf("      waiting the %d s that Retry-After says\n", wait)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(wait) * time.Second):
	}
	_, err = expect(ctx, v.agent, http.StatusOK, "GET", target)
	return err
}

func revocation(ctx context.Context, v *deployment) error {
	if _, err := expect(ctx, v.agent, http.StatusOK, "POST",
		v.anyone.At.APIURL+"/v1/api-keys/current/revoke"); err != nil {
		return err
	}
	if a, err := v.agent.Do(ctx, "GET", v.anyone.At.APIURL+"/v1/whoami", nil); err != nil ||
		a.Status != http.StatusUnauthorized {
		return errors.Join(err, fmt.Errorf("the revoked key gets %d", a.Status))
	}
	return nil
}
