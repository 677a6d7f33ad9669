package edits

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"vitrine/shared/publishing/patch"
)

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// Diff returns the unified diff from one text to another; "" if they are equal. The name /dev/null stands for a missing
// file.
func Diff(from, to, before, after string) (string, error) {
	if before == after {
		return "", nil
	}
	return udiff.ToUnified(from, to, before, udiff.Lines(before, after), contextLines)
}

// Patch returns a diff that is smaller than the new text and from which the server rebuilds exactly that text. It
// returns false if there is none.
func Patch(before, after string) ([]byte, bool) {
	diff, err := Diff("a", "b", before, after)
	if err != nil || diff == "" || len(diff) >= len(after) {
		return nil, false
	}
	got, err := patch.Apply([]byte(before), []byte(diff), int64(len(after)))
	if err != nil || string(got) != after {
		return nil, false
	}
	return []byte(diff), true
}

// Lines splits a diff into its lines, without line ends.
func Lines(diff string) []string { return strings.Split(strings.TrimSuffix(diff, "\n"), "\n") }
