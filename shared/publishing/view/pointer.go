package view

import (
	"context"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/readaccess"
)

// Pointer leads to a revision of an artifact. It has the fields of contract.Pointer.
type Pointer struct {
	RevisionID id.Revision
	IframeSrc  string // what a viewer frames
	RenderMode string
	Title      string // of the artifact
	Number     int
}

// Pointer leads to the current revision of an artifact, by a URL that is minted through a link unless through is empty.
// The caller has checked that the state allows the reader to read.
func (v *Service) Pointer(ctx context.Context, s readaccess.State, through id.Public) (Pointer, error) {
	c, err := v.files(ctx, s.Artifact.ID, s.Artifact.Current)
	if err != nil {
		return Pointer{}, err
	}
	if c == nil {
		return Pointer{}, readaccess.NotFound()
	}
	at, err := v.Addresses.Locate(v.claims(s.Workspace, s.Artifact, c.Revision.ID, through))
	return Pointer{
		RevisionID: c.Revision.ID,
		IframeSrc:  at.Of(c.Revision.Entrypoint).Frame(),
		RenderMode: string(c.Revision.Mode),
		Title:      s.Artifact.Title,
		Number:     s.Artifact.Number,
	}, err
}
