package vault

import (
	"context"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
)

// Helper is what vitrine mcp authenticates with at the MCP host of a server. Its access token is stored, too, so that
// processes share it and begin without a refresh.
type Helper struct {
	APIURL    string      `json:"api_url"` // the hosts at the time of the sign-in
	MCPURL    string      `json:"mcp_url"`
	Access    secret.Text `json:"access_token"`
	Refresh   secret.Text `json:"refresh_token"`
	ExpiresAt time.Time   `json:"expires_at"` // of Access
}

// helperPrefix keeps the names of helpers apart from those of logins, which are addresses.
const helperPrefix = "mcp "

// spare is how long a token must still be valid to be used.
const spare = time.Minute

// LoadHelper returns the helper of a server, or nil if there is none.
func (v *Vault) LoadHelper(server string) *Helper {
	var h Helper
	if !v.get(helperPrefix+server, &h) || h.MCPURL == "" || !refreshForm.MatchString(string(h.Refresh)) {
		return nil
	}
	return &h
}

// ReplaceHelper stores the helper of a server, or removes it if next is nil. It returns the one before.
func (v *Vault) ReplaceHelper(ctx context.Context, server string, next *Helper) (old *Helper, err error) {
	err = v.withLock(ctx, func() error {
		if old = v.LoadHelper(server); next != nil {
			return v.put(helperPrefix+server, *next)
		}
		return v.remove(helperPrefix + server)
	})
	return old, err
}

// RefreshHelper replaces the tokens of a helper.
type RefreshHelper func(ctx context.Context, h Helper) (Helper, error)

// HelperAccess returns the helper of a server with an access token that is valid at now and is not refused. It refreshes
// under the lock, with the tokens that are stored then, because another process may have done so meanwhile. If there is
// no lock, a process that lost the race reads the new tokens.
func (v *Vault) HelperAccess(
	ctx context.Context, server string, now time.Time, refused secret.Text, refresh RefreshHelper,
) (out Helper, err error) {
	usable := func(h *Helper) bool {
		return h != nil && h.Access != "" && h.Access != refused && now.Add(spare).Before(h.ExpiresAt)
	}
	if h := v.LoadHelper(server); usable(h) {
		return *h, nil
	}
	err = v.withLock(ctx, func() error {
		h := v.LoadHelper(server)
		switch {
		case h == nil:
			return failure.New(failure.Auth, "not_authenticated", "vitrine mcp is not signed in to %s", server)
		case usable(h):
			out = *h
			return nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTime)
		defer cancel()
		next, err := refresh(ctx, *h)
		if other := v.LoadHelper(server); failure.IsCode(err, invalidGrant) && usable(other) {
			out = *other
			return nil
		}
		if failure.IsCode(err, invalidGrant) {
			return failure.New(failure.Auth, "not_authenticated", "the sign-in of vitrine mcp to %s has ended", server)
		}
		if err == nil {
			out, err = next, v.put(helperPrefix+server, next)
		}
		return err
	})
	return out, err
}
