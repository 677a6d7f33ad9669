package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	healthTimeout = 5 * time.Second // the hosts are in this process already
	healthAnswer  = time.Second
	healthPoll    = 10 * time.Millisecond
)

// waitHealthy returns when /healthz of the named host answers 200.
func waitHealthy(ctx context.Context, name, url string) error {
	timeout := time.After(healthTimeout)
	tick := time.NewTicker(healthPoll)
	defer tick.Stop()
	for {
		err := healthy(ctx, url+"/healthz")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout:
			return fmt.Errorf("the %s host is not healthy after %v: %w", name, healthTimeout, err)
		case <-tick.C:
		}
	}
}

func healthy(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Timeout: healthAnswer}).Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s answers %s", url, response.Status)
	}
	return errors.Join(err, response.Body.Close())
}
