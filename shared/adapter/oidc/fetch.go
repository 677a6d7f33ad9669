package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/platform/limits"
)

const (
	maxHeader      = 64 << 10
	minFresh       = 10 * time.Minute // lower bound, even if the provider says less
	maxFresh       = limits.Day
	maxStale       = limits.Day      // how long a stale value is used while it cannot be replaced
	retryEvery     = time.Minute     // between attempts to replace a stale value
	refreshTimeout = 1 * time.Second // for replacing a value that is still usable
)

// cached holds one public value of the provider.
type cached[T any] struct {
	now   func() time.Time
	fetch func(ctx context.Context) (T, time.Duration, error)

	lock    chan struct{} // a token that guards the other fields; a channel, so that waiting can end with a context
	value   T
	fetched time.Time // zero: never
	fresh   time.Duration
	tried   time.Time // start of the last attempt
}

func newCached[T any](now func() time.Time, fetch func(context.Context) (T, time.Duration, error)) *cached[T] {
	return &cached[T]{now: now, fetch: fetch, lock: make(chan struct{}, 1)}
}

// get returns the value. It fetches the value if there is none, if it is stale, or if it is not enough for the caller.
// It refetches a usable value at most once in retryEvery. If a stale value cannot be replaced, get returns it for
// another maxStale. So a caller may get a value that is not enough.
func (c *cached[T]) get(ctx context.Context, enough func(T) bool) (T, error) {
	if err := c.enter(ctx); err != nil {
		var none T
		return none, err
	}
	defer c.leave()
	now := c.now()
	stale := c.fetched.Add(c.fresh)
	serves := !c.fetched.IsZero() && now.Before(stale.Add(maxStale))
	suffices := serves && enough(c.value)
	// A recent attempt is not repeated even if its value does not suffice. Otherwise every token with an unknown key ID
	// would cause a request to the provider.
	if suffices && now.Before(stale) || serves && c.recent(now) {
		return c.value, nil
	}
	timeout := limits.ProviderTimeout
	if suffices {
		timeout = refreshTimeout
	}
	err := c.replace(ctx, now, timeout)
	if suffices {
		// The caller has what it needs; a failed replacement is tried again later.
		err = nil
	}
	return c.value, err
}

// anyDocument accepts every document. It is for callers without a requirement of their own.
func anyDocument(document) bool { return true }

func (c *cached[T]) recent(now time.Time) bool {
	return !c.tried.IsZero() && now.Sub(c.tried).Abs() < retryEvery
}

func (c *cached[T]) replace(ctx context.Context, now time.Time, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c.tried = now
	value, fresh, err := c.fetch(ctx)
	if err != nil {
		return err
	}
	c.value = value
	c.fetched = now
	c.fresh = min(max(fresh, minFresh), maxFresh)
	return nil
}

// enter takes the lock. It fails when ctx ends first.
func (c *cached[T]) enter(ctx context.Context) error {
	select {
	case c.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cached[T]) leave() { <-c.lock }

// read fetches a JSON document and returns how long it stays fresh.
func (p *Provider) read(ctx context.Context, from string, into any) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s answers %d", from, response.StatusCode)
	}
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	return maxAge(response.Header.Get("Cache-Control")), json.Unmarshal(data, into)
}

var maxAges = regexp.MustCompile(`(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])`)

// maxAge returns the max-age of a Cache-Control header; zero if it has none.
func maxAge(header string) time.Duration {
	m := maxAges.FindStringSubmatch(strings.ToLower(header))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return time.Duration(n) * time.Second
}

// limitedTransport makes reading an answer fail if it is too long.
type limitedTransport struct{ next http.RoundTripper }

func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err == nil {
		response.Body = &limitedBody{response.Body, limits.ProviderAnswer}
	}
	return response, err
}

type limitedBody struct {
	io.ReadCloser
	left int
}

var errLong = errors.New("the answer is too long")

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errLong
	}
	p = p[:min(len(p), b.left+1)] // one byte beyond the limit reveals that there is more
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errLong
	}
	return n, err
}
