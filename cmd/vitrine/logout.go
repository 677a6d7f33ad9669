package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func (a *app) logoutCommand() *cobra.Command {
	return a.command("logout", "Sign out", logoutGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.logout(ctx) })
}

// loggedOut is the JSON result of logout.
type loggedOut struct {
	SchemaVersion string    `json:"schema_version"`
	Status        string    `json:"status"`
	PublicID      id.Public `json:"public_id,omitempty"`
	RemoteRevoked *bool     `json:"remote_revoked,omitempty"`
	// Reason says why the server did not end the login.
	Reason string `json:"reason,omitempty"`
}

// logout revokes the stored login at the server and deletes it here, even after a failure or an interrupt. It keeps
// other processes from using the login meanwhile, because a token that is being replaced at that moment would survive.
func (a *app) logout(ctx context.Context) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	if a.env(envKey) != "" {
		a.screen.Note("VITRINE_API_KEY is set; logout does not change it")
	}
	var old *vault.Record
	reason := ""
	_, err = a.vault().Update(ctx, server, func(r *vault.Record) (*vault.Record, error) {
		if old = r; r != nil {
			reason = a.endRemotely(ctx, r)
		}
		return nil, nil
	})
	if ended := a.endHelper(ctx, server); ended != nil {
		a.screen.Note("Warning: the server did not end the sign-in of vitrine mcp (%s)", failure.Of(ended).Code)
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return failure.New(failure.Interrupted, failure.WasInterrupted,
			"interrupted before the server confirmed; the login was deleted here").
			Advise("Revoke the API key at the server if it must not be used again.")
	case old == nil:
		return a.loggedOut(loggedOut{Status: "no_credential"}, "Not signed in: there is no stored login for "+server)
	}
	done := reason == ""
	switch {
	case reason == keyRejected:
		a.screen.Note("The server no longer accepted the API key %s", old.KeyID)
	case !done:
		a.screen.Note("Warning: the server did not end the login (%s); the API key %s may still be valid there", reason,
			old.KeyID)
	}
	return a.loggedOut(loggedOut{
		Status:        "logged_out",
		PublicID:      old.PublicID,
		RemoteRevoked: &done,
		Reason:        reason,
	}, "Signed out of "+server)
}

func (a *app) loggedOut(r loggedOut, line string) error {
	if a.screen.IsJSON() {
		r.SchemaVersion = schemaVersion
		return a.screen.Object(r)
	}
	return a.screen.Result(line)
}

// logoutTimeout bounds the calls of logout.
const logoutTimeout = 20 * time.Second

func (a *app) endRemotely(ctx context.Context, r *vault.Record) (reason string) {
	ctx, stop := context.WithTimeout(ctx, logoutTimeout)
	defer stop()
	deployment, err := a.discover(ctx)
	if err != nil {
		return string(failure.Of(err).Code)
	}
	return a.end(ctx, deployment, r)
}

// end revokes the key and the tokens of a login. It returns why that failed, or "".
func (a *app) end(ctx context.Context, d *client.Deployment, r *vault.Record) (reason string) {
	if err := checkHosts(r, d); err != nil {
		return string(failure.Moved)
	}
	key, err := client.ParseKey(string(r.APIKey))
	if err == nil {
		err = d.With(key).RevokeKey(ctx)
	}
	if tokens := endTokens(ctx, d, r.RefreshToken); err == nil {
		err = tokens
	}
	switch {
	case err == nil:
		return ""
	case failure.IsCode(err, fault.NotAuthenticated):
		return keyRejected
	}
	return string(failure.Of(err).Code)
}

func endTokens(ctx context.Context, d *client.Deployment, refresh secret.Text) error {
	if refresh == "" {
		return nil
	}
	authority, err := d.Authority(ctx)
	if err != nil {
		return err
	}
	return authority.Revoke(ctx, refresh)
}

// recordOf returns the record that a login stores.
func recordOf(
	server string,
	d *client.Deployment,
	made contract.CreatedKey,
	tokens client.Tokens,
	email string,
) vault.Record {
	r := vault.Record{
		BaseURL:      server,
		APIURL:       d.Hosts.APIURL,
		UploadURL:    d.Hosts.UploadURL,
		APIKey:       secret.Text(made.Secret),
		PublicID:     made.APIKey.PublicID,
		KeyID:        made.APIKey.ID,
		WorkspaceID:  made.APIKey.WorkspaceID,
		MemberEmail:  email,
		RefreshToken: tokens.Refresh,
	}
	if made.APIKey.ExpiresAt != nil {
		at := made.APIKey.ExpiresAt.Time
		r.ExpiresAt = &at
	}
	return r
}

const logoutGuide = `vitrine logout ends the stored login: the server revokes its key, and it is deleted here.

  vitrine logout          for people
  vitrine logout --json   for programs

It is deleted here even if the server does not respond; stderr then says so. A key in
VITRINE_API_KEY stays valid. The exit code is 0 even if you were not signed in. With --json:
  {"schema_version":"1","status":"no_credential"}
  {"schema_version":"1","status":"logged_out","public_id":...,"remote_revoked":true}
  {"schema_version":"1","status":"logged_out","public_id":...,"remote_revoked":false,"reason":...}
The reason is credential_rejected if the key was no longer valid, else the code of the failure.
`
