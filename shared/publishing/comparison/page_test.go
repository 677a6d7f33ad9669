package comparison

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/patch"
	"vitrine/shared/publishing/tree"
)

// whole joins the diffs of one path.
func whole(t testing.TB, files []contract.ComparedFile, path string) string {
	t.Helper()
	var out strings.Builder
	for n, f := range files {
		if f.Path != path {
			continue
		}
		diff := f.Diff
		if out.Len() > 0 { // every part has the header of a diff
			diff = diff[strings.Index(diff, "@@"):]
		}
		if last := n == len(files)-1 || files[n+1].Path != path; f.DiffContinues == last {
			t.Errorf("part %d says that it continues: %t", n, f.DiffContinues)
		}
		out.WriteString(diff)
	}
	return out.String()
}

// wantPatch checks that a diff leads from one text to the other.
func wantPatch(t testing.TB, before, after, diff string) {
	t.Helper()
	got, err := patch.Apply([]byte(before), []byte(diff), int64(len(after)))
	if err != nil || string(got) != after {
		t.Errorf("%v: the diff makes %.100q of %.100q, want %.100q:\n%.500s", err, got, before, after, diff)
	}
}

func TestALongDiffGoesOnInTheNextAnswer(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"one hunk":             {lines(9000, "old word"), lines(9000, "new")},
		"a file that is added": {"", lines(9000, "new word")},
		"many hunks": {lines(9000, "word"), strings.ReplaceAll(lines(9000, "word"), "0 word", "0 other "+
			strings.Repeat("x", 100))},
		"long lines":  {lines(30, strings.Repeat("x", 8000)), lines(30, strings.Repeat("y", 8000))},
		"no last end": {lines(9000, "old"), lines(9000, "new") + "end"},
	} {
		t.Run(name, func(t *testing.T) {
			old := map[string]string{"f": c.before, "z": "1\n"}
			if c.before == "" {
				delete(old, "f")
			}
			e := newEnv(t, old, map[string]string{"f": c.after, "z": "2\n"})
			files, answers := e.all(t, Query{})
			if answers < 2 {
				t.Errorf("there are %d answers", answers)
			}
			wantPatch(t, c.before, c.after, whole(t, files, "f"))
			if last := files[len(files)-1]; last.Path != "z" || last.Diff == "" {
				t.Errorf("the last file is %+v", last)
			}
		})
	}
}

func TestAnAnswerReadsABoundedNumberOfFiles(t *testing.T) {
	old, fresh := map[string]string{}, map[string]string{}
	for n := range limits.FilesPerTree {
		path := fmt.Sprintf("f%02d.txt", n)
		old[path], fresh[path] = fmt.Sprintf("%d\n", n), fmt.Sprintf("%d.\n", n)
	}
	e := newEnv(t, old, fresh)
	out := e.compare(t, Query{})
	if !out.PageInfo.HasMore || len(out.Files) != limits.ComparedFiles || len(e.store.opened) != 2*limits.ComparedFiles {
		t.Errorf("%d files, %d reads", len(out.Files), len(e.store.opened))
	}
	if e.store.most > 2*maxParallel {
		t.Errorf("%d files are read at once", e.store.most)
	}
	files, answers := e.all(t, Query{})
	if len(files) != limits.FilesPerTree || answers != limits.FilesPerTree/limits.ComparedFiles {
		t.Errorf("%d files in %d answers", len(files), answers)
	}
}

func TestACursorGoesOnWithItsRevisions(t *testing.T) {
	e := newEnv(t, map[string]string{"f": lines(9000, "a")}, map[string]string{"f": lines(9000, "b")})
	first := e.compare(t, Query{})
	e.publish(map[string]string{"f": "c"})
	next := *first.PageInfo.NextCursor
	for name, c := range map[string]struct {
		q    Query
		want fault.Code
	}{
		"alone":                         {Query{Cursor: next}, ""},
		"with its revisions":            {Query{Cursor: next, From: e.revision(1), To: e.revision(2)}, ""},
		"with another revision":         {Query{Cursor: next, To: e.revision(3)}, fault.InvalidCursor},
		"from another one":              {Query{Cursor: next, From: e.revision(2)}, fault.InvalidCursor},
		"with the path, which it lacks": {Query{Cursor: next, Path: "f"}, fault.InvalidCursor},
	} {
		out, err := e.Compare(t.Context(), e.by, e.a, c.q)
		if fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && out.ToRevisionID != e.revision(2) {
			t.Errorf("%s: it goes on with %s", name, out.ToRevisionID)
		}
	}
	if len(next) > limits.CursorLength {
		t.Errorf("the cursor has %d characters", len(next))
	}
	e.publish(map[string]string{"f": lines(9000, "a")})
	e.store.revisions = e.store.revisions[3:] // a first revision has no other to compare with
	e.store.revisions[0].Number, e.a.Number = 1, 1
	if files, answers := e.all(t, Query{}); answers < 2 || whole(t, files, "f") == "" {
		t.Errorf("%d answers", answers)
	}
}

// TestDiffsOfRandomTextsLeadFromOneToTheOther has texts of few different lines, so that hunks of all kinds come.
func TestDiffsOfRandomTextsLeadFromOneToTheOther(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString([]string{"a\n", "b\n", "\n", "c\r\n", "--- d\n", "@@ é\n", "+\n"}[r.IntN(7)])
		}
		if r.IntN(3) == 0 {
			b.WriteString("end")
		}
		return b.String()
	}
	for range 1000 {
		before, after := text(), text()
		if r.IntN(2) == 0 && len(before) > 0 { // alike but for one place
			n := strings.IndexByte(before[r.IntN(len(before)):], '\n') + 1
			after = before[:n] + "x\n" + before[n:]
		}
		hunks, err := hunksOf(before, after)
		if err != nil {
			t.Fatal(err)
		}
		if before != after {
			wantPatch(t, before, after, File{Hunks: hunks, Change: tree.Change{From: &tree.File{}}}.diff())
		}
	}
}

// BenchmarkHostileTexts compares what takes long: many equal lines, and none in common.
func BenchmarkHostileTexts(b *testing.B) {
	most := limits.ComparedLines - 1
	half := strings.Repeat("a\n", most/2)
	for name, texts := range map[string][2]string{
		"one repeated line":  {strings.Repeat("a\n", most), strings.Repeat("a\n", most/2)},
		"in another place":   {half + "b\n" + half[2:], "b\n" + half + half[4:]},
		"nothing in common":  {strings.Repeat("a\n", most), strings.Repeat("b\n", most)},
		"every second line":  {strings.Repeat("a\nb\n", most/2), strings.Repeat("a\nc\n", most/2)},
		"shuffled":           {lines(20000, ""), strings.Join(reversed(strings.SplitAfter(lines(20000, ""), "\n")), "")},
		"two of three lines": {strings.Repeat("a\nb\nc\n", most/3), strings.Repeat("c\na\n", most/3)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := hunksOf(texts[0], texts[1]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func reversed(lines []string) (out []string) {
	for n := range lines {
		out = append(out, lines[len(lines)-1-n])
	}
	return out
}

func TestAnAnswerHasABoundedNumberOfFilesWithoutDiffs(t *testing.T) {
	old, fresh := map[string]string{}, map[string]string{}
	for n := range limits.FilesPerTree {
		body := fmt.Sprint("picture ", n)
		old[fmt.Sprintf("a%04d.png", n)], fresh[fmt.Sprintf("b%04d.png", n)] = body, body
	}
	e := newEnv(t, old, fresh)
	first := e.compare(t, Query{})
	files, answers := e.all(t, Query{})
	if len(first.Files) != maxFiles || len(files) != limits.FilesPerTree || answers != limits.FilesPerTree/maxFiles {
		t.Errorf("%d files in the first of %d answers, %d in all", len(first.Files), answers, len(files))
	}
}
