package content

import (
	"cmp"
	"context"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// Exports reads the state that decides whether archives of exports may be read.
type Exports interface {
	// Export reads the newest export of a workspace strongly, nil if there is none.
	Export(ctx context.Context, w id.Workspace) (*export.Export, error)
	// Workspace reads a workspace strongly, nil if there is none.
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
}

// FindExport checks a token and finds an archive of an export. The limit of reads is that of an artifact. Refusals in
// order: not_found for the token, database_unavailable if the state cannot be read, not_found for the state,
// rate_limited_artifact.
func (r *Reader) FindExport(ctx context.Context, text string) (File, error) {
	claims, err := r.ExportTokens.ParseExport(text, r.Now())
	if err != nil {
		return File{}, readaccess.NotFound()
	}
	subject := exportSubject(claims.Export)
	limited := r.Limiter.Begin(ctx, subject, "export/"+string(claims.Export))
	workspaces := async.Go(func() (*workspace.Workspace, error) { return r.Exports.Workspace(ctx, claims.Workspace) })
	e, err := r.Exports.Export(ctx, claims.Workspace)
	read := limited()
	w, err2 := workspaces.Wait()
	if err = cmp.Or(err, err2); err != nil {
		return File{}, err
	}
	open := w != nil && w.Open() && e != nil && e.ID == claims.Export &&
		e.At(r.Now()).Status == export.Ready && claims.Volume >= 1 && claims.Volume <= len(e.Volumes)
	if !open {
		return File{}, readaccess.NotFound()
	}
	if err := r.Limiter.Confirm(ctx, read, w.Tier(), 0).Refusal; err != nil {
		return File{}, err
	}
	volume := e.Volumes[claims.Volume-1]
	return File{
		File:      tree.File{Path: e.FileName(claims.Volume), Size: volume.Size, SHA256: volume.SHA256},
		Workspace: claims.Workspace,
		Artifact:  subject,
		NoIndex:   true,
		Bundle:    true,
		archive:   e.Object(claims.Volume),
	}, nil
}

// exportSubject returns the id under which reads and streams of an export are counted as those of an artifact. No
// artifact has this id, because ids are random.
func exportSubject(e id.Export) id.Artifact {
	b, err := e.Bits()
	if err != nil {
		panic(fault.New(fault.Internal, "a token held a malformed export")) // codecs make well-formed ids only
	}
	return id.ArtifactOf(b)
}
