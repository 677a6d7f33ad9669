package doctor

import (
	"cmp"
	"context"
	"strings"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/fault"
)

// keyVariable holds an API key, which takes precedence over a login.
const keyVariable = "VITRINE_API_KEY"

// checkStorage looks at the file of logins. It comes before the login is read, because reading takes the access of
// others away.
func (e *examination) checkStorage(context.Context) []Finding {
	shared, err := e.Vault.Inspect()
	switch {
	case err != nil:
		return []Finding{Failed("storage", Wrong, err)}
	case shared:
		f := found("storage", Warning, "others on this machine could read the logins in %s; now only you can", e.Vault.Path())
		return []Finding{f.then("If others use this machine: vitrine logout, then vitrine login")}
	}
	return nil
}

// checkLogin tries the credential that commands use.
func (e *examination) checkLogin(ctx context.Context) []Finding {
	if text := e.Env(keyVariable); text != "" {
		key, err := client.ParseKey(text)
		if err != nil {
			return []Finding{Failed("login", Wrong, err)}
		}
		return e.try(ctx, key, "the API key in "+keyVariable, "Set "+keyVariable+" to a valid key, or unset it")
	}
	if e.Server == "" {
		return nil
	}
	r := e.Vault.Load(e.Server)
	if r == nil {
		return []Finding{e.signedOut()}
	}
	who := "the login of " + cmp.Or(r.MemberEmail, string(r.KeyID))
	switch {
	case r.Expired(e.Now()):
		return []Finding{found("login", Wrong, "%s ended on %s", who, day(*r.ExpiresAt)).then("vitrine login")}
	case e.deployment != nil && (e.deployment.Hosts.APIURL != r.APIURL || e.deployment.Hosts.UploadURL != r.UploadURL):
		return []Finding{found("login", Wrong, "%s is for %s, and %s now names other hosts", who, r.APIURL, e.Server).
			then("If you expect that: vitrine login; otherwise ask whoever runs the server")}
	}
	key, err := client.ParseKey(string(r.APIKey))
	if err != nil {
		return []Finding{Failed("login", Wrong, err)}
	}
	if r.ExpiresAt != nil {
		who += ", until " + day(*r.ExpiresAt) + ","
	}
	return e.try(ctx, key, who, "vitrine login")
}

// signedOut says for which servers there are logins, because another address of the same one has none.
func (e *examination) signedOut() Finding {
	f := found("login", Warning, "nobody is signed in at %s", e.Server).
		then("vitrine login, or vitrine login --device-code")
	if others := e.Vault.Servers(); len(others) > 0 {
		f.Message += "; there are logins for " + strings.Join(others, ", ")
		f.Next += "; or, if that one is meant, vitrine config set url " + others[0]
	}
	return f
}

// try asks the server for the owner of a key. again is the step if the server refuses it.
func (e *examination) try(ctx context.Context, key client.Key, what, again string) []Finding {
	if e.deployment == nil {
		return []Finding{found("login", Warning, "%s cannot be tried without the server", what).
			then("vitrine doctor again once the server answers")}
	}
	who, err := e.deployment.With(key).Whoami(ctx)
	switch {
	case failure.IsCode(err, fault.NotAuthenticated):
		f := found("login", Wrong, "%s is refused by the server; it was revoked or has ended", what)
		return []Finding{f.then("%s", again)}
	case err != nil:
		return []Finding{Failed("login", Wrong, err)}
	}
	return []Finding{found("login", OK, "%s works, for the workspace %s", what, who.Workspace.Name)}
}
