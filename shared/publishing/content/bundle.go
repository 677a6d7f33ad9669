package content

import (
	"context"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// bundleName is the name under which browsers save a bundle.
const bundleName = "bundle.zip"

// FindBundle checks a token and finds the archive of its revision. Refusals in order: not_found for the token, the state
// behind it or a bundle that is not ready, then rate_limited_artifact; database_unavailable if the state cannot be read.
func (r *Reader) FindBundle(ctx context.Context, text string) (File, error) {
	claims, err := r.Bundles.Parse(text, r.Now())
	if err != nil {
		return File{}, readaccess.NotFound()
	}
	query := readaccess.Query{Workspace: claims.Workspace, Artifact: claims.Artifact, Link: claims.Link}
	limited, revisions := make(chan rate.Read, 1), make(chan revisionResult, 1)
	go func() {
		limited <- r.Limiter.Artifact(ctx, claims.Artifact, "bundle/"+string(claims.Link)+"/"+string(claims.Revision))
	}()
	go func() {
		found, err := r.Store.Revision(ctx, claims.Artifact, claims.Revision)
		revisions <- revisionResult{found, err}
	}()
	state, err := readaccess.Read(ctx, r.Store, query)
	read, got := <-limited, <-revisions
	if err == nil {
		err = got.err
	}
	if err == nil && (!state.Allows(query, r.Now()) || !got.ready() ||
		claims.Public && !state.Artifact.ViewOpen(*got.revision)) {
		err = readaccess.NotFound()
	}
	if err == nil {
		err = r.Limiter.Confirm(ctx, read, state.Workspace.Tier()).Over
	} else if fault.CodeOf(err) == fault.NotFound && state.ArtifactAllows(query, r.Now()) {
		r.Limiter.GiveBack(ctx, read)
	}
	if err != nil {
		return File{}, err
	}
	return bundleFile(state, claims, got.revision.Bundle), nil
}

type revisionResult struct {
	revision *artifact.Revision
	err      error
}

func (r revisionResult) ready() bool {
	return r.revision != nil && r.revision.Status == artifact.Published && r.revision.Bundle.Status == artifact.BundleReady
}

// bundleFile is the archive as a file.
func bundleFile(s readaccess.State, c token.Claims, b artifact.Bundle) File {
	return File{
		File:      tree.File{Path: bundleName, Size: b.Size, SHA256: b.SHA256},
		Workspace: s.Workspace.ID,
		Artifact:  c.Artifact,
		Revision:  c.Revision,
		NoIndex:   c.NoIndex && s.Workspace.ClaimedAt.IsZero(),
		Bundle:    true,
		home:      s.Artifact.StorageWorkspace,
	}
}
