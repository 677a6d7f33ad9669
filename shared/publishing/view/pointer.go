package view

import (
	"context"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/readaccess"
)

// Pointer leads to the current revision of an artifact, by a URL that is minted through a link unless through is empty.
// The caller has checked that the state allows the reader to read.
func (v *Service) Pointer(ctx context.Context, s readaccess.State, through id.Public) (contract.Pointer, error) {
	c, err := v.files(ctx, s.Artifact.ID, s.Artifact.Current)
	if err != nil {
		return contract.Pointer{}, err
	}
	if c == nil {
		return contract.Pointer{}, readaccess.NotFound()
	}
	at, err := v.Addresses.Locate(v.claims(s.Workspace, s.Artifact, c.Revision.ID, through))
	return contract.Pointer{
		RevisionID: c.Revision.ID,
		IframeSrc:  at.Frame(c.Revision.Entrypoint),
		RenderMode: string(c.Revision.Mode),
		Title:      s.Artifact.Title,
		Number:     s.Artifact.Number,
	}, err
}
