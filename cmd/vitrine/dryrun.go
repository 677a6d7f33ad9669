package main

import (
	"context"
	"fmt"

	"vitrine/cmd/vitrine/folder"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// The ways in which a file differs from the newest revision.
const (
	fileNew     = "new"
	fileChanged = "changed"
	fileSame    = "same"
	fileDeleted = "deleted"
)

// dryRun is the JSON result of publish --dry-run.
type dryRun struct {
	SchemaVersion string        `json:"schema_version"`
	DryRun        bool          `json:"dry_run"`
	ArtifactID    id.Artifact   `json:"artifact_id,omitempty"`
	BaseRevision  id.Revision   `json:"base_revision_id,omitempty"`
	Title         string        `json:"title"`
	Entrypoint    string        `json:"entrypoint"`
	Listing       bool          `json:"listing,omitempty"`
	Files         []plannedFile `json:"files"`
	DeletedPaths  []string      `json:"deleted_paths"`
	KeptBack      []keptBack    `json:"kept_back"`
	Skipped       []string      `json:"skipped"`
	Stats         plannedStats  `json:"upload_stats"`
	Unchanged     bool          `json:"unchanged,omitempty"`
	pageWarnings
}

// plannedFile is a file that would be published.
type plannedFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
	Change string `json:"change"`
}

// keptBack is a file that is not published because it looks like a secret.
type keptBack struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// plannedStats counts what would be published, and how much of it would be sent.
type plannedStats struct {
	TotalFiles    int   `json:"total_files"`
	TotalBytes    int64 `json:"total_bytes"`
	UploadedFiles int   `json:"uploaded_files"`
	UploadedBytes int64 `json:"uploaded_bytes"`
}

// dryRun shows what a publish would do, and fails where it would fail. It only reads from the server, and only if there
// is a revision to compare with.
func (a *app) dryRun(ctx context.Context, files *folder.Folder, w publishFlags) (err error) {
	var base *contract.AgentView
	if w.artifact != "" {
		p, err := a.authenticate(ctx, false)
		if err != nil {
			return err
		}
		if base, err = p.check(ctx, files, w); err != nil {
			return p.by.refusedBy(err)
		}
	}
	if err := checkRemovals(base, files.Skipped.Secrets); err != nil {
		return err
	}
	d := planned(files, base)
	d.Unchanged = base != nil && !w.force && !base.EphemeralTier && isSame(files, w, base)
	if d.pageWarnings, err = a.lint(ctx, files, w); err != nil {
		return err
	}
	if a.screen.IsJSON() {
		return a.screen.Object(d)
	}
	return a.showDryRun(d)
}

// check returns the base for a revision, if one can be published now.
func (p *publication) check(ctx context.Context, files *folder.Folder, w publishFlags) (*contract.AgentView, error) {
	base, err := p.base(ctx, w)
	if err != nil {
		return nil, err
	}
	if err := p.entitle(files, base, w); err != nil {
		return nil, err
	}
	return base, p.permit(ctx, files, w)
}

// planned compares files with a base; nil for a new artifact.
func planned(files *folder.Folder, base *contract.AgentView) dryRun {
	d := dryRun{
		SchemaVersion: schemaVersion,
		DryRun:        true,
		Title:         files.Title,
		Entrypoint:    files.Entrypoint,
		Listing:       files.Listing,
		Files:         []plannedFile{},
		DeletedPaths:  []string{},
		KeptBack:      []keptBack{},
		Skipped:       append([]string{}, files.Skipped.Other...),
	}
	old := map[string]contract.AgentViewFile{}
	if base != nil {
		d.ArtifactID, d.BaseRevision = base.ArtifactID, base.RevisionID
		for _, f := range base.Files {
			old[f.Path] = f
		}
	}
	for _, f := range files.Files {
		d.add(f, old)
		delete(old, f.Path)
	}
	if base != nil {
		for _, f := range base.Files {
			if _, missing := old[f.Path]; missing {
				d.DeletedPaths = append(d.DeletedPaths, f.Path)
			}
		}
	}
	for _, r := range files.Skipped.Secrets {
		d.KeptBack = append(d.KeptBack, keptBack{r.Path, r.Why})
	}
	return d
}

// add adds a file to the plan, compared with the files of the base.
func (d *dryRun) add(f folder.File, old map[string]contract.AgentViewFile) {
	change := fileChanged
	switch was, there := old[f.Path]; {
	case !there:
		change = fileNew
	case was.SHA256 == f.SHA256 && was.SizeBytes == f.Size:
		change = fileSame
	}
	d.Files = append(d.Files, plannedFile{
		Path:   f.Path,
		Size:   f.Size,
		SHA256: f.SHA256,
		Change: change,
	})
	d.Stats.TotalFiles++
	d.Stats.TotalBytes += f.Size
	if change != fileSame {
		d.Stats.UploadedFiles++
		d.Stats.UploadedBytes += f.Size
	}
}

func (a *app) showDryRun(d dryRun) error {
	what := "a new artifact"
	if d.ArtifactID != "" {
		what = "a revision of " + string(d.ArtifactID)
	}
	s := d.Stats
	first := fmt.Sprintf("Would publish %s, %s, as %s", screen.Count(s.TotalFiles, "file"),
		screen.Bytes(s.TotalBytes), what)
	if d.Unchanged {
		first = "Would publish nothing, because nothing changed in " + string(d.ArtifactID)
	}
	err := a.screen.Result(first,
		screen.Row{Name: "Title", Value: d.Title},
		screen.Row{Name: "Opens", Value: opening(d.Entrypoint, d.Listing)},
		screen.Row{
			Name:  "Sends",
			Value: screen.Count(s.UploadedFiles, "file") + ", " + screen.Bytes(s.UploadedBytes),
		})
	if err != nil || a.screen.IsQuiet() {
		return err
	}
	var rows [][]string
	for _, f := range d.Files {
		rows = append(rows, []string{"    " + f.Path, screen.Bytes(f.Size), f.Change})
	}
	for _, path := range d.DeletedPaths {
		rows = append(rows, []string{"    " + path, "", fileDeleted})
	}
	if err := a.screen.Table(rows); err != nil {
		return err
	}
	a.notePages(d.pageWarnings)
	return nil
}
