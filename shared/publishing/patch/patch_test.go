package patch

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
)

const limit = 1 << 20

func TestHunksApplyWhereTheySay(t *testing.T) {
	base := "one\ntwo\nthree\nfour\nfive\n"
	for _, tt := range []struct{ name, base, diff, want string }{
		{"replace", base, "@@ -2 +2 @@\n-two\n+zwei\n", "one\nzwei\nthree\nfour\nfive\n"},
		{
			"with headers", base, "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ section\n one\n-two\n+zwei\n",
			"one\nzwei\nthree\nfour\nfive\n",
		},
		{"insert in front", base, "@@ -0,0 +1 @@\n+zero\n", "zero\none\ntwo\nthree\nfour\nfive\n"},
		{"insert behind", base, "@@ -5,0 +6 @@\n+six\n", "one\ntwo\nthree\nfour\nfive\nsix\n"},
		{"delete all", "one\n", "@@ -1 +0,0 @@\n-one\n", ""},
		{"two hunks", base, "@@ -1 +1,2 @@\n-one\n+1\n+1.5\n@@ -5 +6 @@\n-five\n+5\n", "1\n1.5\ntwo\nthree\nfour\n5\n"},
		{
			"end without newline", "one\ntwo",
			"@@ -2 +2 @@\n-two\n\\ No newline at end of file\n+zwei\n\\ No newline at end of file\n", "one\nzwei",
		},
		{"newline added", "one", "@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+one\n", "one\n"},
		{"newline removed", "one\n", "@@ -1 +1 @@\n-one\n+one\n\\ No newline at end of file\n", "one"},
		{"context without newline", "a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "A\nb"},
		{"carriage returns are data", "a\r\nb\r\n", "@@ -2 +2 @@\n-b\r\n+c\r\n", "a\r\nc\r\n"},
		{"not text", "\xff\x00\n\xfe\n", "@@ -2 +2 @@\n-\xfe\n+\xfd\n", "\xff\x00\n\xfd\n"},
		{"last line of the diff without newline", base, "@@ -2 +2 @@\n-two\n+zwei", "one\nzwei\nthree\nfour\nfive\n"},
	} {
		got, err := Apply([]byte(tt.base), []byte(tt.diff), limit)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	base := "one\ntwo\nthree\n"
	for _, tt := range []struct {
		name, diff string
		want       error
	}{
		{"empty", "", Unparsable},
		{"no hunk", "--- a\n+++ b\n", Unparsable},
		{"not a diff", "hello\n", Unparsable},
		{"nothing in a hunk", "@@ -1,0 +1,0 @@\n", Unparsable},
		{"line zero", "@@ -0 +1 @@\n-one\n+1\n", Unparsable},
		{"more lines than counted", "@@ -1 +1 @@\n-one\n+1\n+2\n", Unparsable},
		{"fewer lines than counted", "@@ -1,2 +1 @@\n-one\n+1\n", Unparsable},
		{"unknown line", "@@ -1 +1 @@\n?one\n", Unparsable},
		{"empty line", "@@ -1,2 +1,2 @@\n one\n\n", Unparsable},
		{"huge number", "@@ -99999999999 +1 @@\n-one\n", Unparsable},
		{"wrong context", "@@ -1,2 +1 @@\n one\n-drei\n", Inapplicable},
		{"one line off", "@@ -1 +1 @@\n-two\n+zwei\n", Inapplicable},
		{"one line off in the result", "@@ -2 +3 @@\n-two\n+zwei\n", Inapplicable},
		{"behind the end", "@@ -4 +4 @@\n-four\n+vier\n", Inapplicable},
		{"far behind the end", "@@ -900 +900 @@\n-x\n+y\n", Inapplicable},
		{"hunks in the wrong order", "@@ -3 +3 @@\n-three\n+3\n@@ -1 +1 @@\n-one\n+1\n", Inapplicable},
		{"hunks that overlap", "@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -2 +2 @@\n-two\n+2\n", Inapplicable},
		{"end of file too early", "@@ -1 +1 @@\n-one\n+1\n\\ No newline at end of file\n", Inapplicable},
		{"the base ends with a newline", "@@ -3 +3 @@\n-three\n\\ No newline at end of file\n+3\n", Inapplicable},
	} {
		if got, err := Apply([]byte(base), []byte(tt.diff), limit); !errors.Is(err, tt.want) {
			t.Errorf("%s: %q %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

func TestT64ResultsAreCappedWhileTheyGrow(t *testing.T) {
	base := bytes.Repeat([]byte("x"), 1000)
	if _, err := Apply(base, []byte("@@ -0,0 +1 @@\n+more\n"), 1004); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if out, err := Apply(base, []byte("@@ -0,0 +1 @@\n+more\n"), 1005); err != nil || len(out) != 1005 {
		t.Error(len(out), err)
	}
	var diff strings.Builder // so many hunks end this test only in linear time
	lines := 300_000
	for n := range lines {
		diff.WriteString("@@ -" + itoa(n+1) + " +" + itoa(n+1) + " @@\n-\n+\n")
	}
	out, err := Apply(bytes.Repeat([]byte("\n"), lines), []byte(diff.String()), limit)
	if err != nil || len(out) != lines {
		t.Error(len(out), err)
	}
}

func itoa(n int) string {
	var b [10]byte
	i := len(b)
	for ; n > 0; n /= 10 {
		i--
		b[i] = byte('0' + n%10)
	}
	return string(b[i:])
}

func TestDiffsOfALibraryApply(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString([]string{"alpha", "beta", "", "gamma\r", "δ", " -x", "+y", "\\ z"}[random.IntN(8)])
			b.WriteString("\n")
		}
		if random.IntN(3) == 0 {
			b.WriteString("no end")
		}
		return b.String()
	}
	for range 3000 {
		before, after := text(), text()
		diff := udiff.Unified("a", "b", before, after)
		if before == after {
			continue
		}
		if got, err := Apply([]byte(before), []byte(diff), limit); err != nil || string(got) != after {
			t.Fatalf("%q to %q by\n%s\ngives %q %v", before, after, diff, got, err)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("one\ntwo\n"), []byte("@@ -2 +2 @@\n-two\n+zwei\n"))
	f.Add([]byte("a"), []byte("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"))
	f.Fuzz(func(t *testing.T, base, diff []byte) {
		out, err := Apply(base, diff, 1000)
		if err == nil && len(out) > 1000 {
			t.Errorf("%d bytes", len(out))
		}
		if err != nil && out != nil {
			t.Error("a refusal with a result")
		}
	})
}
