package main

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"
)

func (a *app) openCommand() *cobra.Command {
	var printed bool
	var revision string
	cmd := a.command("open ARTIFACT", "Open an artifact in the browser", openGuide, exactly(1, "one ARTIFACT"),
		func(ctx context.Context, args []string) error { return a.openPage(ctx, args[0], revision, printed) })
	cmd.Flags().BoolVar(&printed, "print", false, "only print the address")
	cmd.Flags().StringVar(&revision, "revision-id", "", "this revision instead of the newest")
	return cmd
}

// openedPage is the JSON result of open.
type openedPage struct {
	SchemaVersion string `json:"schema_version"`
	URL           string `json:"url"`
	Opened        bool   `json:"opened"`
}

func (a *app) openPage(ctx context.Context, text, revision string, printed bool) error {
	t, err := parseTarget(text)
	if err != nil {
		return err
	}
	if t.revision, err = t.of(revision); err != nil {
		return err
	}
	address, err := a.pageOf(ctx, t)
	if err != nil {
		return err
	}
	opened := !printed && a.openInBrowser(address)
	if a.screen.IsJSON() {
		return a.screen.Object(openedPage{schemaVersion, address, opened})
	}
	return a.screen.Result(address)
}

// pageOf returns the address of the page of an existing artifact: the link that was given, or else the page for
// members. It builds the address itself, because a browser must not open an address that a response names.
func (a *app) pageOf(ctx context.Context, t target) (address string, err error) {
	see, d, err := a.viewer(ctx, t)
	if err != nil {
		return "", err
	}
	v, err := see.first(ctx, t.revision)
	switch {
	case err != nil:
		return "", err
	case t.isShare():
		return t.app + "/al/" + string(t.public) + "#" + t.blob, nil
	case t.revision != "":
		return d.Hosts.AppURL + "/v/" + string(v.ArtifactID) + "?revision=" + string(t.revision), nil
	}
	return d.Hosts.AppURL + "/v/" + string(v.ArtifactID), nil
}

// openInBrowser opens an address, and reports whether a browser was started. It opens only web pages, because another
// scheme could start another program. The address is printed in any case.
func (a *app) openInBrowser(address string) bool {
	u, err := url.Parse(address)
	isPage := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
	if !isPage || a.environment().Open(address) != nil {
		a.screen.Note("No browser can be opened here; open the address yourself")
		return false
	}
	return true
}

const openGuide = `vitrine open ARTIFACT opens the page of an artifact in the browser, and prints its address.

  vitrine open art_00000000000000000000000002
  vitrine open art_00000000000000000000000002 --revision-id rev_00000000000000000000000011
  vitrine open art_00000000000000000000000002 --print

An id opens the page for members of the workspace, where the browser may ask to sign in. A share URL
opens as it is. Without a browser or a terminal the command only prints the address; exit code 0.
With --json: {"schema_version":"1","url":...,"opened":true or false}.

Flags:
  --print           only print the address
  --revision-id ID  this revision instead of the newest
` + readNote + `A share URL needs no sign-in.
`
