package app

import (
	"vitrine/functions/app/pages"
	"vitrine/shared/credential"
)

// meanings are the rights in words: what a holder could do, and in a list of facts.
var meanings = map[credential.Scope]struct{ could, may string }{
	credential.Publish: {"publish new artifacts, and change, share or delete yours", "publish"},
	credential.Read:    {"see the artifacts and the limits of the workspace", "read"},
	credential.Admin:   {"make and revoke API keys, and change the settings of the workspace", "manage keys and settings"},
}

func rights(scopes []credential.Scope) []string {
	var out []string
	for _, s := range scopes {
		if m, known := meanings[s]; known {
			out = append(out, m.could)
		}
	}
	return out
}

func shortRights(scopes []credential.Scope) []string {
	var out []string
	for _, s := range scopes {
		if m, known := meanings[s]; known {
			out = append(out, m.may)
		}
	}
	return out
}

// parcel is what somebody published; count stops at most.
func parcel(titles []string, count, most int) pages.Parcel {
	return pages.Parcel{Titles: titles, Count: count, Most: count >= most}
}
