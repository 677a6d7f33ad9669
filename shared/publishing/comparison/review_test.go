package comparison

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

func (e *env) review(t testing.TB, q Query) Review {
	t.Helper()
	out, err := e.Review(t.Context(), e.by, e.a, q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAReviewListsAllChangesOnEveryPage(t *testing.T) {
	old, fresh := map[string]string{}, map[string]string{"moved": "m\n"}
	for n := range 50 {
		path := fmt.Sprintf("f%02d", n)
		old[path], fresh[path] = "1\n", "2\n"
	}
	old["was"] = "m\n"
	e := newEnv(t, old, fresh)
	var shown []string
	for q := (Query{Most: 100}); ; {
		out := e.review(t, q)
		if len(out.Changes) != 51 || out.From.Number != 1 || out.To.Number != 2 {
			t.Fatalf("%d changes from %d to %d", len(out.Changes), out.From.Number, out.To.Number)
		}
		for _, f := range out.Files {
			shown = append(shown, f.Path())
		}
		if out.Next == "" {
			break
		}
		q.Cursor = out.Next
	}
	if len(shown) != 51 || !slices.IsSorted(shown) {
		t.Errorf("shows %q", shown)
	}
}

func TestContentIsComparedInItsOwnWay(t *testing.T) {
	type file struct{ path, before, after, want string }
	for name, c := range map[string]file{
		"markdown":                  {"a.md", "one\n", "one two\n", "blocks 1"},
		"markdown, an other ending": {"a.markdown", "one\n", "two\n", "blocks 2"},
		"a table":                   {"a.csv", "a\n1\n", "a\n2\n", "rows 2"},
		"tabs":                      {"a.tsv", "a\tb\n1\t2\n", "a\tb\n1\t3\n", "rows 1"},
		"a renamed column":          {"a.csv", "a\n1\n", "b\n1\n", "rows 0"},
		"text":                      {"a.txt", "one\n", "two\n", "hunks 1"},
		"markdown wrapped anew":     {"a.md", "one two\n", "one\ntwo\n", "hunks 1"},
		"line ends":                 {"a.md", "one\n", "one\r\n", "hunks 1"},
		"the last line end":         {"a.csv", "a\n1\n", "a\n1", "hunks 1"},
		"no table":                  {"a.csv", "a\n1\n", "a\n\"1\n", "hunks 1"},
		"bytes":                     {"a.md", "a\n", "\xff\n", "omitted not_text"},
	} {
		e := newEnv(t, map[string]string{c.path: c.before}, map[string]string{c.path: c.after})
		f := e.review(t, Query{Content: true}).Files[0]
		got := ""
		for kind, n := range map[string]int{"blocks": len(f.Blocks), "hunks": len(f.Hunks)} {
			if n > 0 {
				got += fmt.Sprintf("%s %d", kind, n)
			}
		}
		if f.Table != nil {
			got += fmt.Sprintf("rows %d", len(f.Table.Rows))
		}
		if f.Omitted != "" {
			got += "omitted " + string(f.Omitted)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if lines := e.review(t, Query{}).Files[0]; lines.Blocks != nil || lines.Table != nil {
			t.Errorf("%s: lines are asked for, and there are others", name)
		}
	}
}

func TestLongContentGoesOnOnTheNextPage(t *testing.T) {
	rows := func(word string) string { return "a,b\n" + strings.ReplaceAll(lines(9000, word), " ", ",") }
	for name, c := range map[string]struct {
		path, before, after string
		most                int
		pieces              int
	}{
		"blocks": {"f.md", "", strings.ReplaceAll(lines(4000, "word"), "\n", "\n\n"), 1000, 4000},
		"rows":   {"f.csv", rows("old"), rows("new"), 1000, 9000},
		"lines":  {"f.txt", lines(4000, "old"), lines(4000, "new"), 600, 16},
		"one block of the longest lines": {
			"f.md", "", "```\n" + strings.Repeat(strings.Repeat("x", limits.ComparedLine-1)+"\n", 30), 1, 31,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, map[string]string{c.path: c.before}, map[string]string{c.path: c.after})
			q, pieces, pages := Query{Content: true, Most: c.most}, 0, 0
			for {
				out := e.review(t, q)
				f := out.Files[0]
				n := len(f.Blocks) + len(f.Hunks)
				if f.Table != nil {
					n += len(f.Table.Rows)
				}
				if pieces += n; n == 0 || f.Resumed != (pages > 0) || f.Continues != (out.Next != "") {
					t.Fatalf("page %d has %d pieces: resumed %t, continues %t", pages, n, f.Resumed, f.Continues)
				}
				if pages++; out.Next == "" {
					break
				}
				q.Cursor = out.Next
			}
			if pages < 2 || pieces != c.pieces {
				t.Errorf("%d pieces on %d pages", pieces, pages)
			}
		})
	}
}

func TestAReviewTakesNoMoreFilesAfterAWhile(t *testing.T) {
	old, fresh := map[string]string{}, map[string]string{}
	for n := range 12 {
		old[fmt.Sprint(n)], fresh[fmt.Sprint(n)] = "1\n", "2\n"
	}
	e := newEnv(t, old, fresh)
	at := now
	e.Now = func() time.Time { at = at.Add(2 * maxFillTime); return at }
	out := e.review(t, Query{})
	if len(out.Files) != 1 || out.Next == "" {
		t.Errorf("%d files, more: %t", len(out.Files), out.Next != "")
	}
}

func TestKnownRevisionsAreNotReadAgain(t *testing.T) {
	e := newEnv(t, map[string]string{"f": "1"}, map[string]string{"f": "2"}, map[string]string{"f": "3"})
	draft := artifact.Revision{ID: "rev_0", Status: artifact.Draft}
	known := append(slices.Clone(e.store.revisions), draft)
	for name, q := range map[string]Query{
		"the last two":  {},
		"one":           {To: e.revision(2)},
		"two":           {From: e.revision(1), To: e.revision(2)},
		"the first one": {To: e.revision(1)},
	} {
		e.store.reads = 0
		q.Known = known
		out := e.review(t, q)
		trees := 2
		if out.From.ID == "" {
			trees = 1
		}
		if e.store.reads != trees {
			t.Errorf("%s: %d reads", name, e.store.reads)
		}
	}
	if _, err := e.Review(t.Context(), e.by, e.a, Query{To: draft.ID, Known: known}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a draft: %v", err)
	}
}

func TestACursorOfLinesIsNoneOfContent(t *testing.T) {
	e := newEnv(t, map[string]string{"f.md": ""},
		map[string]string{"f.md": strings.ReplaceAll(lines(4000, "a"), "\n", "\n\n")})
	next := e.review(t, Query{Most: 500}).Next
	_, err := e.Review(t.Context(), e.by, e.a, Query{Cursor: next, Content: true})
	if fault.CodeOf(err) != fault.InvalidCursor {
		t.Error(err)
	}
}

func TestLinesHaveTheirNumbers(t *testing.T) {
	hunks, err := hunksOf("a\nb\nc\nd\ne", "a\nb\nx\nd\ne\n")
	if err != nil || len(hunks) != 1 {
		t.Fatal(hunks, err)
	}
	var got []string
	for _, l := range hunks[0].Lines {
		got = append(got, fmt.Sprintf("%d %d %d %s %t", l.Op, l.From, l.To, l.Text, l.Cut))
	}
	want := []string{
		"0 1 1 a false", "0 2 2 b false", "1 3 0 c false", "2 0 3 x false", "0 4 4 d false", "1 5 0 e true", "2 0 5 e false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// BenchmarkReview compares two revisions of as many files as there may be, each with one line changed, page by page. Of
// pictures only the digests are compared. Stores that answer at once leave what the comparison itself takes.
func BenchmarkReview(b *testing.B) {
	mixed, pictures := []string{"html", "md", "csv"}, []string{"png"}
	for _, c := range []struct {
		name       string
		extensions []string
		lines      int // of a file
		content    bool
	}{
		{"lines", mixed, 40, false},
		{"content", mixed, 40, true},
		{"lines of 45 KB", mixed, 2000, false},
		{"content of 45 KB", mixed, 2000, true},
		{"digests", pictures, 40, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			old, fresh := changedFiles(c.extensions, c.lines)
			e := newEnv(b, old, fresh)
			b.ReportAllocs()
			for b.Loop() {
				e.store.opened, e.store.reads = nil, 0
				pages := e.readAll(b, Query{Content: c.content, Most: limits.ComparedLook})
				b.ReportMetric(float64(pages), "pages")
				b.ReportMetric(float64(len(e.store.opened)), "objects")
				b.ReportMetric(float64(e.store.reads), "table-reads")
			}
		})
	}
}

// changedFiles returns as many files as a revision has, of lines of which one differs.
func changedFiles(extensions []string, n int) (old, fresh map[string]string) {
	old, fresh = map[string]string{}, map[string]string{}
	text := lines(n, "some words, on a line")
	for i := range limits.FilesPerTree {
		path := fmt.Sprintf("f%02d.%s", i, extensions[i%len(extensions)])
		old[path] = text
		fresh[path] = strings.Replace(text, "20 some", fmt.Sprintf("20 other %d", i), 1)
	}
	return old, fresh
}

// readAll reads a comparison to its end, and returns how many pages it has.
func (e *env) readAll(b *testing.B, q Query) (pages int) {
	b.Helper()
	for files := 0; ; pages++ {
		out := e.review(b, q)
		if files += len(out.Files); out.Next == "" {
			if files != limits.FilesPerTree {
				b.Fatalf("%d files", files)
			}
			return pages + 1
		}
		q.Cursor = out.Next
	}
}

// BenchmarkHostileContent compares what takes long by blocks and by cells.
func BenchmarkHostileContent(b *testing.B) {
	long := strings.Repeat("a b ", limits.ComparedLine/4)
	for name, c := range map[string][3]string{
		"long paragraphs": {"f.md", strings.Repeat(long+"\n\n", 31), strings.Repeat("b "+long[2:]+"\n\n", 31)},
		"empty items":     {"f.md", strings.Repeat("- a\n", 16000), strings.Repeat("- b\n- a\n", 8000)},
		"wide rows":       {"f.csv", strings.Repeat(strings.Repeat("a,", 63)+"\n", 2000), strings.Repeat(strings.Repeat("b,", 63)+"\n", 2000)},
		"narrow rows":     {"f.csv", strings.Repeat("a,b\n", 16000), strings.Repeat("b,b\na,a\n", 8000)},
	} {
		b.Run(name, func(b *testing.B) {
			e := newEnv(b, map[string]string{c[0]: c[1]}, map[string]string{c[0]: c[2]})
			for b.Loop() {
				e.review(b, Query{Content: true, Most: limits.ComparedLook})
			}
		})
	}
}

func TestChangesAreCounted(t *testing.T) {
	got := Review{Changes: []tree.Change{{Kind: tree.Added}, {Kind: tree.Renamed}, {Kind: tree.Changed}, {Kind: tree.Changed}, {Kind: tree.Removed}}}.Counts()
	if got.Added != 1 || got.Renamed != 1 || got.Changed != 2 || got.Removed != 1 || got.Sum() != 5 {
		t.Errorf("%+v, want 1 added, 1 renamed, 2 changed and 1 removed", got)
	}
}
