package api

import (
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// shapes makes rows of a list on the wire, which is never null.
func shapes[D, W any](rows []D, shape func(D) W) []W {
	out := make([]W, len(rows))
	for i, row := range rows {
		out[i] = shape(row)
	}
	return out
}

// artifactSummary is an artifact in the list of an API key.
func artifactSummary(a artifact.Artifact) contract.ArtifactSummary {
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

// webArtifactRow makes rows of the list of a member at an instant.
func webArtifactRow(now time.Time) func(artifact.Artifact) contract.WebArtifactRow {
	return func(a artifact.Artifact) contract.WebArtifactRow { return a.Row(now) }
}

// revisionSummary is a revision in the list of its artifact.
func revisionSummary(r artifact.Revision) contract.RevisionSummary {
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

// webKey is an API key in the list of a member.
func webKey(k credential.Key) contract.WebKey {
	return contract.WebKey{APIKeySummary: k.Summary(), Revoked: !k.RevokedAt.IsZero()}
}

// linkRow is an access link in the list of an API key.
func linkRow(l link.Link) contract.LinkRow {
	return contract.LinkRow{
		ID:         l.ID,
		Type:       string(l.Kind),
		ArtifactID: l.Artifact,
		RevisionID: orNull(l.Revision),
		CreatedAt:  contract.At(l.CreatedAt),
		ExpiresAt:  contract.AtOrNull(l.ExpiresAt),
		RevokedAt:  contract.AtOrNull(l.RevokedAt),
	}
}

// webLinkRow is an access link in the list of a member.
func webLinkRow(l link.Link) contract.WebLinkRow {
	return contract.WebLinkRow{
		ID:         l.ID,
		Type:       string(l.Kind),
		ArtifactID: l.Artifact,
		RevisionID: orNull(l.Revision),
		CreatedAt:  contract.At(l.CreatedAt),
		ExpiresAt:  contract.AtOrNull(l.ExpiresAt),
		RevokedAt:  contract.AtOrNull(l.RevokedAt),
		Revoked:    !l.RevokedAt.IsZero(),
	}
}

func orNull(r id.Revision) *id.Revision {
	if r == "" {
		return nil
	}
	return &r
}
