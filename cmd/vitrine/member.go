package main

import (
	"context"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/fault"
)

// member returns the client that acts for the person of the stored login, with a new access token. It ignores an API
// key in the environment, which does not act for a person, and notes that only a person may do what verb says.
func (a *app) member(ctx context.Context, verb string) (*client.Member, error) {
	if a.env(envKey) != "" {
		a.screen.Note("VITRINE_API_KEY is ignored: only a person may %s, with the stored login", verb)
	}
	server, err := a.server()
	if err != nil {
		return nil, err
	}
	logins := a.vault()
	if stored := logins.Load(server); stored == nil || stored.RefreshToken == "" {
		return nil, failure.New(failure.Auth, fault.NotAuthenticated, "this needs a login; an API key is not enough").
			Advise("Sign in with vitrine login, or with vitrine login --device-code without a browser.")
	}
	deployment, err := a.discover(ctx)
	if err != nil {
		return nil, err
	}
	authority, err := deployment.Authority(ctx)
	if err != nil {
		return nil, err
	}
	access, err := logins.AccessToken(ctx, server,
		func(ctx context.Context, r vault.Record) (access, next secret.Text, err error) {
			if err := checkHosts(&r, deployment); err != nil {
				return "", "", err
			}
			tokens, err := authority.Refresh(ctx, r.RefreshToken)
			return tokens.Access, tokens.Refresh, err
		})
	if err != nil {
		return nil, err
	}
	return deployment.As(access), nil
}

// signInAgain adds a hint to the refusal of a person's access token.
func signInAgain(err error) error {
	if f := failure.Of(err); err != nil && f.Exit == failure.Auth {
		_ = f.Advise("Sign in again: vitrine login.") // f points into err
	}
	return err
}

// signInFresh adds a hint to a refusal that asks for a fresh sign-in.
func signInFresh(err error) error {
	if f := failure.Of(err); f.Exit == failure.Auth {
		_ = f.Advise("Sign in with vitrine login --fresh, then run the command again within 15 minutes.") // f points into err
	}
	return err
}
