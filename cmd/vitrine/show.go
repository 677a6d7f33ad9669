package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

func (a *app) showCommand() *cobra.Command {
	var revision string
	var all bool
	cmd := a.command("show ARTIFACT", "Show an artifact and its files", showGuide, exactly(1, "one ARTIFACT"),
		func(ctx context.Context, args []string) error { return a.show(ctx, args[0], revision, all) })
	cmd.Flags().StringVar(&revision, "revision-id", "", "this revision instead of the newest")
	cmd.Flags().BoolVar(&all, "all", false, "list all files")
	return cmd
}

// shown is the JSON result of show. PrivateURL is for members, and absent for a share URL.
type shown struct {
	SchemaVersion string `json:"schema_version"`
	contract.PublicAgentView
	PrivateURL string `json:"private_url,omitempty"`
	pageWarnings
}

// show shows a revision. JSON has all files in any case, because a program expects the whole.
func (a *app) show(ctx context.Context, text, revision string, all bool) error {
	t, err := parseTarget(text)
	if err != nil {
		return err
	}
	named, err := t.of(revision)
	if err != nil {
		return err
	}
	see, _, err := a.viewer(ctx, t)
	if err != nil {
		return err
	}
	look := see.first
	if all || a.screen.IsJSON() {
		look = see.whole
	}
	v, err := look(ctx, named)
	switch {
	case err != nil:
		return err
	case a.screen.IsJSON():
		return a.screen.Object(shown{
			SchemaVersion:   schemaVersion,
			PublicAgentView: v.PublicAgentView,
			PrivateURL:      v.PrivateURL,
			pageWarnings:    pageWarnings{v.PageWarnings, v.PageWarningsOmitted},
		})
	}
	if err := a.screen.Result(v.Title, a.viewRows(v)...); err != nil || a.screen.IsQuiet() {
		return err
	}
	var files [][]string
	for _, f := range v.Files {
		files = append(files, []string{"    " + f.Path, screen.Bytes(f.SizeBytes), f.ContentType})
	}
	if err := a.screen.Table(files); err != nil {
		return err
	}
	if more := v.FilesTotal - len(v.Files); more > 0 {
		a.screen.Note("There are %s more files; --all lists them", screen.Number(int64(more)))
	}
	a.notePages(pageWarnings{v.PageWarnings, v.PageWarningsOmitted})
	return nil
}

// outlives reports whether an existing artifact has outlived its expiry, which means that it is pinned.
func (a *app) outlives(expires contract.Time) bool { return !expires.After(a.now()) }

// expiry describes when an existing artifact expires.
func (a *app) expiry(at contract.Time) string {
	switch {
	case a.outlives(at):
		return "never, while it is pinned"
	case !limits.Ends(at.Time):
		return doesNotExpire
	}
	return screen.When(at.Time, a.now())
}

// doesNotExpire describes an artifact that has no end, pinned or not.
const doesNotExpire = "does not expire"

func (a *app) viewRows(v contract.AgentView) []screen.Row {
	rows := []screen.Row{{Name: "Artifact", Value: string(v.ArtifactID)}, {Name: "Revision", Value: string(v.RevisionID)}}
	if v.PrivateURL != "" {
		rows = append(rows, screen.Row{Name: "View", Value: v.PrivateURL + " (for members of the workspace)"})
	}
	rows = append(rows, screen.Row{Name: "Expires", Value: a.expiry(v.ExpiresAt)},
		screen.Row{Name: "Opens", Value: opening(v.Entrypoint, v.Listing)})
	for _, w := range v.SafetyWarnings {
		rows = append(rows, screen.Row{Name: "Warning", Value: w.FilePath + " " + w.Message})
	}
	files, size := totals(v)
	return append(rows, screen.Row{Name: "Files", Value: screen.Count(files, "file") + ", " + screen.Bytes(size)})
}

// opening describes what readers see first.
func opening(entrypoint string, listing bool) string {
	if listing {
		return "the list of files"
	}
	return entrypoint
}

func (a *app) revisionsCommand() *cobra.Command {
	var p paging
	cmd := a.command("revisions ARTIFACT", "List the revisions of an artifact",
		revisionsGuide, exactly(1, "one ARTIFACT"),
		func(ctx context.Context, args []string) error {
			t, err := parseWhole(args[0])
			if err == nil {
				err = p.check("revisions " + args[0])
			}
			if err != nil {
				return err
			}
			return a.withArtifact(ctx, t, func(ctx context.Context, h *artifactContext) error {
				return h.listRevisions(ctx, p)
			})
		})
	p.register(cmd, listPage)
	return cmd
}

// revisionList is the JSON result of revisions.
type revisionList struct {
	SchemaVersion string `json:"schema_version"`
	contract.RevisionList
}

// revisions reads as many pages of the revisions of the artifact as needed.
func (a *artifactContext) revisions(ctx context.Context, p paging) (l contract.RevisionList, err error) {
	l.ArtifactID = a.artifact
	l.Items, l.PageInfo, err = pages(p, func(cursor string, limit int) ([]contract.RevisionSummary, contract.PageInfo, error) {
		page, err := a.account.Revisions(ctx, a.artifact, cursor, limit)
		return page.Items, page.PageInfo, err
	})
	return l, err
}

func (a *artifactContext) listRevisions(ctx context.Context, p paging) error {
	l, err := a.revisions(ctx, p)
	switch {
	case err != nil:
		return err
	case a.screen.IsJSON():
		return a.screen.Object(revisionList{schemaVersion, l})
	}
	var rows [][]string
	for _, r := range l.Items {
		number, when := "-", r.CreatedAt
		if r.RevisionNumber != nil {
			number = strconv.Itoa(*r.RevisionNumber)
		}
		if r.PublishedAt != nil {
			when = *r.PublishedAt
		}
		rows = append(rows, []string{
			string(r.RevisionID), number, r.Status, when.UTC().Format("2006-01-02 15:04 UTC"),
			screen.Count(r.FileCount, "file"), screen.Bytes(r.SizeBytes), r.Entrypoint,
		})
	}
	a.noteMore("revisions "+string(a.artifact), len(rows), l.PageInfo)
	return a.screen.Table(rows)
}

const showGuide = `vitrine show ARTIFACT shows an artifact and the files of its newest revision.

  vitrine show art_00000000000000000000000002
  vitrine show art_00000000000000000000000002 --revision-id rev_00000000000000000000000011
  vitrine show art_00000000000000000000000002 --json

With --json it prints the agent view: schema_version, artifact_id, revision_id, title, created_at,
expires_at, entrypoint, revision_content_url, files[{path, size_bytes, content_type, url, sha256}],
safety_warnings, bundle; listing is true if readers see the list of files first; with a credential
also private_url, and what may not work as page_warnings[{code, severity, path, line, message}],
which people read on stderr. The urls are signed and expire soon.
Of more than 100 files, people see the first 100, and JSON has all, with files_total and size_total.

Flags:
  --all             list all files
  --revision-id ID  this revision instead of the newest; ARTIFACT may be the link of its page
                    (?revision=rev_..., in quotes) instead
` + readNote + `A share URL needs no sign-in and shows the revision that it opens.
`

const revisionsGuide = `vitrine revisions ARTIFACT lists the revisions, drafts first, then the newest.

  vitrine revisions art_00000000000000000000000002
  vitrine revisions art_00000000000000000000000002 --all --json

Each line shows id, number, status, when it was published or the draft was made, number of files,
size and entrypoint.
With --json: {"schema_version":"1","artifact_id":...,"items":[{revision_id, revision_number,
status, entrypoint, render_mode, file_count, size_bytes, created_at, published_at}],
"page_info":{next_cursor, has_more}}.

Flags:
  --limit N      how many to list, 100 unless given; drafts are not counted
  --all          all
  --cursor TEXT  go on where an earlier list ended: its page_info.next_cursor
` + readNote
