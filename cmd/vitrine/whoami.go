package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/contract"
	"vitrine/shared/fault"
)

// schemaVersion is the version of the JSON results; fields may be added within one.
const schemaVersion = "1"

// identity is the JSON result of whoami.
type identity struct {
	SchemaVersion string `json:"schema_version"`
	Authenticated bool   `json:"authenticated"`
	// Reason tells why a key that is set does not count.
	Reason string `json:"reason,omitempty"`
	*contract.Whoami
}

// Reasons of an identity.
const (
	keyRejected  = "credential_rejected"  // by the server
	keyMalformed = "credential_malformed" // by the CLI, unsent
)

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Tell whose API key is in use", Long: whoamiGuide, Args: cobra.NoArgs,
		RunE: a.does(func(ctx context.Context, _ []string) error { return a.whoami(ctx) }),
	}
}

// whoami succeeds whenever the answer is known, also when it is "nobody".
func (a *app) whoami(ctx context.Context) error {
	text := a.env(envKey)
	if text == "" {
		return a.nobody("", "Not signed in: VITRINE_API_KEY is not set")
	}
	key, err := client.ParseKey(text)
	if err != nil {
		return a.nobody(keyMalformed, "Not signed in: "+err.Error())
	}
	deployment, err := a.discover(ctx)
	if err != nil {
		return err
	}
	who, err := deployment.With(key).Whoami(ctx)
	if failure.IsCode(err, fault.NotAuthenticated) {
		return a.nobody(keyRejected, "Not signed in: the server rejected the key in VITRINE_API_KEY")
	}
	if err != nil {
		return err
	}
	return a.somebody(who, deployment.Hosts.APIURL)
}

func (a *app) nobody(reason, line string) error {
	if a.screen.IsJSON() {
		return a.screen.Object(identity{SchemaVersion: schemaVersion, Reason: reason})
	}
	a.screen.Note("Publish without an account: vitrine publish PATH --ephemeral")
	return a.screen.Result(line)
}

func (a *app) somebody(who contract.Whoami, server string) error {
	if a.screen.IsJSON() {
		return a.screen.Object(identity{SchemaVersion: schemaVersion, Authenticated: true, Whoami: &who})
	}
	p := who.UsagePolicy
	rows := []screen.Row{
		{Name: "Workspace", Value: fmt.Sprintf("%s (%s)", who.Workspace.Name, who.Workspace.ID)},
		{Name: "Rights", Value: strings.Join(who.Scopes, ", ")},
		{Name: "Limits", Value: fmt.Sprintf("%s of at most %s, %s in total",
			screen.Count(p.FileCountCap, "file"), screen.Bytes(p.FileSizeCapBytes), screen.Bytes(p.ArtifactSizeCapBytes))},
	}
	if left := p.DailyNewArtifactsRemaining; left != nil {
		rows = append(rows, screen.Row{Name: "Today", Value: fmt.Sprintf("%d of %d new artifacts left", *left, p.DailyNewArtifactAllowance)})
	}
	rows = append(rows, screen.Row{Name: "Server", Value: server})
	return a.screen.Result(fmt.Sprintf("Signed in with the API key %s (%s)", who.Actor.Name, who.Actor.ID), rows...)
}
