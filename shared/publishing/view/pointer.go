package view

import (
	"context"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/readaccess"
)

// Pointer tells a viewer which revision to show. It has the fields of contract.Pointer.
type Pointer struct {
	RevisionID id.Revision
	IframeSrc  string // the URL that a viewer frames
	RenderMode string
	Title      string // of the artifact
	Number     int
}

// Pointer returns the pointer to the current revision of an artifact. Its URL is minted through a link unless through
// is empty. The caller has checked that the state allows the read.
func (s *Service) Pointer(ctx context.Context, state readaccess.State, through id.Public) (Pointer, error) {
	c, err := s.files(ctx, state.Artifact.ID, state.Artifact.Current)
	if err != nil {
		return Pointer{}, err
	}
	if c == nil {
		return Pointer{}, readaccess.NotFound()
	}
	at, err := s.Addresses.Locate(s.claims(state.Workspace, state.Artifact, c.Revision.ID, through))
	return Pointer{
		RevisionID: c.Revision.ID,
		IframeSrc:  c.Revision.Frame(at),
		RenderMode: string(c.Revision.Mode),
		Title:      state.Artifact.Title,
		Number:     state.Artifact.Number,
	}, err
}
