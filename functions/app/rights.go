package app

import (
	"vitrine/functions/app/pages"
	"vitrine/shared/identity/credential"
)

// meaning is a right in words: in a sentence, and in a list of facts.
type meaning struct{ could, may string }

var meanings = map[credential.Scope]meaning{
	credential.Publish: {"publish new artifacts, and change, share or delete yours", "publish"},
	credential.Read:    {"see the artifacts and the limits of the workspace", "read"},
	credential.Admin:   {"make and revoke API keys, and change the settings of the workspace", "manage keys and settings"},
}

// rights returns what scopes allow, for sentences.
func rights(scopes []credential.Scope) []string {
	return inWords(scopes, func(m meaning) string { return m.could })
}

// shortRights returns the same for lists of facts.
func shortRights(scopes []credential.Scope) []string {
	return inWords(scopes, func(m meaning) string { return m.may })
}

func inWords(scopes []credential.Scope, word func(meaning) string) (out []string) {
	for _, s := range scopes {
		if m, known := meanings[s]; known {
			out = append(out, word(m))
		}
	}
	return out
}

// artifactSummary describes what an agent or a workspace published. count stops at most.
func artifactSummary(titles []string, count, most int) pages.ArtifactSummary {
	return pages.ArtifactSummary{Titles: titles, Count: count, Most: count >= most}
}
