package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/edits"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

func (a *app) diffCommand() *cobra.Command {
	return a.command("diff ARTIFACT [REVISION [REVISION]]", "Compare revisions of an artifact",
		diffGuide, between(1, 3, "an ARTIFACT and up to two REVISIONs"),
		func(ctx context.Context, args []string) error {
			t, err := parseWhole(args[0])
			if err != nil {
				return err
			}
			return a.withArtifact(ctx, t, func(ctx context.Context, h *artifactContext) error { return h.diff(ctx, args[1:]) })
		})
}

// differences is the JSON result of diff.
type differences struct {
	SchemaVersion string                    `json:"schema_version"`
	ArtifactID    id.Artifact               `json:"artifact_id"`
	From          id.Revision               `json:"from_revision_id"`
	To            id.Revision               `json:"to_revision_id"`
	Counts        contract.ComparisonCounts `json:"counts"`
	Files         []difference              `json:"files"`
}

// difference is a file that differs between two revisions. Diff is set for text.
type difference struct {
	Path         string `json:"path"`
	PreviousPath string `json:"previous_path,omitempty"`
	Status       string `json:"status"` // added, removed, changed, renamed
	IsBinary     bool   `json:"is_binary"`
	Diff         string `json:"diff,omitempty"`
}

func (a *artifactContext) diff(ctx context.Context, named []string) error {
	from, to, err := a.pair(ctx, named)
	if err != nil {
		return err
	}
	before, err := a.account.View(ctx, a.artifact, from)
	if err != nil {
		return err
	}
	after, err := a.account.View(ctx, a.artifact, to)
	if err != nil {
		return err
	}
	d := differences{
		SchemaVersion: schemaVersion,
		ArtifactID:    a.artifact,
		From:          before.RevisionID,
		To:            after.RevisionID,
		Files:         []difference{},
	}
	old, fresh := indexed(before.Files, "before"), indexed(after.Files, "after")
	for _, c := range tree.Changes(old.tree, fresh.tree) {
		one, err := a.compare(ctx, c, old.files[fromPath(c)], fresh.files[c.Path()])
		if err != nil {
			return err
		}
		// Otherwise the texts are equal, which the server could not tell without digests.
		if c.Kind != tree.Changed || one.IsBinary || one.Diff != "" {
			d.Files = append(d.Files, one)
			d.Counts.Add(c.Kind)
		}
	}
	return a.showDiff(d)
}

// pair returns the two revisions to compare: two named ones, a named one and the newest, or the newest two.
func (a *artifactContext) pair(ctx context.Context, named []string) (from, to id.Revision, err error) {
	published, err := a.published(ctx)
	switch {
	case err != nil:
		return "", "", err
	case len(named) == 0 && len(published) < 2:
		return "", "", failure.New(failure.NotFound, fault.NotFound, "there are no two published revisions to compare").
			Advise("vitrine revisions %s lists them.", a.artifact)
	case len(named) == 0:
		return published[1].RevisionID, published[0].RevisionID, nil
	case len(published) == 0:
		return "", "", noSuchRevision(a.artifact)
	}
	to = published[0].RevisionID
	if from, err = revisionNamed(a.artifact, published, named[0]); err == nil && len(named) == 2 {
		to, err = revisionNamed(a.artifact, published, named[1])
	}
	return from, to, err
}

// published lists the published revisions, newest first.
func (a *artifactContext) published(ctx context.Context) ([]contract.RevisionSummary, error) {
	list, err := a.revisions(ctx, paging{limit: maxList})
	return publishedOf(list), err
}

// publishedAt returns when a revision was published.
func (a *artifactContext) publishedAt(ctx context.Context, v contract.AgentView) (at time.Time, err error) {
	published, err := a.published(ctx)
	if err != nil {
		return at, err
	}
	for _, r := range published {
		if r.RevisionID == v.RevisionID && r.PublishedAt != nil {
			return r.PublishedAt.Time, nil
		}
	}
	return at, noSuchRevision(a.artifact)
}

func publishedOf(list contract.RevisionList) (published []contract.RevisionSummary) {
	for _, r := range list.Items {
		if r.Status == "published" && r.RevisionNumber != nil {
			published = append(published, r)
		}
	}
	slices.SortFunc(published, func(a, b contract.RevisionSummary) int { return *b.RevisionNumber - *a.RevisionNumber })
	return published
}

// revisionNamed finds a published revision by its id or its number.
func revisionNamed(of id.Artifact, published []contract.RevisionSummary, name string) (id.Revision, error) {
	for _, r := range published {
		if string(r.RevisionID) == name || strconv.Itoa(*r.RevisionNumber) == name {
			return r.RevisionID, nil
		}
	}
	return "", noSuchRevision(of)
}

func noSuchRevision(of id.Artifact) error {
	return failure.New(failure.NotFound, fault.NotFound, "the artifact has no such published revision").
		Advise("vitrine revisions %s lists them; name one by its id or its number.", of)
}

// index holds the files of a revision in the form of the server's own comparison.
type index struct {
	tree  tree.Tree
	files map[string]*contract.AgentViewFile // by path
}

// indexed builds an index. A file without a digest equals no other file.
func indexed(files []contract.AgentViewFile, side string) index {
	out := index{files: map[string]*contract.AgentViewFile{}}
	for n, f := range files {
		digest, ok := tree.ParseDigest(f.SHA256)
		if !ok {
			digest = tree.DigestOf(side + f.Path)
		}
		out.tree = append(out.tree, tree.File{Path: f.Path, Size: f.SizeBytes, SHA256: digest})
		out.files[f.Path] = &files[n]
	}
	return out
}

// fromPath returns the old path of a file; empty if it is new.
func fromPath(c tree.Change) string {
	if c.From == nil {
		return ""
	}
	return c.From.Path
}

// compare diffs one file.
func (a *artifactContext) compare(
	ctx context.Context, c tree.Change, from, to *contract.AgentViewFile,
) (d difference, err error) {
	d.Path, d.Status = c.Path(), c.Kind
	if c.Kind == tree.Renamed {
		d.PreviousPath = c.From.Path
		return d, nil
	}
	var before, after string
	old, text := "/dev/null", true
	now := old
	if c.From != nil {
		old = "a/" + screen.Clean(c.From.Path)
		before, text, err = a.textOf(ctx, *from)
	}
	if c.To != nil {
		if now = "b/" + screen.Clean(c.To.Path); err == nil && text {
			after, text, err = a.textOf(ctx, *to)
		}
	}
	if d.IsBinary = !text; err == nil && text {
		d.Diff, err = edits.Diff(old, now, before, after)
	}
	return d, err
}

// textOf reads a file. It returns false if the file is not text, or too large to compare.
func (a *artifactContext) textOf(ctx context.Context, f contract.AgentViewFile) (string, bool, error) {
	body, err := a.account.Fetch(ctx, f, maxShown)
	if errors.Is(err, client.ErrLarge) {
		return "", false, nil
	}
	return string(body), err == nil && edits.IsText(body), err
}

func (a *artifactContext) showDiff(d differences) error {
	if a.screen.IsJSON() {
		return a.screen.Object(d)
	}
	if a.screen.IsQuiet() {
		var rows [][]string
		for _, f := range d.Files {
			rows = append(rows, []string{f.Path})
		}
		return a.screen.Table(rows)
	}
	if len(d.Files) == 0 {
		a.screen.Note("%s and %s have the same files", d.From, d.To)
		return nil
	}
	var text strings.Builder
	for _, f := range d.Files {
		switch {
		case f.Status == tree.Renamed:
			text.WriteString("File " + screen.Clean(f.PreviousPath) + " renamed to " + screen.Clean(f.Path) + "\n")
		case f.Diff != "":
			text.WriteString(f.Diff)
		case f.IsBinary:
			text.WriteString("Binary file " + screen.Clean(f.Path) + " " + f.Status + "\n")
		default:
			text.WriteString("Empty file " + screen.Clean(f.Path) + " " + f.Status + "\n")
		}
	}
	return a.screen.Diff(edits.Lines(text.String()))
}

const diffGuide = `vitrine diff ARTIFACT [REVISION [REVISION]] compares revisions, file by file.

  vitrine diff art_00000000000000000000000002        the newest two
  vitrine diff art_00000000000000000000000002 3      revision 3 and the newest
  vitrine diff art_00000000000000000000000002 3 5    these two
  vitrine diff art_00000000000000000000000002 --quiet

REVISION is a number or an id (rev_...). Text is shown as a unified diff, other files by name; with
--quiet all are shown by name. The exit code is 0 whether or not they differ. With --json:
{"schema_version":"1","artifact_id":...,"from_revision_id":...,"to_revision_id":...,
"counts":{added, removed, changed, renamed},
"files":[{path, previous_path?, status, is_binary, diff?}]}; the status is added, removed, changed
or renamed. A file is renamed if the same bytes have another path.
` + readNote
