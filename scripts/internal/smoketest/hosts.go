package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// deployment is the shared state of the steps: later ones use what earlier ones made.
type deployment struct {
	anyone, agent *wire.Agent
	large         []byte
	published     contract.Published

	domain         string // of the artifacts' own origins; empty: they have none
	origin, cookie string // of the published artifact
}

func (d *deployment) hosts() map[string]string {
	at := d.anyone.At
	return map[string]string{
		"api":     at.APIURL,
		"upload":  at.UploadURL,
		"content": at.ContentURL,
		"app":     at.AppURL,
		"mcp":     at.MCPURL,
	}
}

// expect sends a request without body and checks its status.
func expect(
	ctx context.Context,
	g *wire.Agent,
	status int,
	method, target string,
	headers ...string,
) (wire.Answer, error) {
	a, err := g.Do(ctx, method, target, nil, headers...)
	if err == nil && a.Status != status {
		err = fmt.Errorf("%w, not %d", unexpected{method: method, Answer: a}, status)
	}
	return a, err
}

func healthy(ctx context.Context, v *deployment) error {
	for name, origin := range v.hosts() {
		if _, err := expect(ctx, v.anyone, http.StatusOK, "GET", origin+"/healthz"); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	var err error
	v.agent, _, err = v.anyone.Provision(ctx)
	return err
}

// How a header has a value that a check wants.
var (
	is       = func(got, want string) bool { return got == want }
	begins   = strings.HasPrefix
	contains = strings.Contains
)

// wrong names the headers of an answer that do not have their values; pairs are names and values.
func wrong(a wire.Answer, has func(got, want string) bool, pairs ...string) error {
	var all []error
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := a.Header.Get(pairs[i]); !has(got, pairs[i+1]) {
			all = append(all, fmt.Errorf("%s is %q, wanted %q", pairs[i], got, pairs[i+1]))
		}
	}
	return errors.Join(all...)
}

func headers(ctx context.Context, v *deployment) error {
	var all []error
	for name, origin := range v.hosts() {
		a, err := v.anyone.Do(ctx, "GET", origin+"/no-such-page", nil, "X-Request-Id", "smoke-test-1")
		if err != nil {
			return err
		}
		err = errors.Join(
			wrong(a, is, "X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY"),
			wrong(a, is, "Cross-Origin-Opener-Policy", "same-origin", "X-Request-Id", "smoke-test-1"),
			// The names that it covers are an option of the deployment.
			wrong(a, begins, "Strict-Transport-Security", "max-age=31536000"),
			wrong(a, contains, "Permissions-Policy", "camera=()"),
		)
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

func challenge(ctx context.Context, v *deployment) error {
	at := v.anyone.At
	for _, c := range []struct{ method, target, metadata string }{
		{"GET", at.APIURL + "/v1/whoami", at.APIURL},
		{"POST", at.UploadURL + "/v1/upload-sessions", at.APIURL},
		{"POST", at.MCPURL + "/", at.MCPURL},
	} {
		a, err := expect(ctx, v.anyone, http.StatusUnauthorized, c.method, c.target)
		if err != nil {
			return fmt.Errorf("%s: %w", c.target, err)
		}
		named := fmt.Sprintf("resource_metadata=%q", c.metadata+resourceMetadata)
		const header = "WWW-Authenticate"
		if err := errors.Join(wrong(a, begins, header, "Bearer "), wrong(a, contains, header, named)); err != nil {
			return fmt.Errorf("%s: %w", c.target, err)
		}
	}
	return nil
}

const resourceMetadata = "/.well-known/oauth-protected-resource"

// metadata follows what the MCP host tells a client that knows its address alone.
func metadata(ctx context.Context, v *deployment) error {
	at := v.anyone.At
	var told struct {
		Endpoint             string
		Resource             string
		AuthorizationServers []string `json:"authorization_servers"`
	}
	for _, target := range []string{at.MCPURL + "/", at.MCPURL + resourceMetadata} {
		a, err := expect(ctx, v.anyone, http.StatusOK, "GET", target)
		if err == nil {
			err = json.Unmarshal(a.Body, &told)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	if told.Endpoint != at.MCPURL || told.Resource != at.MCPURL ||
		!slices.Equal(told.AuthorizationServers, []string{at.APIURL}) {
		return fmt.Errorf("it names the endpoint %q, the resource %q and the authorization servers %q", told.Endpoint,
			told.Resource, told.AuthorizationServers)
	}
	return nil
}

func unknown(ctx context.Context, v *deployment) error {
	at := v.anyone.At
	for _, target := range []string{at.APIURL, at.UploadURL, at.ContentURL, at.MCPURL} {
		for _, method := range []string{"GET", "OPTIONS", "PUT"} {
			a, err := expect(ctx, v.anyone, http.StatusNotFound, method, target+"/v1/whoami/")
			if err != nil {
				return fmt.Errorf("%s: %w", target, err)
			}
			if a.Code() != fault.NotFound {
				return fmt.Errorf("%s %s answers %.100s", method, target, a.Body)
			}
		}
	}
	return nil
}
