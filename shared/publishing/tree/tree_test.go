package tree

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func TestF83OnlyPlainRelativePathsPass(t *testing.T) {
	long := strings.Repeat("a", 1024)
	for _, good := range []string{
		"index.html", "a/b/c.txt", ".well-known/x", "a b/ü.md", "%2e%2e", "1:/a", "ab:c", "é:x", ":x",
		"a/c:/b", "a/c:b", "e\u0301.txt", "\u00e9.txt", long, strings.Repeat("a/", 63) + "a", "...", "a..b",
		// other systems read these in their own way, and they are valid here
		"con", "aux.txt", "trail.", "trail ", "ab:stream", "a?b*c", "~", "$HOME", "-rf",
	} {
		if err := CheckPath(good); err != nil {
			t.Errorf("%q is refused: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "/", "/etc/passwd", "a//b", "a/", "./a", "a/./b", "../a", "a/../b", "..", ".",
		`a\b`, "a\x00b", "a\nb", "a\x7fb", "\xff\xfe", long + "a", strings.Repeat("a/", 64) + "a",
		"C:", "c:/windows/x", "c:x", "Z:x/y", "a:b",
	} {
		if CheckPath(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

// TestFilesOfOlderRevisionsKeepTheirPaths covers paths like a:b, which new files cannot have and old ones may.
func TestFilesOfOlderRevisionsKeepTheirPaths(t *testing.T) {
	for _, p := range []string{"a:b", "c:x/y", "index.html"} {
		if err := CheckStoredPath(p); err != nil {
			t.Errorf("%q is not read: %v", p, err)
		}
	}
	for _, bad := range []string{"C:", "c:/windows/x", "../a", `a\b`, ""} {
		if CheckStoredPath(bad) == nil {
			t.Errorf("%q passes, which never was a path", bad)
		}
	}
}

func TestOtherUnicodeFormsAreOtherPaths(t *testing.T) {
	files := Tree{{Path: "e\u0301.txt"}}
	if _, ok := files.Find("\u00e9.txt"); ok {
		t.Error("the composed form finds the decomposed one")
	}
}

func TestDigestsAreLowerCaseHexadecimal(t *testing.T) {
	d, ok := ParseDigest(EmptyDigest.String())
	if !ok || d != EmptyDigest {
		t.Error("a digest does not survive its text")
	}
	text := EmptyDigest.String()
	for _, bad := range []string{"", strings.ToUpper(text), text[1:], text + "0", strings.Repeat("g", 64)} {
		if _, ok := ParseDigest(bad); ok {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestATreeAddsUpWhatItHasAndWhatItBorrows(t *testing.T) {
	lent, other := Object{Session: "lender"}, Object{Session: "lender", Entry: 1}
	files := Tree{
		{Path: "own", Size: 1, Object: Object{Session: "own"}},
		{Path: "a", Size: 2, Object: lent, Borrowed: true},
		{Path: "b", Size: 2, Object: lent, Borrowed: true},
		{Path: "c", Size: 3, Object: other, Borrowed: true},
	}
	if got := files.Borrowed(); !slices.Equal(got, []Object{lent, other}) {
		t.Errorf("borrows %v", got)
	}
	later := append(files[:1:1], files.Inherited("first")[1:3]...)
	later = append(later, files[3]).Inherited("second")
	var referrers []id.Revision
	for _, f := range later {
		referrers = append(referrers, f.Referrer)
	}
	if want := []id.Revision{"", "first", "first", "second"}; !slices.Equal(referrers, want) || later.Borrowed() != nil {
		t.Errorf("the references are of %q, want %q, and %v are written again", referrers, want, later.Borrowed())
	}
	if files.Size() != 8 || (Tree)(nil).Size() != 0 {
		t.Errorf("%d bytes", files.Size())
	}
	if f, ok := files.Find("c"); !ok || f.Content() != (Content{Size: 3}) {
		t.Errorf("%+v, want three bytes", f)
	}
}

func TestAFileIsReadWholeAndRightOrNotAtAll(t *testing.T) {
	const text = "content"
	f := File{Size: int64(len(text)), SHA256: DigestOf(text)}
	reset := errors.New("reset")
	broken := io.MultiReader(strings.NewReader("con"), iotest.ErrReader(reset))
	for name, c := range map[string]struct {
		object io.Reader
		cause  error
		want   fault.Code
	}{
		"its bytes":              {strings.NewReader(text), nil, ""},
		"its bytes one by one":   {iotest.OneByteReader(strings.NewReader(text)), nil, ""},
		"other bytes":            {strings.NewReader("CONTENT"), nil, fault.StorageUnavailable},
		"too few":                {strings.NewReader("cont"), nil, fault.StorageUnavailable},
		"one too many":           {strings.NewReader("contents"), nil, fault.StorageUnavailable},
		"bytes without end":      {endless{}, nil, fault.StorageUnavailable},
		"a failure":              {iotest.ErrReader(reset), reset, fault.StorageUnavailable},
		"a failure after a part": {broken, reset, fault.StorageUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := f.ReadAll(c.object)
			if fault.CodeOf(err) != c.want || c.cause != nil && !errors.Is(err, c.cause) || (got == text) != (err == nil) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestTheMemoryOfATreeIsItsFilesWithTheirNames compares the size with what the parts take.
func TestTheMemoryOfATreeIsItsFilesWithTheirNames(t *testing.T) {
	const files, path, session = 100, 500, 30
	tr := make(Tree, files)
	for n := range tr {
		tr[n].Path, tr[n].Object.Session = strings.Repeat("p", path), "ups_00000000000000000000000000"
	}
	least := int64(files * (path + session + 80))
	if got := tr.MemorySize(); got < least || got > least*3/2 {
		t.Errorf("%d bytes, want a little more than %d", got, least)
	}
	if Tree(nil).MemorySize() != 0 {
		t.Error("no tree takes memory")
	}
}
