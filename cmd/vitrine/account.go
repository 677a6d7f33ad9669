package main

import (
	"context"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/contract"
)

func (a *app) accountCommand() *cobra.Command {
	cmd := a.command("account", "Delete the workspace, or keep it", accountGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.accountState(ctx) })
	var yes bool
	remove := a.command("delete", "Delete the workspace with everything in it", accountGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.deleteAccount(ctx, yes) })
	remove.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cancel := a.command("cancel", "Keep a workspace that is being deleted", accountGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.cancelDeletion(ctx) })
	cmd.AddCommand(remove, cancel)
	return cmd
}

// accountStatus is the JSON result of the account commands.
type accountStatus struct {
	SchemaVersion string `json:"schema_version"`
	contract.WorkspaceDeletion
}

func (a *app) showAccount(headline string, d contract.WorkspaceDeletion) error {
	if a.screen.IsJSON() {
		return a.screen.Object(accountStatus{schemaVersion, d})
	}
	rows := []screen.Row{{Name: "Workspace", Value: string(d.Workspace.ID)}}
	if d.DeletesAt != nil {
		rows = append(rows, screen.Row{Name: "Deleted", Value: screen.When(d.DeletesAt.Time, a.now())})
	}
	return a.screen.Result(headline, rows...)
}

func (a *app) accountState(ctx context.Context) error {
	member, err := a.member(ctx, "ask about the workspace")
	if err != nil {
		return err
	}
	d, err := member.Deletion(ctx)
	if err != nil {
		return signInAgain(err)
	}
	if d.Status == contract.WorkspaceDeleting {
		return a.showAccount(screen.Clean(d.Workspace.Name)+" is being deleted", d)
	}
	return a.showAccount(screen.Clean(d.Workspace.Name)+" is not being deleted", d)
}

// deleteAccount asks the server to delete the workspace, and removes the stored login, which ends with it.
func (a *app) deleteAccount(ctx context.Context, yes bool) error {
	if !yes && !a.terminal { // there is no consent without a terminal
		return unconfirmed("deleting a workspace")
	}
	member, err := a.member(ctx, "delete a workspace")
	if err != nil {
		return err
	}
	of, err := member.Deletion(ctx)
	if err != nil {
		return signInAgain(err)
	}
	if !yes {
		question := "Delete " + screen.Clean(of.Workspace.Name) + " with everything in it? It closes at once. [y/N]"
		if err := a.confirm(ctx, question); err != nil {
			return err
		}
	}
	d, err := member.RequestDeletion(ctx, of.Workspace.Name)
	if err != nil {
		return signInFresh(err)
	}
	server, err := a.server()
	if err == nil {
		_, err = a.vault().Update(context.WithoutCancel(ctx), server,
			func(*vault.Record) (*vault.Record, error) { return nil, nil })
	}
	if err != nil {
		return err
	}
	a.screen.Note("You are signed out here; vitrine account cancel keeps the workspace until then")
	return a.showAccount("Closed "+screen.Clean(d.Workspace.Name), d)
}

// cancelDeletion signs in through a browser, because every earlier login has ended. It cancels the deletion before it
// does anything else with the new login.
func (a *app) cancelDeletion(ctx context.Context) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	var kept contract.WorkspaceDeletion
	e := &loginFlow{app: a, server: server, first: func(ctx context.Context, m *client.Member) (err error) {
		kept, err = m.CancelDeletion(ctx)
		return err
	}}
	if err := e.run(ctx, false); err != nil {
		return err
	}
	return a.showAccount("Kept "+screen.Clean(kept.Workspace.Name)+"; you are signed in again", kept)
}

const accountGuide = `vitrine account tells whether the workspace is being deleted, deletes it, or keeps it.

  vitrine account
  vitrine account delete --yes
  vitrine account delete --yes --json
  vitrine account cancel

delete closes the workspace at once: nothing in it can be read or changed, no link and no API key
works, and every login ends, this one too. It goes for good 14 days later. Only the operator
of the service can still reach it then: for up to 35 days, and longer where they keep copies. delete
needs a login of the last 15 minutes by a browser on this machine (vitrine login --fresh), and the
right admin. On a terminal it asks first; the answer no is exit code 8. Without a terminal it needs
--yes.

cancel opens a browser on this machine to sign in, keeps the workspace, and stores a new login.
Artifacts, links, pins and API keys work as before; artifacts that expired meanwhile stay expired.

Result with --json, one object on stdout:
  {"schema_version":"1","workspace":{...},"status":"active" or "deleting","deletes_at":... or null}

Flags:
  --yes  do not ask first
`
