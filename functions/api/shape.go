package api

import (
	"time"

	"vitrine/functions/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// published returns the answer to a publication by an API key.
func published(p artifact.PublishedRevision, by credential.Key) contract.Published {
	out := contract.Published{
		ArtifactID:         p.Artifact,
		RevisionID:         p.Revision,
		Title:              p.Title,
		RevisionContentURL: p.ContentURL,
		AgentViewURL:       p.ViewURL,
		ExpiresAt:          contract.At(p.ExpiresAt),
		Bundle:             wire.Bundle(p.Bundle),
		PrivateURL:         p.PrivateURL,
		UnlistedURL:        p.ShareURL,
	}
	if by.FromAgent {
		out.URL = p.ShareURL
	}
	out.Addressed, out.Skipped = wire.Closed(p.Closed)
	return out
}

// webArtifact returns an artifact as its members see it.
func webArtifact(d artifact.Detail) contract.WebArtifact {
	out := contract.WebArtifact{
		WebArtifactRow: contract.WebArtifactRow{
			ID:               d.ID,
			Title:            d.Title,
			Status:           d.Status,
			LatestRevisionID: d.Revision,
			Pinned:           d.Pinned,
			Lockdown:         d.LinksLocked,
			LastPublishedAt:  contract.AtOrNull(d.PublishedAt.Time),
			AutoDeleteAt:     contract.AtOrNull(d.EndsAt.Time),
		},
		Entrypoint: d.Entrypoint,
		FileCount:  d.FileCount,
		SizeBytes:  d.Size,
	}
	if p := d.Preview; p != nil {
		out.Viewer = &contract.WebViewer{IframeSrc: p.URL, RenderMode: string(p.Mode)}
	}
	return out
}

// webArtifactRow returns the function that makes rows of a member's list at an instant.
func webArtifactRow(now time.Time) func(artifact.Artifact) contract.WebArtifactRow {
	return func(a artifact.Artifact) contract.WebArtifactRow { return webArtifact(a.Detail(now)).WebArtifactRow }
}

// webKey returns an API key for a member's list.
func webKey(k credential.Key) contract.WebKey {
	return contract.WebKey{APIKeySummary: apiKeySummary(k), Revoked: !k.RevokedAt.IsZero()}
}

// revokedKey returns the answer to the revocation of an API key.
func revokedKey(k credential.Key) contract.RevokedKey {
	return contract.RevokedKey{APIKey: apiKeySummary(k), RevokedAt: contract.At(k.RevokedAt)}
}

func apiKeySummary(k credential.Key) contract.APIKeySummary {
	return contract.APIKeySummary{
		ID:          k.ID,
		WorkspaceID: k.Workspace,
		Name:        k.Name,
		PublicID:    k.Public,
		Scopes:      credential.ScopeStrings(k.Scopes),
		RevokedAt:   contract.AtOrNull(k.RevokedAt),
		ExpiresAt:   contract.AtOrNull(k.ExpiresAt),
		CreatedAt:   contract.At(k.CreatedAt),
		LastUsedAt:  contract.AtOrNull(k.LastUsedAt),
	}
}

// webLinkRow returns an access link for a member's list.
func webLinkRow(l link.Link) contract.WebLinkRow {
	row := wire.LinkRow(l)
	return contract.WebLinkRow{
		ID:         row.ID,
		Type:       row.Type,
		ArtifactID: row.ArtifactID,
		RevisionID: row.RevisionID,
		CreatedAt:  row.CreatedAt,
		ExpiresAt:  row.ExpiresAt,
		RevokedAt:  row.RevokedAt,
		Revoked:    row.RevokedAt != nil,
	}
}
