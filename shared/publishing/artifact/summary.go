package artifact

import "vitrine/shared/platform/contract"

// Summary is the artifact in the lists of API keys and MCP clients.
func (a Artifact) Summary() contract.ArtifactSummary {
	s := contract.ArtifactSummary{
		ID:         a.ID,
		Status:     string(a.Status),
		Title:      a.Title,
		Entrypoint: a.Entrypoint,
		FileCount:  a.FileCount,
		SizeBytes:  a.Size,
		ExpiresAt:  contract.At(a.ExpiresAt),
		CreatedAt:  contract.At(a.CreatedAt),
		UpdatedAt:  contract.At(a.UpdatedAt),
		DeletedAt:  contract.AtOrNull(a.DeletedAt),
	}
	if a.Current != "" {
		s.RevisionID = &a.Current
	}
	return s
}

// Summary is the revision in the list of its artifact.
func (r Revision) Summary() contract.RevisionSummary {
	s := contract.RevisionSummary{
		RevisionID:  r.ID,
		Status:      string(r.Status),
		Entrypoint:  r.Entrypoint,
		RenderMode:  string(r.Mode),
		FileCount:   r.FileCount,
		SizeBytes:   r.Size,
		CreatedAt:   contract.At(r.CreatedAt),
		PublishedAt: contract.AtOrNull(r.PublishedAt),
	}
	if r.Number > 0 {
		s.RevisionNumber = &r.Number
	}
	return s
}
