package main

import (
	"context"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
)

// Visibilities of an artifact.
const (
	private  = "private"
	unlisted = "unlisted"
)

func (a *app) visibilityCommand() *cobra.Command {
	return a.command("set-visibility ARTIFACT private|unlisted", "Share an artifact by a link, or revoke all its links",
		visibilityGuide, exactly(2, "an ARTIFACT and one of private, unlisted"),
		func(ctx context.Context, args []string) error { return a.setVisibility(ctx, args[0], args[1]) })
}

// visibility is the JSON result of set-visibility.
type visibility struct {
	SchemaVersion string `json:"schema_version"`
	contract.Visibility
}

// linkOf returns the link of an unlisted artifact. It ignores a failure to read the end, because the link already
// works.
func linkOf(ctx context.Context, by *client.Account, v contract.Visibility) madeLink {
	l := madeLink{ID: v.AccessLinkID, ArtifactID: v.ArtifactID, URL: v.UnlistedURL}
	_ = l.fetchEnd(ctx, by) // then the end is unknown
	return l
}

func (a *app) setVisibility(ctx context.Context, text, want string) error {
	if want != private && want != unlisted {
		return failure.New(failure.Invalid, failure.Usage, "there is no visibility %q", want).
			Advise("It is private or unlisted.")
	}
	return a.withOwnArtifact(ctx, text, func(ctx context.Context, h *artifactContext) error {
		v, err := h.account.SetVisibility(ctx, h.artifact, want)
		switch {
		case err != nil:
			return err
		case a.screen.IsJSON():
			return a.screen.Object(visibility{schemaVersion, v})
		case want == unlisted:
			return a.screen.Result(v.UnlistedURL, a.linkRows(ctx, h.account, linkOf(ctx, h.account, v))...)
		}
		ended := 0
		if v.RevokedAccessLinkIDs != nil {
			ended = len(*v.RevokedAccessLinkIDs)
		}
		return a.screen.Result(v.PrivateURL,
			screen.Row{Name: "Private", Value: "only for members of the workspace; " + screen.Count(ended, "link") + " revoked"})
	})
}

const visibilityGuide = `vitrine set-visibility ARTIFACT private|unlisted shares an artifact, or revokes all its links.

  vitrine set-visibility art_00000000000000000000000002 unlisted   prints a link
  vitrine set-visibility art_00000000000000000000000002 private    revokes all links at once

Everyone with the link can open the artifact without sign-in.
With --json: schema_version, artifact_id, visibility; for unlisted access_link_id and unlisted_url,
for private private_url and revoked_access_link_ids. The URL works until the link is revoked or the
artifact ends.
` + targetNote + `.
`
