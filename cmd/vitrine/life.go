package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// forever is the life of artifacts that do not expire, as people write it.
const forever = "forever"

func (a *app) workspaceCommand() *cobra.Command {
	cmd := a.command("workspace", "Change settings of the workspace", workspaceGuide, cobra.NoArgs,
		func(context.Context, []string) error { return a.screen.Text(workspaceGuide) })
	cmd.AddCommand(a.command("life DAYS|forever", "Choose how long new artifacts live", workspaceGuide,
		exactly(1, "a number of days or "+forever),
		func(ctx context.Context, args []string) error { return a.setLife(ctx, args[0]) }))
	return cmd
}

// workspaceSettings is the JSON result of config workspace.
type workspaceSettings struct {
	SchemaVersion string `json:"schema_version"`
	contract.Settings
}

// setLife chooses the life of new artifacts of the workspace and keeps its other settings. It acts for the person of
// the stored login, because an API key may not change settings.
func (a *app) setLife(ctx context.Context, life string) error {
	days, err := strconv.Atoi(life)
	if life == forever {
		days, err = limits.ForeverDays, nil
	}
	if err != nil || days < 1 || days > limits.ForeverDays {
		return failure.New(failure.Invalid, failure.Usage, "the life of artifacts is not a number of days or %q", forever).
			Advise("Give a number from 1, such as 30, or the word %s.", forever)
	}
	member, err := a.member(ctx, "change settings of a workspace")
	if err != nil {
		return err
	}
	now, err := member.Settings(ctx)
	if err != nil {
		return signInAgain(err)
	}
	if b := now.AutoDeletionBounds; days < b.MinDays || days > b.MaxDays {
		return failure.New(failure.Invalid, failure.Usage, "artifacts of this workspace cannot live %s", spellLife(days)).
			Advise("Choose from %d to %s.", b.MinDays, spellLife(b.MaxDays))
	}
	now, err = member.UpdateSettings(ctx, "cli_life_"+a.newUUID(), contract.UpdateSettings{
		WorkspaceName:    now.WorkspaceName,
		AutoDeletionDays: days,
	})
	switch {
	case err != nil:
		return signInAgain(err)
	case a.screen.IsJSON():
		return a.screen.Object(workspaceSettings{schemaVersion, now})
	}
	lives := "New artifacts do not expire"
	if now.AutoDeletionDays < limits.ForeverDays {
		lives = "New artifacts expire after " + spellLife(now.AutoDeletionDays)
	}
	return a.screen.Result(lives, screen.Row{Name: "Workspace", Value: now.WorkspaceName})
}

// spellLife returns a number of days in words.
func spellLife(days int) string {
	if days >= limits.ForeverDays {
		return forever
	}
	return screen.Count(days, "day")
}

const workspaceGuide = `vitrine config workspace life DAYS chooses how long new artifacts of the workspace live.

  vitrine config workspace life 30
  vitrine config workspace life forever

The setting is kept on the server and holds for everybody in the workspace. Artifacts that exist keep
their expiry. How many days are allowed, and whether forever is, depends on the server; a life that is
not allowed is exit code 4. Only a signed-in person with the right admin may do this: run vitrine login
first. An API key is not enough, and VITRINE_API_KEY is ignored.

With --json: schema_version, workspace_name, auto_deletion_days, auto_deletion_bounds{min_days,
max_days} and more. 24000 days stand for forever.
`
