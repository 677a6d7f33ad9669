package id

import "strings"

// Label returns the artifact id in the form of a label of a host name.
func (a Artifact) Label() string { return strings.ReplaceAll(strings.ToLower(string(a)), "_", "-") }

// ArtifactOfLabel returns the artifact with a label. It fails with ErrMalformed for any text that Label does not return.
func ArtifactOfLabel(label string) (Artifact, error) {
	a := Artifact("art_" + strings.ToUpper(strings.TrimPrefix(label, "art-")))
	if _, err := a.Bits(); err != nil || a.Label() != label {
		return "", ErrMalformed
	}
	return a, nil
}
