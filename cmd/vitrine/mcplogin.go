package main

import (
	"context"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/loopback"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/fault"
)

// mcpLogin signs in for vitrine mcp: at the api, unless there is a login, and then at the MCP host.
func (a *app) mcpLogin(ctx context.Context) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	if err := a.signInForMCP(ctx, server); err != nil {
		return err
	}
	line := "vitrine mcp is signed in to " + server
	if a.screen.IsJSON() {
		return a.screen.Object(struct {
			SchemaVersion string `json:"schema_version"`
			Status        string `json:"status"`
			Server        string `json:"server"`
		}{schemaVersion, "logged_in", server})
	}
	return a.screen.Result(line)
}

// signInForMCP is mcpLogin without its result.
func (a *app) signInForMCP(ctx context.Context, server string) error {
	if stored := a.vault().Load(server); stored == nil || stored.Expired(a.now()) {
		if err := (&loginFlow{app: a, server: server}).run(ctx, false); err != nil {
			return err
		}
	}
	return a.signInHelper(ctx, server)
}

// signInHelper gets tokens for the MCP host by the browser and stores them. It revokes those that they replace.
func (a *app) signInHelper(ctx context.Context, server string) error {
	deployment, err := a.discover(ctx)
	if err != nil {
		return err
	}
	host, err := deployment.MCP()
	if err != nil {
		return err
	}
	if host == "" {
		return failure.New(failure.NotFound, fault.NotFound, "%s has no MCP host", server).
			Advise("vitrine publish works without one.")
	}
	authority, err := deployment.Authority(ctx)
	if err != nil {
		return err
	}
	authority = authority.Helper(host)
	return a.byBrowser(ctx, browserSignIn{
		authority: authority,
		ask:       "Open this page to let vitrine mcp act for you" + to(deployment) + ":",
		keep: func(ctx context.Context, tokens client.Tokens) error {
			old, err := a.vault().ReplaceHelper(ctx, server, &vault.Helper{
				APIURL:    deployment.Hosts.APIURL,
				MCPURL:    host,
				Access:    tokens.Access,
				Refresh:   tokens.Refresh,
				ExpiresAt: tokens.ExpiresAt,
			})
			if err == nil && old != nil && old.APIURL == deployment.Hosts.APIURL {
				_ = authority.Revoke(ctx, old.Refresh) // best effort: it also ends by itself, unused
			}
			return err
		},
		page: func(_ context.Context, err error) loopback.Page {
			if err != nil {
				return loopback.Page{Heading: "Sign-in failed", Text: screen.Scrub(failure.Of(err).Message)}
			}
			return loopback.Page{Done: true, Heading: "vitrine mcp is signed in", Text: "Start your agent's client again."}
		},
	})
}

// endHelper removes the tokens for the MCP host, and revokes them if the server answers.
func (a *app) endHelper(ctx context.Context, server string) error {
	old, err := a.vault().ReplaceHelper(ctx, server, nil)
	if err != nil || old == nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), logoutTimeout)
	defer stop()
	deployment, err := a.discover(ctx)
	if err == nil && deployment.Hosts.APIURL != old.APIURL {
		return failure.New(failure.Auth, failure.Moved, "the server now names other hosts than at the sign-in")
	}
	if err != nil {
		return err
	}
	authority, err := deployment.Authority(ctx)
	if err != nil {
		return err
	}
	return authority.Helper(old.MCPURL).Revoke(ctx, old.Refresh)
}
