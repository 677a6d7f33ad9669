package main

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func (a *app) keysCommand() *cobra.Command {
	cmd := a.command("keys", "List, create and revoke API keys", keysGuide, cobra.NoArgs,
		func(context.Context, []string) error { return a.screen.Text(keysGuide) })
	var p paging
	list := a.command("list", "List the API keys of the workspace", keysGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.listKeys(ctx, p) })
	p.register(list, defaultList)
	var days int
	create := a.command("create NAME", "Create an API key", keysGuide, exactly(1, "one NAME"),
		func(ctx context.Context, args []string) error { return a.createKey(ctx, args[0], days) })
	create.Flags().IntVar(&days, "expires", int(limits.CLIKeyLife/limits.Day), "after how many days the key expires")
	var yes bool
	revoke := a.command("revoke KEY", "Revoke an API key", keysGuide, exactly(1, "one KEY, an id that begins with key_"),
		func(ctx context.Context, args []string) error { return a.revokeKey(ctx, args[0], yes) })
	revoke.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.AddCommand(list, create, revoke)
	return cmd
}

// keyList is the JSON result of keys list.
type keyList struct {
	SchemaVersion string `json:"schema_version"`
	contract.WebKeyList
}

func (a *app) listKeys(ctx context.Context, p paging) error {
	if err := p.check("keys list"); err != nil {
		return err
	}
	member, err := a.member(ctx, "list API keys")
	if err != nil {
		return err
	}
	var l contract.WebKeyList
	l.Items, l.PageInfo, err = pages(p, func(cursor string, limit int) ([]contract.WebKey, contract.PageInfo, error) {
		page, err := member.Keys(ctx, cursor, limit)
		return page.Items, page.PageInfo, err
	})
	switch {
	case err != nil:
		return signInAgain(err)
	case a.screen.IsJSON():
		return a.screen.Object(keyList{schemaVersion, l})
	}
	own := a.ownKey()
	var rows [][]string
	for _, k := range l.Items {
		rows = append(rows, a.keyRow(k, own))
	}
	if len(rows) == 0 {
		a.screen.Note("There are no API keys; create one with vitrine keys create NAME")
	}
	a.noteMore("keys list", len(rows), l.PageInfo)
	return a.screen.Table(rows)
}

func (a *app) keyRow(k contract.WebKey, own id.Key) []string {
	used, name := "never used", k.Name
	if k.LastUsedAt != nil {
		used = "used " + date(*k.LastUsedAt)
	}
	if k.ID == own {
		name += " (this login)"
	}
	return []string{string(k.ID), a.keyState(k), used, "made " + date(k.CreatedAt), name}
}

// keyState describes whether a key works.
func (a *app) keyState(k contract.WebKey) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked " + date(*k.RevokedAt)
	case k.Revoked:
		return "revoked"
	case k.ExpiresAt == nil:
		return "live, no end"
	case !k.ExpiresAt.After(a.now()):
		return "expired " + date(*k.ExpiresAt)
	}
	return "live until " + screen.When(k.ExpiresAt.Time, a.now())
}

// ownKey returns the key of the stored login, "" if there is none.
func (a *app) ownKey() id.Key {
	server, err := a.server()
	if err != nil {
		return ""
	}
	if stored := a.vault().Load(server); stored != nil {
		return stored.KeyID
	}
	return ""
}

// createdKey is the JSON result of keys create.
type createdKey struct {
	SchemaVersion string `json:"schema_version"`
	contract.CreatedKey
}

// createKey creates a key and prints its secret. It delays an interrupt once the call has begun, because the secret of
// an existing key is shown only here.
func (a *app) createKey(ctx context.Context, name string, days int) error {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > limits.KeyNameRunes || !utf8.ValidString(name) {
		return failure.New(failure.Invalid, failure.Usage, "the name has %d characters; 1 to %d of UTF-8 are allowed", n,
			limits.KeyNameRunes).
			Advise("Name the key after what will use it, such as ci or blog.")
	}
	if days < 1 || days > limits.MaxKeyLifeDays {
		return failure.New(failure.Invalid, failure.Usage, "a key expires after 1 to %d days", limits.MaxKeyLifeDays).
			Advise("Give --expires a number of days, such as 30.")
	}
	member, err := a.member(ctx, "create API keys")
	if err != nil {
		return err
	}
	uninterrupted, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer stop()
	made, _, err := member.CreateKey(uninterrupted, "cli_keys_"+a.newUUID(), name, days)
	if err != nil {
		return signInAgain(err)
	}
	a.screen.Note("Warning: this is the only time that the secret is shown. Store it where only its user can read it; " +
		"it ends with this login: vitrine logout and a new vitrine login revoke it.")
	if a.screen.IsJSON() {
		return a.screen.Object(createdKey{schemaVersion, made})
	}
	k := made.APIKey
	ends := "never, while this login lasts"
	if k.ExpiresAt != nil {
		ends = screen.When(k.ExpiresAt.Time, a.now())
	}
	return a.screen.Result(made.Secret, []screen.Row{
		{Name: "API key", Value: string(k.ID)},
		{Name: "Name", Value: k.Name},
		{Name: "May", Value: strings.Join(k.Scopes, ", ")},
		{Name: "Expires", Value: ends},
		{Name: "End", Value: "vitrine keys revoke " + string(k.ID)},
	}...)
}

// revokedKey is the JSON result of keys revoke.
type revokedKey struct {
	SchemaVersion string `json:"schema_version"`
	contract.RevokedKey
}

func (a *app) revokeKey(ctx context.Context, text string, yes bool) error {
	key := id.Key(text)
	switch {
	case !key.Valid():
		return failure.New(failure.Invalid, failure.Usage, "this is not the id of an API key").
			Advise("It begins with key_; vitrine keys list shows it.")
	case !yes && !a.terminal: // there is no consent without a terminal
		return unconfirmed("revoking")
	}
	member, err := a.member(ctx, "revoke API keys")
	if err != nil {
		return err
	}
	if !yes {
		question := "Revoke " + string(key) + " for good? What uses it stops working. [y/N]"
		if a.ownKey() == key {
			question = "Revoke " + string(key) + " for good? It is the key of this login. [y/N]"
		}
		if err := a.confirm(ctx, question); err != nil {
			return err
		}
	}
	r, err := member.RevokeKey(ctx, "cli_keys_"+a.newUUID(), key)
	switch {
	case err != nil:
		return signInAgain(err)
	case a.screen.IsJSON():
		return a.screen.Object(revokedKey{schemaVersion, r})
	}
	return a.screen.Result("Revoked "+string(key)+"; it no longer opens anything",
		screen.Row{Name: "Name", Value: r.APIKey.Name},
		screen.Row{Name: "Since", Value: r.RevokedAt.UTC().Format("2006-01-02 15:04 UTC")})
}

const keysGuide = `vitrine keys lists, creates and revokes the API keys of the workspace.

  vitrine keys list
  vitrine keys list --all --json
  vitrine keys create ci                          prints the secret, this once
  vitrine keys create ci --quiet                  prints only the secret
  vitrine keys create ci --expires 7              works for a week
  vitrine keys revoke key_00000000000000000000000004 --yes

Only a signed-in person may do this: run vitrine login first. An API key is not enough, and
VITRINE_API_KEY is ignored.

list: each line shows id, state, last use, day of creation and name, the newest first.
create: the key may publish and read. It expires after 90 days or those of --expires, and ends
earlier with the login that created it: vitrine logout and a new vitrine login revoke it. The
dashboard creates keys that last.
revoke: on a terminal it asks first; the answer no is exit code 8. Without a terminal it needs
--yes, or fails with exit code 4.

With --json: list gives items[{id, name, public_id, scopes, revoked, revoked_at, expires_at,
created_at, last_used_at}] and page_info{next_cursor, has_more}; create gives api_key and secret;
revoke gives api_key and revoked_at.

Flags of list:
  --limit N        how many, 1 to 10000; default 50
  --all            all, up to 10000
  --cursor CURSOR  continue after an earlier result, with its next_cursor
Flags of create:
  --expires DAYS   after how many days the key expires, 1 to 365; default 90
Flags of revoke:
  --yes            do not ask first
`
