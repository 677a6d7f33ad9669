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
}

func (v *deployment) hosts() map[string]string {
	at := v.anyone.At
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

func headers(ctx context.Context, v *deployment) error {
	common := map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
	}
	var wrong []error
	for name, origin := range v.hosts() {
		a, err := v.anyone.Do(ctx, "GET", origin+"/no-such-page", nil, "X-Request-Id", "smoke-test-1")
		if err != nil {
			return err
		}
		for header, want := range common {
			if got := a.Header.Get(header); got != want {
				wrong = append(wrong, fmt.Errorf("%s sends %s: %q", name, header, got))
			}
		}
		// The names that it covers are an option of the deployment.
		if got := a.Header.Get("Strict-Transport-Security"); !strings.HasPrefix(got, "max-age=31536000") {
			wrong = append(wrong, fmt.Errorf("%s sends Strict-Transport-Security: %q", name, got))
		}
		if !strings.Contains(a.Header.Get("Permissions-Policy"), "camera=()") ||
			a.Header.Get("X-Request-Id") != "smoke-test-1" {
			wrong = append(wrong, fmt.Errorf("%s: Permissions-Policy %q, X-Request-Id %q", name,
				a.Header.Get("Permissions-Policy"), a.Header.Get("X-Request-Id")))
		}
	}
	return errors.Join(wrong...)
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
		got := a.Header.Get("WWW-Authenticate")
		named := fmt.Sprintf("resource_metadata=%q", c.metadata+resourceMetadata)
		if !strings.HasPrefix(got, "Bearer ") || !strings.Contains(got, named) {
			return fmt.Errorf("%s: WWW-Authenticate is %q, without %s", c.target, got, named)
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
	if told.Endpoint != at.MCPURL || told.Resource != at.MCPURL || !slices.Equal(told.AuthorizationServers, []string{at.APIURL}) {
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
