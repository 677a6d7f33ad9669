package vault

import (
	"context"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
)

// refreshTime bounds a refresh. An interrupt does not cancel it, because its response contains the only valid token.
const refreshTime = 15 * time.Second

// invalidGrant is the error code for a refresh token that was replaced or revoked.
const invalidGrant = "invalid_grant"

// Refresh exchanges a refresh token for an access token and the refresh token that replaces it.
type Refresh func(ctx context.Context, r Record) (access, next secret.Text, err error)

// AccessToken returns an access token for the stored login of a server. It stores the new refresh token first, so that
// a process that dies in between does not lose the login. Processes take turns under a lock. If there is no lock, a
// process that lost the race reads the new token and retries once.
func (v *Vault) AccessToken(ctx context.Context, server string, refresh Refresh) (secret.Text, error) {
	var access secret.Text
	_, err := v.Update(ctx, server, func(r *Record) (*Record, error) {
		if r == nil || r.RefreshToken == "" {
			return nil, signedOut("there is no login for %s", server)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTime)
		defer cancel()
		next := *r
		var err error
		access, next.RefreshToken, err = refresh(ctx, *r)
		if failure.IsCode(err, invalidGrant) {
			if now := v.Load(server); now != nil && now.RefreshToken != r.RefreshToken {
				next = *now
				access, next.RefreshToken, err = refresh(ctx, *now)
			}
		}
		if failure.IsCode(err, invalidGrant) {
			return nil, signedOut("the login for %s has expired", server)
		}
		return &next, err
	})
	if err != nil {
		return "", err
	}
	return access, nil
}

func signedOut(format string, args ...any) error {
	return failure.New(failure.Auth, "not_authenticated", format, args...).
		Advise("Sign in with vitrine login, or with vitrine login --device-code without a browser.")
}
