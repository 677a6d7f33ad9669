package api

import (
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/publishing/artifact"
)

// webArtifactRow makes rows of the list of a member at an instant.
func webArtifactRow(now time.Time) func(artifact.Artifact) contract.WebArtifactRow {
	return func(a artifact.Artifact) contract.WebArtifactRow { return a.Row(now) }
}

// webKey is an API key in the list of a member.
func webKey(k credential.Key) contract.WebKey {
	return contract.WebKey{APIKeySummary: k.Summary(), Revoked: !k.RevokedAt.IsZero()}
}
