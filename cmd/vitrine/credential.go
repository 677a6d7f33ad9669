package main

import (
	"context"
	"fmt"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/fault"
)

// source is the origin of a credential. VITRINE_API_KEY takes precedence over a stored login, even if it is refused.
type source string

const (
	fromEnvironment source = "environment"
	fromLogin       source = "login"
)

// credential is what the program authenticates with.
type credential struct {
	source source
	key    client.Key
	record *vault.Record // of a stored login
	need   purpose
}

// purpose is the hint for a missing credential. It depends on what the command needs the credential for.
type purpose string

// Hints for a missing or refused credential. Publishing works without one.
const (
	toPublish purpose = "Sign in with vitrine login, or vitrine login --device-code without a browser; " +
		"or publish without an account where the server allows it: --ephemeral."
	toAct purpose = "Sign in with vitrine login, or vitrine login --device-code without a browser; or set VITRINE_API_KEY."
)

// vault returns the stored logins of the current user.
func (a *app) vault() *vault.Vault {
	return &vault.Vault{Dir: vault.Folder(a.env), Warn: a.screen.Note, Deadline: a.keyring}
}

// server returns the address of the server in the form that its login is stored under.
func (a *app) server() (string, error) {
	base, err := a.serverAddress()
	if err != nil {
		return "", err
	}
	return client.Base(base)
}

// credential finds the credential to use. It deletes an expired login.
func (a *app) credential(ctx context.Context) (credential, standing, error) {
	server, err := a.server()
	if err != nil {
		return credential{}, nobody, err
	}
	logins := a.vault()
	stored := logins.Load(server)
	expired := stored != nil && stored.Expired(a.now())
	if text := a.env(envKey); text != "" {
		key, err := client.ParseKey(text)
		if err != nil {
			return credential{}, envMalformed, nil
		}
		if stored != nil && !expired {
			a.screen.Note("VITRINE_API_KEY is used; it takes precedence over the stored login%s", ownerOf(stored))
		}
		return credential{source: fromEnvironment, key: key}, envGiven, nil
	}
	switch {
	case stored == nil:
		return credential{}, nobody, nil
	case expired:
		return credential{record: stored}, loginExpired, a.removeExpired(ctx, logins, stored)
	}
	key, err := client.ParseKey(string(stored.APIKey))
	return credential{source: fromLogin, key: key, record: stored}, loginGiven, err
}

// removeExpired deletes a login unless another process has replaced it meanwhile.
func (a *app) removeExpired(ctx context.Context, logins *vault.Vault, old *vault.Record) error {
	_, err := logins.Update(ctx, old.BaseURL, func(now *vault.Record) (*vault.Record, error) {
		if now != nil && now.PublicID != old.PublicID {
			return now, nil
		}
		return nil, nil
	})
	if err == nil {
		a.screen.Note("The stored login%s expired on %s and was removed", ownerOf(old), day(old.ExpiresAt))
	}
	return err
}

// ownerOf names the owner of a login, if known.
func ownerOf(r *vault.Record) string {
	if r.MemberEmail == "" {
		return ""
	}
	return " of " + r.MemberEmail
}

func day(t *time.Time) string { return t.UTC().Format("2006-01-02") }

// account returns the server and the workspace of the credential.
func (a *app) account(ctx context.Context, n purpose) (*client.Account, credential, error) {
	c, state, err := a.credential(ctx)
	if c.need = n; err != nil {
		return nil, c, err
	}
	switch state {
	case envMalformed:
		_, err := client.ParseKey(a.env(envKey))
		return nil, c, err
	case nobody:
		return nil, c, failure.New(failure.Auth, fault.NotAuthenticated,
			"you are not signed in, and VITRINE_API_KEY is not set").Advise("%s", n)
	case loginExpired:
		return nil, c, failure.New(failure.Auth, fault.NotAuthenticated, "the stored login expired on %s and was removed",
			day(c.record.ExpiresAt)).
			Advise("%s", n)
	}
	account, err := a.connect(ctx, c)
	return account, c, err
}

// connect discovers the hosts for a credential. It refuses to send the key of a login to other hosts than those of the
// login.
func (a *app) connect(ctx context.Context, c credential) (*client.Account, error) {
	deployment, err := a.discover(ctx)
	if err != nil {
		return nil, err
	}
	if c.record != nil {
		if err := checkHosts(c.record, deployment); err != nil {
			return nil, err
		}
	}
	return deployment.With(c.key), nil
}

// checkHosts refuses to use a login at other hosts than those it was made for.
func checkHosts(r *vault.Record, d *client.Deployment) error {
	if d.Hosts.APIURL == r.APIURL && d.Hosts.UploadURL == r.UploadURL {
		return nil
	}
	return failure.New(failure.Auth, failure.Moved,
		"%s now names other hosts than at your login; the stored key was not sent there", r.BaseURL).
		Advise("If you expect that, run vitrine login again; otherwise ask the operator of the server.")
}

// refusedBy adds to a refusal the hint for a credential from this source.
func (c credential) refusedBy(err error) error {
	f := failure.Of(err)
	if err == nil || f.Exit != failure.Auth || c.source != fromLogin || f.Code == failure.Moved {
		return err
	}
	_ = f.Advise("The stored login%s is not accepted. %s", ownerOf(c.record), c.need) // f points into err
	return err
}

// summary describes a login in one line.
func summary(r vault.Record) string {
	if r.MemberEmail == "" {
		return fmt.Sprintf("Signed in with the new API key %s", r.KeyID)
	}
	return "Signed in as " + r.MemberEmail
}
