package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/text"
)

// schemaVersion is the version of the JSON results. Fields may be added within a version.
const schemaVersion = "1"

// identity is the JSON result of whoami.
type identity struct {
	SchemaVersion string `json:"schema_version"`
	Authenticated bool   `json:"authenticated"`
	// Reason says why a credential is not valid.
	Reason string `json:"reason,omitempty"`
	*contract.Whoami
	Source source `json:"source,omitempty"`
}

// Reasons of an identity.
const (
	keyRejected  = "credential_rejected"  // by the server
	keyMalformed = "credential_malformed" // by the CLI, unsent
	keyExpired   = "credential_expired"   // by its own date
)

// standing is what is known about a credential.
type standing int

// The standings. envGiven and loginGiven change to the refused ones if the server refuses the credential.
const (
	nobody standing = iota
	envMalformed
	envGiven
	envRefused
	loginExpired
	loginGiven
	loginRefused
)

// outcomes are all answers of whoami: the reason for programs, the line for people, and the hint. Each has exit code 0.
// For a given credential, the server decides. If it does not answer, the exit code is 6, or that of a refusal that does
// not concern the credential.
var outcomes = map[standing]struct{ reason, line, next string }{
	nobody: {"", "Not signed in", "Sign in: vitrine login, or vitrine login --device-code. Publish without an " +
		"account, where the server allows it: vitrine publish PATH --ephemeral"},
	envMalformed: {keyMalformed, "Not signed in: VITRINE_API_KEY does not hold an API key; it was not sent",
		"Set VITRINE_API_KEY to a key that begins with ap_pk_, or unset it"},
	envGiven: {},
	envRefused: {keyRejected, "Not signed in: the server rejected the key in VITRINE_API_KEY",
		"Set VITRINE_API_KEY to a valid key, or unset it; a stored login is not tried instead"},
	loginExpired: {keyExpired, "Not signed in: the stored login expired", "Sign in again: vitrine login"},
	loginGiven:   {},
	loginRefused: {keyRejected, "Not signed in: the server rejected the stored login", "Sign in again: vitrine login"},
}

func (a *app) whoamiCommand() *cobra.Command {
	return a.command("whoami", "Show who is signed in", whoamiGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.whoami(ctx) })
}

// whoami shows the identity behind the credential. It succeeds whenever the answer is known, even without a credential.
func (a *app) whoami(ctx context.Context) error {
	c, state, err := a.credential(ctx)
	if err != nil {
		return err
	}
	if state != envGiven && state != loginGiven {
		return a.notSignedIn(state)
	}
	account, err := a.connect(ctx, c)
	if err != nil {
		return err
	}
	who, err := account.Whoami(ctx)
	switch {
	case failure.IsCode(err, fault.NotAuthenticated) && state == envGiven:
		return a.notSignedIn(envRefused)
	case failure.IsCode(err, fault.NotAuthenticated):
		return a.notSignedIn(loginRefused)
	case err != nil:
		return err
	}
	return a.signedIn(who, c, account)
}

func (a *app) notSignedIn(state standing) error {
	o := outcomes[state]
	if a.screen.IsJSON() {
		return a.screen.Object(identity{SchemaVersion: schemaVersion, Reason: o.reason})
	}
	a.screen.Note("%s", o.next)
	return a.screen.Result(o.line)
}

func (a *app) signedIn(who contract.Whoami, c credential, account *client.Account) error {
	if a.screen.IsJSON() {
		return a.screen.Object(identity{
			SchemaVersion: schemaVersion,
			Authenticated: true,
			Whoami:        &who,
			Source:        c.source,
		})
	}
	p := who.UsagePolicy
	rows := []screen.Row{
		{Name: "Workspace", Value: fmt.Sprintf("%s (%s)", who.Workspace.Name, who.Workspace.ID)},
		{Name: "Rights", Value: strings.Join(who.Scopes, ", ")},
		{Name: "Limits", Value: fmt.Sprintf("%s of at most %s, %s in total",
			screen.Count(p.FileCountCap, "file"), text.SizeLimit(p.FileSizeCapBytes), text.SizeLimit(p.ArtifactSizeCapBytes))},
	}
	if left := p.DailyNewArtifactsRemaining; left != nil {
		rows = append(rows,
			screen.Row{Name: "Today", Value: fmt.Sprintf("%d of %d new artifacts left", *left, p.DailyNewArtifactAllowance)})
	}
	rows = append(rows, screen.Row{Name: "Source", Value: a.origin(c)},
		screen.Row{Name: "Server", Value: account.Hosts.APIURL})
	first := fmt.Sprintf("Signed in%s with the API key %s (%s)", to(account.Deployment), who.Actor.Name, who.Actor.ID)
	return a.screen.Result(first, rows...)
}

// origin describes where a credential comes from.
func (a *app) origin(c credential) string {
	if c.source == fromEnvironment {
		return "VITRINE_API_KEY"
	}
	text := "the stored login" + ownerOf(c.record)
	if c.record.ExpiresAt != nil {
		text += ", until " + screen.When(*c.record.ExpiresAt, a.now())
	}
	return text
}

const whoamiGuide = `vitrine whoami shows who is signed in: with VITRINE_API_KEY, else with the stored login.

  vitrine whoami          for people
  vitrine whoami --json   for programs

The exit code is 0 whenever the answer is known, even if you are not signed in. All answers:

  credential            authenticated   reason
  none                  false
  VITRINE_API_KEY       true                                  source environment
    refused             false           credential_rejected   the stored login is not tried
    no API key          false           credential_malformed  it was not sent
  stored login          true                                  source login
    refused             false           credential_rejected
    expired             false           credential_expired    it is removed

With --json:
  {"schema_version":"1","authenticated":false,"reason":...}
  {"schema_version":"1","authenticated":true,"actor":...,"workspace":...,"scopes":[...],
   "usage_policy":{...},"source":...}

Exit code 6 means that the server did not respond: {"error":{...}} on stderr, nothing on stdout.
Exit code 2 with server_moved means that its hosts changed since the login; no key was sent.
`
