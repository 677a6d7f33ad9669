// Package client is the HTTP client of a deployment: discovery, the calls of a publish, and the file uploads.
//
// Its errors are failures that may be shown: they contain no signed URL, no token and no key.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/id"
)

// Timeouts of one attempt. A file has its own deadline, which depends on its size.
const (
	connectTimeout = 10 * time.Second
	headerTimeout  = 30 * time.Second
	callTimeout    = 60 * time.Second
)

// maxAnswer bounds the body of a response in bytes. The largest responses are text files as JSON. A session of 2,000
// files takes at most 5.5 MB.
const maxAnswer = 16 << 20

// Caller makes the calls of one invocation of the program.
type Caller struct {
	HTTP      *http.Client
	UserAgent string
	RequestID string // sent with every call, 8 to 128 visible ASCII characters
	Patience  RetryPolicy
	PlainHTTP bool // allows plain HTTP to other machines
	// Note tells the person what the client is waiting for.
	Note func(format string, args ...any)
}

// NewHTTP returns a client that never follows a redirect, because a bearer token must not be sent to another address.
func NewHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment,
			OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
				if resp.StatusCode != http.StatusOK {
					return ProxyRefusal{resp.Status}
				}
				return nil
			},
			DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSHandshakeTimeout:   connectTimeout,
			ResponseHeaderTimeout: headerTimeout,
			IdleConnTimeout:       90 * time.Second,
			MaxIdleConnsPerHost:   Parallel,
			ForceAttemptHTTP2:     true,
			DisableCompression:    true, // an upload must carry exactly the headers that were signed
		},
		CheckRedirect: stay,
	}
}

// ProxyRefusal is the error of a proxy that does not connect to the host of a request.
type ProxyRefusal struct{ Status string }

func (e ProxyRefusal) Error() string { return "the proxy answers " + e.Status }

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// call is one request to the api or upload host.
type call struct {
	method string
	host   string // origin, with a path if the deployment has one
	path   string
	bearer string // "" for none
	idem   string // Idempotency-Key; "" for none
	known  string // If-None-Match; "" for none
	body   any    // encoded as JSON; nil for none
	about  subject

	artifact id.Artifact // the artifact that a publish changes; for hints
}

// Unchanged is the error of a read whose answer the caller knows.
type Unchanged struct {
	Wait time.Duration // before the next one; zero: the server does not say
}

func (Unchanged) Error() string { return "the answer has not changed" }

// do makes a call, retries it within the limits of Patience, and decodes the response into out.
func (c *Caller) do(ctx context.Context, k call, out any) error {
	return c.retry(ctx, func(ctx context.Context) error { return c.once(ctx, k, out) })
}

func (c *Caller) once(ctx context.Context, k call, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := c.request(ctx, k)
	if err != nil {
		return err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return c.unreachable(ctx, k.host, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.unreachable(ctx, k.host, err)
	}
	if resp.StatusCode == http.StatusNotModified && k.known != "" {
		return Unchanged{retryAfter(resp.Header)}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.refused(k, resp, text)
	}
	if len(text) > maxAnswer {
		return c.badResponse(k.host, "it is larger than %d MiB", maxAnswer>>20)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return c.badResponse(k.host, "it is not JSON of the expected form")
	}
	return nil
}

func (c *Caller) request(ctx context.Context, k call) (*http.Request, error) {
	if err := c.encrypted(k.host); err != nil {
		return nil, err
	}
	var body io.Reader
	if k.body != nil {
		text, err := json.Marshal(k.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, k.host+k.path, body)
	if err != nil {
		return nil, unwrapURLError(err)
	}
	c.setHeaders(req)
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if k.idem != "" {
		req.Header.Set("Idempotency-Key", k.idem)
	}
	if k.known != "" {
		req.Header.Set("If-None-Match", k.known)
	}
	if k.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+k.bearer)
	}
	return req, nil
}

// setHeaders sets the headers of every call.
func (c *Caller) setHeaders(req *http.Request) {
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.UserAgent)
	req.Header.Set("X-Request-Id", c.RequestID)
}

// Probe gets an address once, without a credential. Its error is that of net/http, whose text may have the address.
func (c *Caller) Probe(ctx context.Context, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	c.setHeaders(req)
	return c.HTTP.Do(req)
}

// unreachable returns the failure of a call without a response. If the command was cancelled, it returns
// context.Canceled.
func (c *Caller) unreachable(ctx context.Context, host string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	why := unwrapURLError(err)
	f := failure.New(failure.Server, failure.Network, "no response from %s: %v", origin(host), why).
		Advise("vitrine doctor finds out why; VITRINE_URL says where the server is.")
	if timeout, ok := errors.AsType[net.Error](why); ok && timeout.Timeout() {
		f.Message = "no response from " + origin(host) + " in time"
	}
	f.RequestID, f.Transient = c.RequestID, true
	return f
}

// badResponse returns the failure of a successful response that cannot be used.
func (c *Caller) badResponse(host, format string, args ...any) error {
	f := failure.New(failure.Other, failure.BadResponse, "cannot use the response of %s: "+
		format, append([]any{origin(host)}, args...)...).
		Advise("Check that VITRINE_URL names a Vitrine server, and that server and CLI have similar versions.")
	f.RequestID = c.RequestID
	return f
}

// unwrapURLError removes the wrapping of net/http, because its text contains the URL, and with it tokens and
// signatures.
func unwrapURLError(err error) error {
	for {
		wrapped, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = wrapped.Err
	}
}

// origin returns the part of a URL that may be shown.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	return u.Scheme + "://" + u.Host
}

// retryAfter parses the Retry-After header: decimal seconds. It returns zero for any other form.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
