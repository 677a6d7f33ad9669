package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vitrine/functions/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/comparison"
	"vitrine/shared/publishing/view"
)

// readTools find and read what is published.
func (h *Host) readTools() toolset {
	return toolset{h.listArtifacts(), h.readArtifact(), h.readFile(), h.listRevisions()}
}

type pageInput struct {
	Cursor string `json:"cursor"`
}

func (h *Host) listArtifacts() *tool {
	return define(tool{
		name:        "list_artifacts",
		title:       "List artifacts",
		description: "List the artifacts of the workspace, newest first, with their ids. Pass page_info.next_cursor for more.",
		scopes:      reading,
		effect:      effect{reads: true},
		input:       object(may("cursor", text(1, limits.CursorLength))),
	}, func(ctx context.Context, c *call, in pageInput) (result, error) {
		rows, next, err := h.Artifacts.List(ctx, c.Actor, page(in.Cursor))
		if err != nil {
			return result{}, err
		}
		rows = slices.DeleteFunc(rows, func(a artifact.Artifact) bool { return a.Lock != "" })
		out := contract.ArtifactList{Data: contract.Rows(rows, wire.ArtifactSummary), PageInfo: contract.Page(next)}
		return result{value: out, line: fmt.Sprintf("%d artifacts", len(rows))}, nil
	})
}

type artifactInput struct {
	Artifact id.Artifact `json:"artifact_id"`
}

type viewInput struct {
	Artifact    id.Artifact `json:"artifact_id"`
	FilesCursor string      `json:"files_cursor"`
}

func (h *Host) readArtifact() *tool {
	return define(tool{
		name:  "read_artifact",
		title: "Read an artifact",
		description: "Read the newest revision of an artifact: its files with signed URLs, sizes and digests, a zip of them all (bundle), " +
			"and its expiry. Pass files_next_cursor as files_cursor for more files.",
		scopes: reading,
		effect: effect{reads: true},
		input:  object(with("artifact_id", artifactID()), may("files_cursor", text(1, limits.CursorLength))),
		card:   true,
	}, func(ctx context.Context, c *call, in viewInput) (result, error) {
		v, err := h.view(ctx, c, in.FilesCursor)
		if err != nil {
			return result{}, err
		}
		return result{
			value: wire.AgentView(v, c.Actor, h.Loads),
			line:  v.Title + ": " + v.PrivateURL + moreFiles(v),
			nudge: h.nudgeOf(c.Artifact),
			meta:  h.cardMeta(c, false),
		}, nil
	})
}

// view returns the view of the newest revision with at most limits.ViewFiles files, because a model reads all of them.
func (h *Host) view(ctx context.Context, c *call, filesCursor string) (view.View, error) {
	p := cursor.Page{Cursor: filesCursor, Limit: limits.ViewFiles}
	return h.Views.Latest(ctx, c.Actor, c.unlocked(), p)
}

// moreFiles says how many files there are if a view has a part of them, and how to get the others.
func moreFiles(v view.View) string {
	switch {
	case len(v.Files) == len(v.Tree):
		return ""
	case v.Next == "":
		return fmt.Sprintf("\nThese are the last %d of %d files.", len(v.Files), len(v.Tree))
	}
	return fmt.Sprintf("\nThese are %d of %d files. Call read_artifact with files_next_cursor as files_cursor for the next ones.",
		len(v.Files), len(v.Tree))
}

// unlocked returns the artifact of the call, or nil if an operator locked it, because its addresses are dead. Members
// see the lock in the dashboard, and their clients see what API keys see.
func (c *call) unlocked() *artifact.Artifact {
	if c.Artifact == nil || c.Artifact.Lock != "" {
		return nil
	}
	return c.Artifact
}

type fileInput struct {
	Artifact id.Artifact `json:"artifact_id"`
	Path     string      `json:"path"`
	Revision id.Revision `json:"revision_id"`
}

func (h *Host) readFile() *tool {
	return define(tool{
		name:  "read_file",
		title: "Read a file",
		description: "Read one file of an artifact. Text that fits comes as body; otherwise content_url is where to get it. " +
			"Without revision_id it is the newest one.",
		scopes: reading,
		effect: effect{reads: true},
		input: object(
			with("artifact_id", artifactID()), with("path", filePath()), may("revision_id", revisionID())),
	}, func(ctx context.Context, c *call, in fileInput) (result, error) {
		found, err := h.Views.File(ctx, c.Actor, c.Artifact, in.Revision, in.Path)
		if err != nil {
			return result{}, err
		}
		f, err := wire.FileContent(found)
		if err != nil {
			return result{}, err
		}
		out := contract.MCPFile{FileContent: f}
		shorter := func() (any, error) {
			out.Body = nil
			out.ContentURL, err = h.Views.FileURL(ctx, c.Actor, c.Artifact, in.Revision, in.Path)
			return out, err
		}
		if f.Body != nil {
			return result{value: out, shorter: shorter}, nil
		}
		short, err := shorter()
		return result{value: short}, err
	})
}

type artifactPageInput struct {
	Artifact id.Artifact `json:"artifact_id"`
	Cursor   string      `json:"cursor"`
}

func (h *Host) listRevisions() *tool {
	return define(tool{
		name:  "list_revisions",
		title: "List revisions",
		description: "List the revisions of an artifact, drafts first, then newest first. Pass page_info.next_cursor for " +
			"more.",
		scopes: reading,
		effect: effect{reads: true},
		input:  object(with("artifact_id", artifactID()), may("cursor", text(1, limits.CursorLength))),
	}, func(ctx context.Context, c *call, in artifactPageInput) (result, error) {
		rows, next, err := h.Artifacts.Revisions(ctx, c.Actor, c.Artifact, cursor.Page{Cursor: in.Cursor})
		if err != nil {
			return result{}, err
		}
		line := fmt.Sprintf("%d revisions", len(rows))
		if next != "" {
			line += ", and more follow"
		}
		return result{
			value: wire.Revisions(in.Artifact, rows, next),
			line:  line,
			nudge: h.nudgeOf(c.Artifact),
		}, nil
	})
}

type diffInput struct {
	Artifact id.Artifact `json:"artifact_id"`
	From     id.Revision `json:"from"`
	To       id.Revision `json:"to"`
	Path     string      `json:"path"`
	Cursor   string      `json:"cursor"`
}

func (h *Host) diffRevisions() *tool {
	return define(tool{
		name:  "diff_revisions",
		title: "Compare revisions",
		description: "Tell which files were added, removed, renamed or changed between two revisions, with unified diffs of text. " +
			"Without from and to it compares the newest revision with the one before.",
		scopes: reading,
		effect: effect{reads: true},
		input: object(
			with("artifact_id", artifactID()),
			may("from", revisionID()),
			may("to", revisionID()),
			may("path", filePath()),
			may("cursor", text(1, limits.CursorLength)),
		),
	}, func(ctx context.Context, c *call, in diffInput) (result, error) {
		out, err := h.Comparisons.Compare(ctx, c.Actor, c.Artifact, comparison.Query{
			From:   in.From,
			To:     in.To,
			Path:   in.Path,
			Cursor: in.Cursor,
		})
		return result{value: out, line: fmt.Sprintf("%d files differ", out.Counts.Sum())}, err
	})
}

// nudgeOf returns what should be done about an artifact.
func (h *Host) nudgeOf(a *artifact.Artifact) string {
	if a == nil {
		return ""
	}
	if a.Draft != "" {
		return fmt.Sprintf("The draft %s of %s waits to be published; it is discarded on %s.",
			a.Draft, a.ID, a.DraftAt.Add(limits.DraftLife).UTC().Format(time.RFC3339))
	}
	if !a.PinnedAt.IsZero() {
		return ""
	}
	return h.nudge(a.ExpiresAt)
}

// nudge returns a note that an artifact ends soon, or never; empty otherwise.
func (h *Host) nudge(ends time.Time) string {
	if !limits.Ends(ends) {
		return "It does not expire."
	}
	if left := ends.Sub(h.Now()); left <= 0 || left > soon {
		return ""
	}
	return fmt.Sprintf("It ends on %s. A member can keep it by pinning it in the dashboard.", ends.UTC().Format(time.RFC3339))
}
