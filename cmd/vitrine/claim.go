package main

import (
	"bufio"
	"context"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

func (a *app) claimCommand() *cobra.Command {
	var yes bool
	cmd := a.command("claim TOKEN", "Take over what was published without an account", claimGuide,
		exactly(1, "one TOKEN, a claim token or a claim link"),
		func(ctx context.Context, args []string) error { return a.claim(ctx, args[0], yes) })
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// claimed is the JSON result of claim.
type claimed struct {
	SchemaVersion string `json:"schema_version"`
	contract.Claimed
}

// claim acts for the person of the stored login, because a claim moves artifacts into a person's workspace.
func (a *app) claim(ctx context.Context, text string, yes bool) error {
	if !yes && (!a.terminal || text == "-") { // there is no consent without a terminal, or if stdin holds the token
		return unconfirmed("claiming")
	}
	text, err := a.claimText(ctx, text)
	if err != nil {
		return err
	}
	token, from, err := parseClaim(text)
	if err != nil {
		return err
	}
	member, err := a.member(ctx, "claim")
	if err != nil {
		return err
	}
	if err := from.checkServer(member.Deployment); err != nil {
		return err
	}
	into, err := member.Workspace(ctx)
	if err != nil {
		return signInAgain(err)
	}
	if !yes {
		if err := a.confirm(ctx, claimQuestion(into)); err != nil {
			return err
		}
	}
	c, err := member.Claim(ctx, "cli_claim_"+a.newUUID(), token)
	switch {
	case err != nil:
		return signInAgain(err)
	case a.screen.IsJSON():
		return a.screen.Object(claimed{schemaVersion, c})
	}
	return a.screen.Result(claimSummary(c, into), claimRows(c, member)...)
}

// claimText returns the argument of claim. For "-" it returns the first line of stdin, which keeps the token out of the
// shell's history.
func (a *app) claimText(ctx context.Context, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	read := make(chan string, 1)
	go func() { // a read from a pipe cannot be cancelled; it ends with the program
		// The error is dropped: a line without an end is fine, and an empty one is refused as a token.
		line, _ := bufio.NewReader(a.in).ReadString('\n')
		read <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-read:
		return line, nil
	}
}

// parseClaim parses a claim token or a claim link. Its failures do not quote the text, which is a secret.
func parseClaim(text string) (token secret.Text, from target, err error) {
	if address, fragment, isLink := strings.Cut(text, "#"); isLink {
		u, err := url.Parse(address)
		if err != nil || u.User != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") ||
			!strings.HasSuffix(u.Path, "/claim") {
			return "", from, failure.New(failure.Invalid, failure.Usage, "this is not a claim link").
				Advise("A claim link is the claim_url that a publish without an account printed.")
		}
		from.app = u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/claim")
		text = fragment
	}
	token, err = client.ParseClaimToken(text)
	return token, from, err
}

func claimQuestion(into contract.WebWorkspace) string {
	return "Take over everything that was published with this token into the workspace " +
		failure.Quoted(into.Workspace.Name) + " of " + into.WorkspaceMember.Email + "? " +
		"Shared links go on working; the key that published it ends. [y/N]"
}

// claimSummary describes what was claimed. The server lists at most limits.ClaimListed artifacts.
func claimSummary(c contract.Claimed, into contract.WebWorkspace) string {
	count := screen.Count(len(c.ArtifactIDs), "artifact")
	if len(c.ArtifactIDs) >= limits.ClaimListed {
		count = "at least " + count
	}
	return "Claimed " + count + " for " + into.WorkspaceMember.Email
}

func claimRows(c contract.Claimed, by *client.Member) []screen.Row {
	const shown = 5
	var rows []screen.Row
	for _, artifact := range c.ArtifactIDs[:min(len(c.ArtifactIDs), shown)] {
		rows = append(rows, screen.Row{Name: "View", Value: by.Hosts.AppURL + "/v/" + string(artifact)})
	}
	if more := len(c.ArtifactIDs) - shown; more > 0 {
		rows = append(rows, screen.Row{Name: "More", Value: screen.Count(more, "artifact") + "; vitrine list shows all"})
	}
	return append(rows, screen.Row{Name: "Workspace", Value: string(c.DestinationWorkspaceID)})
}

const claimGuide = `vitrine claim TOKEN takes over what was published without an account.

  vitrine claim 'https://vitrine.example.com/claim#ap_ct_...'
  vitrine claim ap_ct_... --yes --json
  vitrine claim - --yes < token.txt

TOKEN is the claim_token or the claim_url that vitrine publish --ephemeral printed, in quotes. With
- it is read from stdin, which keeps it out of the history of the shell. All artifacts of its
workspace move into yours. Links that were shared go on working; the key that published them ends.
The token works once, for the first person who uses it.

Only a signed-in person may do this: run vitrine login first. An API key is not enough, and
VITRINE_API_KEY is ignored. On a terminal it asks first; the answer no is exit code 8. Without a
terminal it needs --yes, or fails with exit code 4. A token that expired or was used is exit code 5.
With --json: {"schema_version":"1","destination_workspace_id":...,"source_workspace_id":...,
"artifact_ids":[...],"claim_token_id":...}; artifact_ids names the first 100.

Flags:
  --yes  do not ask first
`
