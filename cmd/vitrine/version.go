package main

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"vitrine/shared/platform/contract"
)

// version is set by the linker in releases.
var version = contract.Release + "-dev"

func userAgent() string {
	return "vitrine/" + version + " (" + runtime.GOOS + "; " + runtime.GOARCH + ")"
}

func (a *app) versionCommand() *cobra.Command {
	return a.command("version", "Print the version", versionGuide, cobra.NoArgs,
		func(context.Context, []string) error {
			if a.screen.IsJSON() {
				return a.screen.Object(map[string]string{"schema_version": schemaVersion, "version": version})
			}
			return a.screen.Text("vitrine " + version + "\n")
		})
}

const versionGuide = `vitrine version prints the version; vitrine version --json prints it as JSON.
`
