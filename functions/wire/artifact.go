// Package wire converts values of the core to shapes of the contract that several hosts answer.
package wire

import (
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// ArtifactSummary returns an artifact for the lists of API keys and MCP clients.
func ArtifactSummary(a artifact.Artifact) contract.ArtifactSummary {
	return contract.ArtifactSummary{
		ID:         a.ID,
		RevisionID: orNull(a.Current),
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
}

// RevisionSummary returns a revision for the list of its artifact.
func RevisionSummary(r artifact.Revision) contract.RevisionSummary {
	return contract.RevisionSummary{
		RevisionID:     r.ID,
		RevisionNumber: orNull(r.Number),
		Status:         string(r.Status),
		Entrypoint:     r.Entrypoint,
		RenderMode:     string(r.Mode),
		FileCount:      r.FileCount,
		SizeBytes:      r.Size,
		CreatedAt:      contract.At(r.CreatedAt),
		PublishedAt:    contract.AtOrNull(r.PublishedAt),
	}
}

// Revisions returns a page of the revisions of an artifact; next is the cursor of the next one, empty if there is none.
func Revisions(a id.Artifact, rows []artifact.Revision, next string) contract.RevisionList {
	return contract.RevisionList{
		ArtifactID: a,
		Items:      contract.Rows(rows, RevisionSummary),
		PageInfo:   contract.Page(next),
	}
}

// Bundle returns whether the archive of a revision is available.
func Bundle(b artifact.Availability) contract.Bundle {
	return contract.Bundle{
		Status:            string(b.Status),
		RetryAfterSeconds: contract.Seconds(b.RetryAfter),
		URL:               b.URL,
		SizeBytes:         b.Size,
		GeneratedAt:       contract.AtOrNull(b.MadeAt),
	}
}

// orNull returns nil for a zero value, which makes it null in JSON.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
