package main

import (
	"context"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
)

func (a *app) pinCommand() *cobra.Command {
	return a.command("pin ARTIFACT", "Keep an artifact from expiring", pinGuide, exactly(1, "one ARTIFACT"),
		func(ctx context.Context, args []string) error { return a.pin(ctx, args[0], true) })
}

func (a *app) unpinCommand() *cobra.Command {
	return a.command("unpin ARTIFACT", "Let an artifact expire again", pinGuide, exactly(1, "one ARTIFACT"),
		func(ctx context.Context, args []string) error { return a.pin(ctx, args[0], false) })
}

// pinned is the JSON result of pin and unpin.
type pinned struct {
	SchemaVersion string `json:"schema_version"`
	contract.WebArtifact
}

// pin pins or unpins an artifact. It acts for the person of the stored login, because an API key may not pin.
func (a *app) pin(ctx context.Context, text string, keep bool) error {
	t, err := parseOwn(text)
	if err != nil {
		return err
	}
	member, err := a.member(ctx, "pin")
	if err != nil {
		return err
	}
	if err := t.checkServer(member.Deployment); err != nil {
		return err
	}
	w, err := member.Pin(ctx, "cli_pin_"+a.newUUID(), t.artifact, keep)
	switch {
	case err != nil:
		return signInAgain(err)
	case a.screen.IsJSON():
		return a.screen.Object(pinned{schemaVersion, w})
	case keep:
		return a.screen.Result("Pinned "+string(w.ID), screen.Row{Name: "Title", Value: w.Title},
			screen.Row{Name: "Expires", Value: "never, while it is pinned"})
	}
	ends := doesNotExpire
	if w.AutoDeleteAt != nil {
		ends = screen.When(w.AutoDeleteAt.Time, a.now())
	}
	return a.screen.Result("Unpinned "+string(w.ID), screen.Row{Name: "Title", Value: w.Title},
		screen.Row{Name: "Expires", Value: ends})
}

const pinGuide = `vitrine pin ARTIFACT keeps an artifact from expiring; vitrine unpin ARTIFACT lets it expire again.

  vitrine pin art_00000000000000000000000002
  vitrine unpin art_00000000000000000000000002 --json

Only a signed-in person may do this: run vitrine login first. An API key is not enough, and
VITRINE_API_KEY is ignored. With --json: schema_version, id, title, status, pinned, auto_delete_at
and more.
` + targetNote + `.
`
