package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"vitrine/scripts/testkit/wire"
)

func httpClient() *http.Client {
	const connections = 128
	return &http.Client{Transport: &http.Transport{
		MaxIdleConns:          connections,
		MaxIdleConnsPerHost:   connections,
		IdleConnTimeout:       time.Minute,
		ResponseHeaderTimeout: time.Minute, // many users on a busy machine
		ForceAttemptHTTP2:     true,
	}}
}

// staying is a client that follows no redirect.
func staying(g *wire.Agent) *wire.Agent {
	plain, client := *g, *g.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	plain.HTTP = &client
	return &plain
}

// command among the headers of a request stands for an Idempotency-Key, a fresh one each time.
const command = "Idempotency-Key"

// call makes a request whose answer has this status. A path is one of the api host; url.Values are sent as a form.
func call(
	ctx context.Context, g *wire.Agent, status int, method, target string, body any, headers ...string,
) (wire.Answer, error) {
	if strings.HasPrefix(target, "/") {
		target = g.At.APIURL + target
	}
	if form, ok := body.(url.Values); ok {
		body, headers = form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")
	}
	if len(headers) == 1 && headers[0] == command {
		headers = []string{command, wire.NewKey()}
	}
	a, err := g.Do(ctx, method, target, body, headers...)
	if err == nil && a.Status != status {
		path, _, _ := strings.Cut(target, "?")
		err = &wire.Refused{Answer: a, Asked: method + " " + path}
	}
	return a, err
}

// answered unpacks an answer.
func answered[T any](a wire.Answer, err error) (out T, _ error) {
	if err == nil {
		err = json.Unmarshal(a.Body, &out)
	}
	return out, err
}

// asking makes a request again and again.
func asking(g *wire.Agent, status int, method, target string, body any, headers ...string) operation {
	return func(ctx context.Context, _ int) error {
		_, err := call(ctx, g, status, method, target, body, headers...)
		return err
	}
}

// getting reads again and again.
func getting(g *wire.Agent, target string) operation {
	return asking(g, http.StatusOK, "GET", target, nil)
}

// fetching reads a URL and throws the bytes away when there are as many as expected.
func fetching(client *http.Client, target string, size int64, headers ...string) operation {
	return func(ctx context.Context, _ int) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		if err != nil {
			return err
		}
		for pair := range slices.Chunk(headers, 2) {
			r.Header.Set(pair[0], pair[1])
		}
		r.Host = r.Header.Get("Host")
		resp, err := client.Do(r)
		if u := (*url.Error)(nil); errors.As(err, &u) {
			return fmt.Errorf("%s: %w", u.Op, u.Err) // without the URL, which may be a credential
		}
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", r.URL.Host, resp.Status)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil && n != size {
			err = fmt.Errorf("%d bytes came, expected %d", n, size)
		}
		return err
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
