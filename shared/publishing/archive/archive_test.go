package archive

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/publishing/tree"
)

var at = time.Date(2026, 3, 1, 10, 30, 2, 0, time.UTC)

// bytesOf returns bytes for a path that differ from those of other paths.
func bytesOf(path string) []byte { return []byte(strings.Repeat(path+"\n", len(path))) }

func filesOf(paths ...string) (t tree.Tree) {
	for _, p := range paths {
		t = append(t, tree.File{Path: p, Size: int64(len(bytesOf(p)))})
	}
	return t
}

func write(t *testing.T, files tree.Tree) []byte {
	t.Helper()
	var out bytes.Buffer
	err := Write(&out, files, "index.html", at, func(f tree.File) (Body, error) { return Bytes(bytesOf(f.Path)), nil })
	expect.OK(t, err)
	return out.Bytes()
}

func TestEntriesAreTheFilesByteByByteInTheOrderOfTheirPaths(t *testing.T) {
	archive := write(t, filesOf("index.html", "b/two.css", "a.txt", "b/ünïcode.txt", "日本.md"))
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	expect.OK(t, err)
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		r, err := f.Open()
		expect.OK(t, err)
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, bytesOf(f.Name)) || f.Method != zip.Store || f.NonUTF8 {
			t.Errorf("%s: %v, method %d, other bytes or not UTF-8", f.Name, err, f.Method)
		}
		if !f.Modified.Equal(at) {
			t.Errorf("%s is of %v", f.Name, f.Modified)
		}
	}
	if want := []string{"a.txt", "b/two.css", "b/ünïcode.txt", "index.html", "日本.md"}; !slices.Equal(names, want) {
		t.Errorf("names %q", names)
	}
}

func TestTheSameFilesGiveTheSameArchive(t *testing.T) {
	one := write(t, filesOf("index.html", "b/c.css", "B/c.css", "con.txt"))
	two := write(t, filesOf("con.txt", "B/c.css", "index.html", "b/c.css")) // declared in another order
	if !bytes.Equal(one, two) {
		t.Error("they differ")
	}
}

// TestArchivesStayAsTheyWere compares an archive with the one that the first version made of the same files, because the
// same revision has the same bundle for ever.
func TestArchivesStayAsTheyWere(t *testing.T) {
	files := filesOf("index.html", "b/two.css", "a:b", "A.txt", "a.txt", "b/ünïcode.txt", "日本.md")
	const want = "1757d9457bfea1c338e94a8408a6884adcbde63ccc25cbd80be6ded683f4d7ab"
	if got := tree.DigestOf(string(write(t, files))).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAStreamedFileGivesTheSameArchiveAndIsReadTwice(t *testing.T) {
	files, reads := filesOf("index.html", "large.bin"), 0
	stream := func(f tree.File) (Body, error) {
		return Stream(f.Size, func(w io.Writer) error {
			reads++
			_, err := w.Write(bytesOf(f.Path))
			return err
		})
	}
	var out bytes.Buffer
	expect.OK(t, Write(&out, files, "index.html", at, stream))
	if !bytes.Equal(out.Bytes(), write(t, files)) || reads != 4 {
		t.Errorf("another archive, after %d reads", reads)
	}
	broken := errors.New("broken")
	for failing := 1; failing <= 2; failing++ {
		reads = 0
		err := Write(io.Discard, filesOf("b"), "", at, func(f tree.File) (Body, error) {
			return Stream(f.Size, func(io.Writer) error {
				if reads++; reads == failing {
					return broken
				}
				return nil
			})
		})
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "b: ") || reads != failing {
			t.Errorf("reading %d fails: %v after %d", failing, err, reads)
		}
	}
}

func TestTheSizeIsThatOfTheArchive(t *testing.T) {
	var many []string
	for n := range 2000 {
		many = append(many, fmt.Sprintf("%04d/%s.md", n, strings.Repeat("é", n%120)))
	}
	for name, paths := range map[string][]string{
		"none":               nil,
		"one":                {"index.html"},
		"renamed":            {"a:b", "A", "a", "con", "RENAMED.txt"},
		"with a list":        {"x?", "renamed.TXT"},
		"not ASCII":          {"日本/地図.md", "ünï/\u202e.txt", "cafe\u0301", "caf\u00e9"},
		"longer than a name": {strings.Repeat("é", 200) + ".txt", strings.Repeat("é", 200) + "1.txt"},
		"2,000":              many,
	} {
		files := filesOf(paths...)
		if got, want := Size(files, "index.html"), int64(len(write(t, files))); got != want {
			t.Errorf("%s: %d, the archive has %d bytes", name, got, want)
		}
	}
}

func TestNamesAreSafeOnWindowsAndMacOS(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, tt := range []struct{ paths, want []string }{
		{[]string{"a.txt", "b/c.txt"}, []string{"a.txt", "b/c.txt"}},
		{[]string{`q:r<s>t"u|v?w*x\y`}, []string{"q_r_s_t_u_v_w_x_y"}},
		{[]string{"a\tb", "c\x7fd"}, []string{"a_b", "c_d"}},
		{[]string{"photo\u202egpj.exe"}, []string{"photo_gpj.exe"}},
		{[]string{"CON", "aux.html", "lpt1/x", "nul .txt", "com¹.txt"},
			[]string{"_CON", "_aux.html", "_com¹.txt", "_lpt1/x", "_nul .txt"}},
		{[]string{"console.txt", "com10.txt"}, []string{"com10.txt", "console.txt"}},
		{[]string{"end.", "space ", "in./side"}, []string{"end_", "in_/side", "space_"}},
		{[]string{"README.md", "Readme.md", "readme.md"}, []string{"README.md", "Readme (2).md", "readme (3).md"}},
		{[]string{"caf\u00e9.txt", "cafe\u0301.txt"}, []string{"cafe\u0301.txt", "caf\u00e9 (2).txt"}},
		{[]string{"a:b.txt", "a_b.txt"}, []string{"a_b.txt", "a_b (2).txt"}},
		{[]string{"a (2).txt", "A.txt", "a.txt"}, []string{"A.txt", "a (2).txt", "a (3).txt"}},
		{[]string{"Docs", "docs/a"}, []string{"Docs (2)", "docs/a"}},
		{[]string{".Profile", ".profile"}, []string{".Profile", ".profile (2)"}},
		{[]string{long + ".txt"}, []string{strings.Repeat("é", 118) + ".txt"}},
		{[]string{long + "1.txt", long + "2.txt"},
			[]string{strings.Repeat("é", 118) + ".txt", strings.Repeat("é", 116) + " (2).txt"}},
	} {
		entries, _, _ := Entries(filesOf(tt.paths...), "")
		var got []string
		for _, e := range entries {
			got = append(got, e.Name)
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.paths, got, tt.want)
		}
	}
}

func TestTheEntrypointKeepsItsName(t *testing.T) {
	entries, _, _ := Entries(filesOf("INDEX.html", "Index.html", "index.html"), "index.html")
	var got []string
	for _, e := range entries {
		got = append(got, e.Name)
	}
	if want := []string{"INDEX (2).html", "Index (3).html", "index.html"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestEachNameIsThereOnce(t *testing.T) {
	parts := []string{"a", "A", "a.", "a ", "a_", "con", "CON", "_con", "a:", "é", "e\u0301", "RENAMED.txt"}
	var paths []string
	for _, x := range parts {
		paths = append(paths, x+".txt")
		for _, y := range parts {
			paths = append(paths, x+"/"+y)
		}
	}
	entries, list, text := Entries(filesOf(paths...), "")
	seen := map[string]string{fold(list): "the list"}
	for _, e := range entries {
		if other, twice := seen[fold(e.Name)]; twice {
			t.Errorf("%q and %q are both %q", other, e.File.Path, e.Name)
		}
		seen[fold(e.Name)] = e.File.Path
		if e.Name != e.File.Path && !strings.Contains(text, fmt.Sprintf("%q was published as %q\n", e.Name, e.File.Path)) {
			t.Errorf("the list does not tell of %q", e.File.Path)
		}
	}
}

// TestTwinsCostNoMoreThanOthers counts allocations, which grow with the names that are tried.
func TestTwinsCostNoMoreThanOthers(t *testing.T) {
	cost := func(twins int) float64 {
		var paths []string
		for n := range twins {
			path := []byte("elevenchars")
			for bit := range path {
				if n>>bit&1 == 1 {
					path[bit] -= 'a' - 'A'
				}
			}
			paths = append(paths, string(path))
		}
		return testing.AllocsPerRun(1, func() { Entries(filesOf(paths...), "") })
	}
	if few, many := cost(500), cost(2000); many > 5*few {
		t.Errorf("500 twins cost %.0f allocations, 2,000 cost %.0f", few, many)
	}
}

func TestTheListOfOtherNamesIsThereIfThereAreSome(t *testing.T) {
	if _, list, text := Entries(filesOf("a", "RENAMED.txt"), ""); list != "" || text != "" {
		t.Errorf("%q: %q", list, text)
	}
	archive := write(t, filesOf("a:b", "renamed.TXT"))
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	expect.OK(t, err)
	last := z.File[len(z.File)-1]
	r, err := last.Open()
	expect.OK(t, err)
	text, err := io.ReadAll(r)
	if want := `"a_b" was published as "a:b"`; err != nil || last.Name != "RENAMED (2).txt" ||
		!strings.Contains(string(text), want) {
		t.Errorf("%s: %s, %v", last.Name, text, err)
	}
}

func TestAFileThatCannotBeReadEndsTheArchive(t *testing.T) {
	broken := errors.New("broken")
	err := Write(io.Discard, filesOf("a", "b"), "a", at, func(f tree.File) (Body, error) {
		if f.Path == "b" {
			return Body{}, broken
		}
		return Bytes(bytesOf(f.Path)), nil
	})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "b: ") {
		t.Error(err)
	}
}

func TestASlugIsSafeAndTellsTheTitle(t *testing.T) {
	expect.Results(t, Slug, map[string]string{
		"Tide Tables, 2026":      "tide-tables-2026",
		"  ../../etc/passwd ":    "etc-passwd",
		"Größe & Maß":            "größe-maß",
		"日本の地図":                  "日本の地図",
		"photo\u202egpj.exe":     "photo-gpj-exe",
		"":                       "untitled",
		"---":                    "untitled",
		"CON":                    "con", // an id follows, so that it is no device
		strings.Repeat("a", 200): strings.Repeat("a", 48),
		strings.Repeat("é", 200): strings.Repeat("é", 24),
	})
}
