package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Kinds of access links.
const (
	shareLink    = "share"
	revisionLink = "revision"
)

func (a *app) linkCommand() *cobra.Command {
	var w linkFlags
	cmd := a.command("link ARTIFACT", "Create a link that opens without sign-in",
		linkGuide, exactly(1, "one ARTIFACT"),
		func(ctx context.Context, args []string) error { return a.link(ctx, args[0], w) })
	cmd.Flags().StringVar(&w.revision, "revision-id", "", "pin the link to this revision")
	cmd.Flags().StringVar(&w.expires, "expires", "", "end of the link")
	cmd.Flags().BoolVar(&w.comments, "comments", false, "people who have the link may write feedback")
	cmd.Flags().BoolVar(&w.silent, "no-comments", false, "they may not any more")
	cmd.Flags().BoolVar(&w.qr, "qr", false, "draw the URL as a QR code, too")
	cmd.MarkFlagsMutuallyExclusive("comments", "no-comments")
	cmd.AddCommand(
		a.command("list ARTIFACT", "List the links of an artifact", linkGuide, exactly(1, "one ARTIFACT"),
			func(ctx context.Context, args []string) error { return a.withOwnArtifact(ctx, args[0], listLinks) }),
		a.command("revoke LINK", "End a link", linkGuide, exactly(1, "one LINK, an id that begins with al_"),
			func(ctx context.Context, args []string) error { return a.revokeLink(ctx, args[0]) }),
	)
	return cmd
}

// linkFlags say which link is wanted.
type linkFlags struct {
	revision, expires    string
	comments, silent, qr bool
}

// wanted returns the link that the flags ask for.
func (w linkFlags) wanted(t target, now time.Time) (want contract.CreateLink, err error) {
	want.Type = shareLink
	pinned, err := t.of(w.revision)
	if err != nil {
		return want, err
	}
	if pinned != "" {
		want.Type, want.RevisionID = revisionLink, pinned
	}
	if w.comments || w.silent {
		if pinned != "" {
			return want, failure.New(failure.Invalid, failure.Usage, "a link to one revision takes no comments").
				Advise("Omit --comments and --no-comments, or the revision.")
		}
		want.Comments = &w.comments
	}
	end, err := until(w.expires, now)
	want.ExpiresAt = contract.AtOrNull(end)
	return want, err
}

// madeLink is an access link with its URL.
type madeLink struct {
	SchemaVersion string      `json:"schema_version"`
	ID            id.Link     `json:"access_link_id"`
	Type          string      `json:"type"`
	ArtifactID    id.Artifact `json:"artifact_id"`
	RevisionID    id.Revision `json:"revision_id,omitempty"`
	URL           string      `json:"url"`
	// ExpiresAt is the end of the link, if known and set.
	ExpiresAt *contract.Time `json:"expires_at,omitempty"`
	// Comments reports whether who has the link may write feedback, if that was asked for.
	Comments *bool `json:"comments,omitempty"`

	noEnd bool // the link is known to have no end
}

// linkTo creates a link, or finds the existing share link, and returns it with a URL. Its end is never later than
// requested.
func linkTo(
	ctx context.Context,
	by *client.Account,
	idem string,
	artifact id.Artifact,
	want contract.CreateLink,
) (madeLink, error) {
	if want.Comments != nil && !slices.Contains(by.Hosts.Features, contract.FeatureFeedback) {
		return madeLink{}, errNoComments()
	}
	made, err := by.CreateLink(ctx, idem, artifact, want)
	// The server refused the requested end, or an existing share link stands in the way.
	if failure.IsCode(err, fault.InvalidRequest) && want.Type == shareLink && want.ExpiresAt != nil {
		err = cmp.Or(checkShareEnd(ctx, by, artifact, want.ExpiresAt.Time), err)
	}
	if err != nil {
		return madeLink{}, err
	}
	l := madeLink{
		SchemaVersion: schemaVersion,
		ID:            made.ID,
		Type:          made.Type,
		ArtifactID:    artifact,
		RevisionID:    want.RevisionID,
		ExpiresAt:     want.ExpiresAt,
		Comments:      made.Comments,
	}
	if want.Comments != nil && made.Comments == nil {
		return madeLink{}, errNoComments()
	}
	if made.Type == shareLink { // other links are always new
		if err := l.fetchEnd(ctx, by); err != nil {
			return madeLink{}, err
		}
	}
	if want.ExpiresAt != nil && (l.noEnd || l.ExpiresAt.After(want.ExpiresAt.Time)) {
		return madeLink{}, errLasts(l.ID, l.ExpiresAt)
	}
	l.URL, err = by.MintLink(ctx, made.ID)
	return l, err
}

// fetchEnd reads when the link ends, because an existing link may have another end than requested. A link that is not
// listed yet is new, and has the requested end.
func (l *madeLink) fetchEnd(ctx context.Context, by *client.Account) error {
	list, err := by.Links(ctx, l.ArtifactID)
	if err != nil {
		return err
	}
	l.noEnd = l.ExpiresAt == nil
	for _, row := range list.Items {
		if row.ID == l.ID {
			l.ExpiresAt, l.noEnd = row.ExpiresAt, row.ExpiresAt == nil
		}
	}
	return nil
}

// checkShareEnd fails if the artifact has a share link that ends later than end, because there is one share link at a
// time, and asking for another returns that one.
func checkShareEnd(ctx context.Context, by *client.Account, artifact id.Artifact, end time.Time) error {
	list, err := by.Links(ctx, artifact)
	if err != nil {
		return err
	}
	for _, row := range list.Items {
		if row.Type == shareLink && row.RevokedAt == nil && (row.ExpiresAt == nil || row.ExpiresAt.After(end)) {
			return errLasts(row.ID, row.ExpiresAt)
		}
	}
	return nil
}

// errNoComments returns the failure for a server whose links take no comments.
func errNoComments() error {
	return failure.New(failure.Invalid, failure.Usage, "the links of this server take no comments").
		Advise("Omit --comments and --no-comments; the link then only opens the artifact.")
}

// errLasts returns the failure for an existing share link that ends at end; nil means never.
func errLasts(l id.Link, end *contract.Time) error {
	when := "never expires"
	if end != nil {
		when = "ends on " + end.UTC().Format("2006-01-02 15:04 UTC")
	}
	return failure.New(failure.Conflict, failure.LinkLasts, "the artifact already has a share link, which %s", when).
		Advise("Revoke it first, for everyone who has it: vitrine link revoke %s", l)
}

func (a *app) link(ctx context.Context, text string, w linkFlags) error {
	t, err := parseTarget(text)
	if err == nil && t.isShare() {
		err = shareIsForReading()
	}
	if err != nil {
		return err
	}
	want, err := w.wanted(t, a.now())
	if err != nil {
		return err
	}
	return a.withArtifact(ctx, t, func(ctx context.Context, h *artifactContext) error {
		l, err := linkTo(ctx, h.account, "cli_link_"+a.newUUID(), h.artifact, want)
		if err != nil {
			return err
		}
		if a.screen.IsJSON() {
			return a.screen.Object(l)
		}
		err = a.screen.Result(l.URL, a.linkRows(ctx, h.account, l)...)
		if err == nil && w.qr {
			err = a.screen.QR(l.URL)
		}
		return err
	})
}

// linkRows describe what a link shows, and how long. It ignores a failure to read the end of the artifact, because the
// link already works.
func (a *app) linkRows(ctx context.Context, by *client.Account, l madeLink) []screen.Row {
	shows := "the newest revision"
	if l.RevisionID != "" {
		shows = "revision " + string(l.RevisionID) + " for good"
	}
	view, _ := by.View(ctx, l.ArtifactID, "") // then the end is unknown
	rows := []screen.Row{
		{Name: "Shows", Value: shows + ", without sign-in"},
		{Name: "Opens", Value: a.lifetime(l, view.ExpiresAt)},
	}
	if l.Comments != nil {
		may := "may not write feedback"
		if *l.Comments {
			may = "may write feedback, where the artifact's page lets them"
		}
		rows = append(rows, screen.Row{Name: "People", Value: may})
	}
	if l.ID != "" {
		rows = append(rows, screen.Row{Name: "End", Value: "vitrine link revoke " + string(l.ID)})
	}
	return rows
}

// lifetime describes how long a link works if its artifact ends at an instant, of which the zero time is unknown.
func (a *app) lifetime(l madeLink, artifact contract.Time) string {
	lasts := !artifact.IsZero() && (a.outlives(artifact) || !limits.Ends(artifact.Time))
	switch {
	case !artifact.IsZero() && !lasts && (l.ExpiresAt == nil || artifact.Before(l.ExpiresAt.Time)):
		return "until " + screen.When(artifact.Time, a.now()) + ", when the artifact ends"
	case l.ExpiresAt != nil:
		return "until " + screen.When(l.ExpiresAt.Time, a.now())
	case lasts && l.noEnd:
		return "until it is revoked"
	}
	return "until the link or the artifact ends"
}

// linkList is the JSON result of link list.
type linkList struct {
	SchemaVersion string `json:"schema_version"`
	contract.LinkList
}

func listLinks(ctx context.Context, h *artifactContext) error {
	list, err := h.account.Links(ctx, h.artifact)
	if err != nil {
		return err
	}
	if h.screen.IsJSON() {
		return h.screen.Object(linkList{schemaVersion, list})
	}
	var rows [][]string
	for _, l := range list.Items {
		shows := "newest revision"
		if l.RevisionID != nil {
			shows = string(*l.RevisionID)
		}
		rows = append(rows, []string{string(l.ID), l.Type, shows, "made " + date(l.CreatedAt), h.state(l)})
	}
	if len(rows) == 0 {
		h.screen.Note("The artifact has no links; create one with vitrine link %s", h.artifact)
	}
	return h.screen.Table(rows)
}

// state describes whether a link works.
func (a *artifactContext) state(l contract.LinkRow) string {
	switch {
	case l.RevokedAt != nil:
		return "revoked " + date(*l.RevokedAt)
	case l.ExpiresAt == nil:
		return "open"
	case !l.ExpiresAt.After(a.now()):
		return "ended " + date(*l.ExpiresAt)
	}
	return "open until " + screen.When(l.ExpiresAt.Time, a.now())
}

func date(t contract.Time) string { return t.UTC().Format(time.DateOnly) }

// revokedLink is the JSON result of link revoke.
type revokedLink struct {
	SchemaVersion string `json:"schema_version"`
	contract.RevokedLink
}

func (a *app) revokeLink(ctx context.Context, text string) error {
	link := id.Link(text)
	if _, err := link.Public(); err != nil {
		return failure.New(failure.Invalid, failure.Usage, "this is not the id of a link").
			Advise("It begins with al_; vitrine link list with the id of the artifact shows it.")
	}
	account, by, err := a.account(ctx, toAct)
	if err != nil {
		return by.refusedBy(err)
	}
	r, err := account.RevokeLink(ctx, link)
	switch {
	case err != nil:
		return by.refusedBy(err)
	case a.screen.IsJSON():
		return a.screen.Object(revokedLink{schemaVersion, r})
	}
	return a.screen.Result("Revoked "+string(r.AccessLinkID)+"; it no longer opens anything",
		screen.Row{Name: "Since", Value: r.RevokedAt.UTC().Format("2006-01-02 15:04 UTC")})
}

const linkGuide = `vitrine link ARTIFACT creates a link that opens an artifact without sign-in.

  vitrine link art_00000000000000000000000002
  vitrine link art_00000000000000000000000002 --expires 3d
  vitrine link art_00000000000000000000000002 --revision-id rev_00000000000000000000000003
  vitrine link art_00000000000000000000000002 --comments
  vitrine link art_00000000000000000000000002 --qr
  vitrine link list art_00000000000000000000000002
  vitrine link revoke al_00000000000000000000000004

A link shows the newest revision, or with --revision-id always that one. An artifact has one link of
the first kind; repeating the command prints its URL again. The URL works until the link ends: at
--expires, with its artifact, or when it is revoked. list shows links with their ids, without URLs;
revoke ends a link at once. If the existing link ends later than --expires, the command fails with
exit code 7, link_lasts_longer; if it ends earlier, it is not changed, and expires_at says when.

With --comments people who have the link may write feedback; --no-comments takes that back, for the
link of before, too. The artifact's page has to let people with a link write as well, and the
workspace has to be claimed: exit code 2, forbidden. A link to one revision takes no comments.

With --json: link gives schema_version, access_link_id, type, artifact_id, revision_id, url,
expires_at, and comments if asked for; list gives artifact_id and items; revoke gives
access_link_id and revoked_at.

Flags:
  --revision-id ID  always show this revision; ARTIFACT may be the link of its page instead
  --expires WHEN    3d, 12h, 1d12h, a date such as 2026-12-31 (00:00 UTC), or an RFC 3339 time
  --comments        people who have the link may write feedback about the artifact
  --no-comments     they may not any more
  --qr              draw the URL as a QR code below the result; not with --json or --quiet
` + targetNote + `.
`
