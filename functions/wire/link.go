package wire

import (
	"vitrine/shared/platform/contract"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
)

// LinkRow returns an access link for the lists of API keys and MCP clients.
func LinkRow(l link.Link) contract.LinkRow {
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

// Visibility returns the answer to a change of an artifact's visibility to people without an account.
func Visibility(v sharing.Visibility) contract.Visibility {
	out := contract.Visibility{ArtifactID: v.Artifact, Visibility: v.Is, AccessLinkID: v.Link}
	if v.Is == sharing.Private {
		out.PrivateURL, out.RevokedAccessLinkIDs = v.URL, &v.Ended
	} else {
		out.UnlistedURL = v.URL
	}
	return out
}
