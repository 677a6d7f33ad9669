package tree

import (
	"strings"
	"testing"
)

func TestF83OnlyPlainRelativePathsPass(t *testing.T) {
	long := strings.Repeat("a", 1024)
	for _, good := range []string{
		"index.html", "a/b/c.txt", ".well-known/x", "a b/ü.md", "%2e%2e", "1:/a", "ab:c", "é:x", ":x", "a/c:/b", "a/c:b", "e\u0301.txt", "\u00e9.txt", long, strings.Repeat("a/", 63) + "a", "...", "a..b",
		"con", "aux.txt", "trail.", "trail ", "ab:stream", "a?b*c", "~", "$HOME", "-rf", // what other systems read is not this one's to refuse
	} {
		if err := CheckPath(good); err != nil {
			t.Errorf("%q is refused: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "/", "/etc/passwd", "a//b", "a/", "./a", "a/./b", "../a", "a/../b", "..", ".", `a\b`, "a\x00b", "a\nb", "a\x7fb", "\xff\xfe", long + "a",
		strings.Repeat("a/", 64) + "a", "C:", "c:/windows/x", "c:x", "Z:x/y", "a:b",
	} {
		if CheckPath(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

// TestFilesOfOlderRevisionsKeepTheirPaths: a name like a:b was a path once, and is one where nothing new is declared.
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
	for _, bad := range []string{"", strings.ToUpper(EmptyDigest.String()), EmptyDigest.String()[1:], EmptyDigest.String() + "0", strings.Repeat("g", 64)} {
		if _, ok := ParseDigest(bad); ok {
			t.Errorf("%q passes", bad)
		}
	}
}
