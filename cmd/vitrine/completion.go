package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/failure"
)

// shells are the shells that cobra generates completions for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	cmd := a.command("completion SHELL", "Print completions for a shell", completionGuide,
		exactly(1, "one of "+strings.Join(shells, ", ")), nil)
	cmd.ValidArgs = shells
	cmd.RunE = a.runE(func(_ context.Context, args []string) error { return a.completion(cmd.Root(), args[0]) })
	return cmd
}

func (a *app) completion(root *cobra.Command, shell string) error {
	if !slices.Contains(shells, shell) {
		return failure.New(failure.Invalid, failure.Usage, "there are no completions for the shell %q", shell).
			Advise("It is one of %s.", strings.Join(shells, ", "))
	}
	var script strings.Builder
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&script, true)
	case "zsh":
		err = root.GenZshCompletion(&script)
	case "fish":
		err = root.GenFishCompletion(&script, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(&script)
	}
	if err != nil {
		return fmt.Errorf("generate completions: %w", err)
	}
	return a.screen.Text(script.String())
}

const completionGuide = `vitrine completion SHELL prints completions of commands and flags: bash, zsh, fish, powershell.

  vitrine completion bash
  vitrine completion zsh

Load them in the shell that is running, or in its start file:
  bash        source <(vitrine completion bash); it needs the package bash-completion
  zsh         save it as _vitrine in a folder of $fpath, and run compinit
  fish        save it as ~/.config/fish/completions/vitrine.fish
  powershell  send it through Out-String to Invoke-Expression

--json has no effect: the result is a script.
`
