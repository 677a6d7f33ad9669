package vault

import (
	"context"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
)

// refreshTime bounds a refresh, which is not broken off: its answer holds the only token that still counts.
const refreshTime = 15 * time.Second

// invalidGrant is how a server refuses a refresh token that was replaced or revoked.
const invalidGrant = "invalid_grant"

// Refresh exchanges a refresh token for an access token and the refresh token that replaces it.
type Refresh func(ctx context.Context, r Record) (access, next secret.Text, err error)

// AccessToken gives an access token for the stored login of a server. The new refresh token is stored before the access token
// is handed out, so that a process that dies in between does not lose the login. Processes take turns; where they
// cannot, one that comes second finds its token replaced, reads the new one and tries once more.
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
			return nil, signedOut("the login for %s has ended", server)
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
		Advise("Sign in with vitrine login, or with vitrine login --device-code where no browser is.")
}
