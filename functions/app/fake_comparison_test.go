package app

import (
	"context"
	"io"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	rings "vitrine/shared/platform/keyring"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/comparison"
	"vitrine/shared/publishing/tree"
)

// fakeComparisons compares two revisions as the service does, with files in memory.
type fakeComparisons struct {
	*fakeServices
	files comparedFiles
}

// comparedFiles are the files of the older and the newest revision.
type comparedFiles struct{ before, after map[string]string }

var cursors = func() *cursor.Codec {
	c, err := cursor.New(rings.New().Seal)
	if err != nil {
		panic(err)
	}
	return c
}()

func (f *fakeComparisons) Review(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, q comparison.Query,
) (comparison.Review, error) {
	if err := f.called(ctx, "Review "+string(a.ID)); err != nil {
		return comparison.Review{}, err
	}
	service := comparison.Service{
		Store:   f,
		Bytes:   f,
		Cursors: cursors,
		Now:     func() time.Time { return noon },
	}
	return service.Review(ctx, by, a, q)
}

func (f *fakeComparisons) Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error) {
	return f.artifacts.Revision(ctx, a, r)
}

func (f *fakeComparisons) Revisions(context.Context, id.Artifact) ([]artifact.Revision, error) {
	return f.revisions, nil
}

func (f *fakeComparisons) Tree(_ context.Context, _ id.Artifact, r id.Revision) (out tree.Tree, err error) {
	files := f.files.after
	if r == oldID {
		files = f.files.before
	}
	for path, body := range files {
		out = append(out, tree.File{
			Path:   path,
			Size:   int64(len(body)),
			SHA256: tree.DigestOf(body),
			Object: tree.Object{Session: id.Session(body)},
		})
	}
	return out, nil
}

func (f *fakeComparisons) Open(
	_ context.Context, _ id.Workspace, o tree.Object, _, _ int64,
) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(string(o.Session))), nil
}

const seals = `# Seals of the bay

The harbour seals were counted from the northern hook, at low tide, by two observers.

- Grey seals: 12
- Harbour seals: 48

Counts are of the morning. The afternoon was too windy for boats and for binoculars alike.
`

const counts = "bay,tide,seals,observer\nnorth,low,12,Ada\nsouth,low,30,Bob\neast,high,4,Ada\nwest,high,9,Cy\n"

// sealFiles are files that differ in every way.
func sealFiles() comparedFiles {
	page := "<!doctype html>\n<title>Seals</title>\n<p>There are 59 seals in the bay.\n<p>They sleep.\n"
	long := strings.Repeat("a line that both have\n", 40)
	return comparedFiles{
		before: map[string]string{
			"report.html": page, "notes.md": seals, "counts.csv": counts, "chart.png": "\x89PNG one",
			"maps/harbour.svg": "<svg/>\n", "old name.txt": "what moved\n", "gone.txt": "It was there.\n",
			"seals.bin": "\x00\x01", "long.txt": long + "the old end", "same.txt": "same",
		},
		after: map[string]string{
			"report.html": strings.Replace(page, "59", "62", 1),
			"notes.md": strings.NewReplacer("48", "50", "too windy", "calm enough", "alike.", "alike.\n\n## Next year\n\nWe come again.").
				Replace(seals),
			"counts.csv": strings.NewReplacer("south,low,30", "south,low,33", "west,high,9,Cy", "west,high,9,Cy\nhook,low,3,Di").
				Replace(counts),
			"chart.png": "\x89PNG two", "maps/harbour.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
			"new name.txt": "what moved\n", "seals.bin": "\x00\x02", "long.txt": "a new beginning\n" + long + "the new end\n",
			"same.txt": "same", "fresh.txt": "It is new.\nIt has two lines.\n",
		},
	}
}

// strangeFiles are files with the longest and oddest names and texts.
func strangeFiles(s *fakeServices) {
	long(s)
	deep, odd := strings.Repeat("very/long/", 30)+"name.md", "\u202Egnp.exe <b>x</b>.txt"
	wide := strings.Repeat("column,", 29) + "\u202Ecolumn\n"
	s.comparisons.files = comparedFiles{
		before: map[string]string{
			deep:                              "# " + strings.Repeat("word", 200) + "\n",
			odd:                               "one\r\n\ttwo\u2066\n" + strings.Repeat("x", 2000) + "\n",
			"wide.csv":                        wide + strings.Repeat("1,", 29) + "1\n",
			strings.Repeat("n", 300) + ".txt": "moved\n",
			"huge.txt":                        strings.Repeat("a line\n", 40_000),
		},
		after: map[string]string{
			deep:                              "# " + strings.Repeat("word", 201) + "\n<script>alert(1)</script>\n",
			odd:                               "one\n\ttwo\n" + strings.Repeat("y", 2000),
			"wide.csv":                        wide + strings.Repeat("2,", 29) + strings.Repeat("long", 100) + "\n",
			strings.Repeat("m", 300) + ".txt": "moved\n",
			"huge.txt":                        strings.Repeat("a line\n", 40_001),
		},
	}
}
