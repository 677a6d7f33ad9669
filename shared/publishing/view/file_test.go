package view

import (
	"encoding/base64"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

func inlined(t *testing.T, text string) contract.FileContent {
	t.Helper()
	v := &Service{Bytes: fakeBytes(text)}
	f := tree.File{Path: "a.txt", Size: int64(len(text)), SHA256: tree.DigestOf(text)}
	got, err := v.inline(t.Context(), new(artifact.Artifact), f)
	expect.OK(t, err)
	return got
}

// TestTextIsReadBackAsLongAsAFunctionCanAnswerIt tries the longest text of each kind, whose answer must fit a
// function's, and one that is a character longer, which must be left out.
func TestTextIsReadBackAsLongAsAFunctionCanAnswerIt(t *testing.T) {
	const room = limits.FunctionAnswer - limits.FunctionFrame
	empty, err := contract.Encode(inlined(t, ""))
	expect.OK(t, err)
	around := len(empty) - len("0") + len("1000000") // size_bytes of what follows has seven digits
	inBase64 := base64.StdEncoding.DecodedLen(room / 4 * 4)
	for name, c := range map[string]struct {
		unit string
		most int // units
	}{
		"plain text":         {"x", limits.InlineAnswer - around},
		"quotes":             {`"`, (inBase64 - around) / len(`\"`)},
		"control characters": {"\x01", (limits.InlineAnswer - around + len("0")) / len(`\u0001`)}, // six digits
		"letters of two":     {"é", (limits.InlineAnswer - around) / len("é")},
		"markup":             {"<", limits.InlineAnswer - around},
		"some line feeds":    {strings.Repeat("x", 99) + "\n", (limits.InlineAnswer - around) / 101},
	} {
		got := inlined(t, strings.Repeat(c.unit, c.most))
		if got.Body == nil || got.IsBinary {
			t.Errorf("%s: %d times does not come", name, c.most)
		}
		if got = inlined(t, strings.Repeat(c.unit, c.most+1)); got.Body != nil || got.IsBinary {
			t.Errorf("%s: %d times comes", name, c.most+1)
		}
	}
}

func TestTheBytesOfAnyFileOfTheCurrentRevisionAreRead(t *testing.T) {
	const bytes = "\x00\xff"
	e := newEnv(t)
	e.Bytes = fakeBytes(bytes)
	e.store.tree = tree.Tree{{Path: "p.png", Size: int64(len(bytes)), SHA256: tree.DigestOf(bytes)}, {Path: "empty.txt"}}
	read := func(by credential.Actor, path string, most int64) ([]byte, error) {
		return e.Content(t.Context(), by, &e.store.artifact, path, most)
	}
	if got, err := read(e.owner, "p.png", 2); err != nil || string(got) != bytes {
		t.Errorf("%q, %v", got, err)
	}
	if e.store.asked != e.revisions[1] {
		t.Errorf("read %s", e.store.asked)
	}
	if got, err := read(e.owner, "p.png", 1); err != nil || got != nil {
		t.Errorf("more than wanted: %q, %v", got, err)
	}
	if got, err := read(e.owner, "empty.txt", 0); err != nil || got == nil || len(got) > 0 {
		t.Errorf("an empty file: %v, %v", got, err)
	}
	_, err := read(e.owner, "other.png", 2)
	expect.Code(t, err, fault.NotFound)
	_, err = read(credential.Actor{Workspace: workspace.Workspace{ID: id.NewWorkspace()}}, "p.png", 2)
	expect.Code(t, err, fault.NotFound)
	e.Bytes = fakeBytes("other")
	_, err = read(e.owner, "p.png", 2)
	expect.Code(t, err, fault.StorageUnavailable)
	e.store.artifact.Lock = id.NewLockdown()
	_, err = read(e.owner, "p.png", 2)
	expect.Code(t, err, fault.NotFound)
}
