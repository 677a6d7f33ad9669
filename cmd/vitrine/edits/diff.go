package edits

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"vitrine/shared/publishing/patch"
)

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// Diff is the unified diff from one text to another, "" if they are equal. A name is /dev/null for a file that is not
// there.
func Diff(from, to, before, after string) (string, error) {
	if before == after {
		return "", nil
	}
	return udiff.ToUnified(from, to, before, udiff.Lines(before, after), contextLines)
}

// Patch is the diff to send instead of a text: it is smaller, and a server that applies it gets exactly that text. False
// if there is none.
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

// Lines splits a diff into its lines, without their ends.
func Lines(diff string) []string { return strings.Split(strings.TrimSuffix(diff, "\n"), "\n") }
