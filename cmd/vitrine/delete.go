package main

import (
	"bufio"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
)

func (a *app) deleteCommand() *cobra.Command {
	var yes bool
	cmd := a.command("delete ARTIFACT", "Permanently delete an artifact", deleteGuide, exactly(1, "one ARTIFACT"),
		func(ctx context.Context, args []string) error { return a.delete(ctx, args[0], yes) })
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// deleted is the JSON result of delete.
type deleted struct {
	SchemaVersion string `json:"schema_version"`
	contract.DeletedArtifact
}

func (a *app) delete(ctx context.Context, text string, yes bool) error {
	if !yes && !a.terminal { // there is no consent without a terminal
		return unconfirmed("deleting")
	}
	return a.withOwnArtifact(ctx, text, func(ctx context.Context, h *artifactContext) error {
		if !yes {
			if err := a.confirm(ctx, "Delete "+string(h.artifact)+
				" with all its revisions and links, for good? [y/N]"); err != nil {
				return err
			}
		}
		d, err := h.account.Delete(ctx, h.artifact)
		switch {
		case err != nil:
			return err
		case a.screen.IsJSON():
			return a.screen.Object(deleted{schemaVersion, d})
		}
		return a.screen.Result("Deleted "+string(d.ArtifactID),
			screen.Row{
				Name:  "Since",
				Value: d.DeletedAt.UTC().Format("2006-01-02 15:04 UTC") + "; its links and files are gone",
			})
	})
}

// unconfirmed refuses an act without --yes where there is no terminal.
func unconfirmed(act string) error {
	return failure.New(failure.Invalid, failure.Unconfirmed,
		"%s needs a confirmation, and there is no terminal to ask on", act).Advise("Give --yes to confirm.")
}

// confirm asks the person at the terminal.
func (a *app) confirm(ctx context.Context, question string) error {
	switch line, err := a.answer(ctx, question); {
	case err != nil:
		return err
	case line == "y", line == "yes":
		return nil
	}
	return failure.New(failure.Declined, failure.WasDeclined, "declined; nothing was changed").
		Advise("Run the command again and answer y, or give --yes.")
}

// answer returns what the person at the terminal types, in lower case.
func (a *app) answer(ctx context.Context, question ...string) (string, error) {
	a.screen.Prompt(question...)
	typed := make(chan string, 1)
	go func() { // a read from a terminal cannot be cancelled; it ends with the program
		line, _ := bufio.NewReader(a.in).ReadString('\n') // the error is dropped: without a line the answer is no
		typed <- line
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-typed:
		return strings.ToLower(strings.TrimSpace(line)), nil
	}
}

const deleteGuide = `vitrine delete ARTIFACT permanently deletes an artifact with all its revisions and links.

  vitrine delete art_00000000000000000000000002 --yes
  vitrine delete art_00000000000000000000000002 --yes --json

On a terminal it asks first; the answer no is exit code 8. Without a terminal it needs --yes, or
fails with exit code 4. With --json: {"schema_version":"1","artifact_id":...,"deleted_at":...}.

Flags:
  --yes  do not ask first
` + targetNote + `.
`
