package content

import (
	"cmp"
	"context"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// bundleName is the name under which browsers save a bundle.
const bundleName = "bundle.zip"

// FindBundle checks a token and finds the archive of its revision. Refusals in order: not_found for the token, then
// database_unavailable if the state cannot be read, not_found for the state or a bundle that is not ready, and
// rate_limited_artifact.
func (r *Reader) FindBundle(ctx context.Context, text string) (File, error) {
	claims, err := r.Bundles.Parse(text, r.Now())
	if err != nil {
		return File{}, readaccess.NotFound()
	}
	query := readaccess.QueryOf(claims)
	limited := r.Limiter.Begin(ctx, claims.Artifact, query.Holder("bundle", claims.Revision))
	revisions := async.Go(func() (*artifact.Revision, error) {
		return r.Store.Revision(ctx, claims.Artifact, claims.Revision)
	})
	state, err := readaccess.Read(ctx, r.Store, query)
	read := limited()
	revision, err2 := revisions.Wait()
	err = cmp.Or(err, err2)
	if err == nil && (!state.Allows(query, r.Now()) || !bundled(revision) ||
		claims.Public && !state.Artifact.ViewOpen(*revision)) {
		err = readaccess.NotFound()
	}
	if err == nil {
		err = r.Limiter.Confirm(ctx, read, state.Workspace.Tier(), revision.FileCount).Refusal
	} else if fault.CodeOf(err) == fault.NotFound && state.ArtifactAllows(query, r.Now()) {
		r.Limiter.GiveBack(ctx, read)
	}
	if err != nil {
		return File{}, err
	}
	return bundleFile(state, claims, revision.Bundle), nil
}

// bundled reports whether a revision is published and its bundle is ready.
func bundled(r *artifact.Revision) bool {
	return r != nil && r.Status == artifact.Published && r.Bundle.Status == artifact.BundleReady
}

// bundleFile returns the archive as a file.
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
