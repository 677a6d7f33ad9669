package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/exported"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

// author publishes revisions of an artifact at random.
type author struct {
	*rand.Rand
	to      *fakeExports
	of      *artifact.Artifact
	objects map[string]tree.Object // of each text, as the index of contents finds them
	uploads map[string]int         // of each text
}

// newAuthor returns an author of a new artifact, each random in its own way.
func newAuthor(f *fakeExports, seed uint64) *author {
	return &author{
		Rand:    rand.New(rand.NewPCG(seed, 1)),
		to:      f,
		of:      f.add(fmt.Sprint("By ", seed)),
		objects: map[string]tree.Object{},
		uploads: map[string]int{},
	}
}

// paths have names that not every system accepts or tells apart.
var paths = []string{"index.html", "a", "A", "b/a", "b/A", "x?", "ü.txt", "u\u0308.txt", "con", "c/d/e.css", "data.bin"}

// publish adds a revision with these files.
func (w *author) publish(files map[string]string) {
	session := id.NewSession()
	var made tree.Tree
	for n, path := range slices.Sorted(maps.Keys(files)) {
		text := files[path]
		f := tree.File{Path: path, Size: int64(len(text)), SHA256: tree.DigestOf(text)}
		if o, known := w.objects[text]; text != "" && known {
			f.Object, f.Borrowed = o, true
		} else if text != "" {
			f.Object = tree.Object{Session: session, Entry: n}
			w.objects[text], w.to.texts[f.Object] = f.Object, text
			w.uploads[text]++
		}
		made = append(made, f)
	}
	w.Shuffle(len(made), func(a, b int) { made[a], made[b] = made[b], made[a] })
	w.add(artifact.Revision{Session: session}, made)
}

// restore adds a revision that is an earlier one again.
func (w *author) restore(n int) {
	from := w.to.revisions[w.of.ID][n]
	w.add(artifact.Revision{Source: from.ID}, w.to.trees[from.ID])
}

func (w *author) add(r artifact.Revision, files tree.Tree) {
	r.ID = id.NewRevision()
	r.Artifact = w.of.ID
	r.Number = len(w.to.revisions[w.of.ID]) + 1
	r.Status = artifact.Published
	r.Entrypoint = "index.html"
	r.PublishedAt = start
	w.to.trees[r.ID] = append(tree.Tree{}, files...)
	w.to.revisions[w.of.ID] = append(w.to.revisions[w.of.ID], r)
	w.of.Current = r.ID
}

// last returns the files of the newest revision.
func (w *author) last() map[string]string {
	files := map[string]string{}
	for _, f := range w.to.trees[w.of.Current] {
		files[f.Path] = w.to.texts[f.Object]
	}
	return files
}

// write publishes a number of revisions, each with a few changes to the one before, or with none.
func (w *author) write(revisions int) {
	for n := range revisions {
		if n > 2 && w.IntN(5) == 0 {
			w.restore(w.IntN(n))
			continue
		}
		files := w.last()
		for range w.IntN(5) {
			path, other := paths[w.IntN(len(paths))], paths[w.IntN(len(paths))]
			switch text, there := files[other]; {
			case w.IntN(3) == 0:
				delete(files, path)
			case there && w.IntN(2) == 0: // a copy
				files[path] = text
			default: // few texts, so that they come back
				files[path] = strings.Repeat(string(rune('a'+w.IntN(12))), w.IntN(12))
			}
		}
		w.publish(files)
	}
}

// unpacked returns the archives of an export.
func (f *fakeExports) unpacked(t *testing.T) (all []exported.Archive) {
	t.Helper()
	for _, n := range slices.Sorted(maps.Keys(f.archives)) {
		one := exported.Archive{Files: entriesOf(t, f.archives[n])}
		expect.OK(t, json.Unmarshal([]byte(one.Files[export.ManifestName]), &one.Manifest))
		all = append(all, one)
	}
	return all
}

// published returns the texts of all files by revision and path.
func (f *fakeExports) published() map[exported.Revision]map[string]string {
	all := map[exported.Revision]map[string]string{}
	for _, revisions := range f.revisions {
		for _, r := range revisions {
			if r.Status != artifact.Published {
				continue
			}
			files := map[string]string{}
			for _, file := range f.trees[r.ID] {
				files[file.Path] = f.texts[file.Object]
			}
			all[exported.Revision{Artifact: r.Artifact, Number: r.Number}] = files
		}
	}
	return all
}

// wantPublished checks that the archives hold exactly what was published.
func (f *fakeExports) wantPublished(t *testing.T, archives []exported.Archive) {
	t.Helper()
	got, err := exported.Revisions(archives)
	want := f.published()
	if err != nil || f.due.Status != export.Ready || len(got) != len(want) {
		t.Fatalf("%v, %s, %d revisions, want %d", err, f.due.Status, len(got), len(want))
	}
	for at, files := range want {
		if !maps.Equal(got[at], files) {
			t.Errorf("%v is %q, want %q", at, got[at], files)
		}
	}
}

// wantBounded checks that each archive has as much as it may have.
func wantBounded(t *testing.T, archives []exported.Archive, bounds limits.ExportVolume) {
	t.Helper()
	for _, a := range archives {
		bytes, entries := int64(0), len(a.Skipped)
		for _, one := range a.Artifacts {
			for _, r := range one.Revisions {
				entries += max(1, len(r.Files)+len(r.Removed))
				for _, f := range r.Files {
					if f.From == nil {
						bytes += f.SizeBytes
					}
				}
			}
		}
		if entries > bounds.Entries || bytes > bounds.Bytes && entries > 1 {
			t.Errorf("archive %d has %d entries and %d bytes", a.Volume, entries, bytes)
		}
	}
}

// wantOnce checks that no text of an artifact is archived more often than it was uploaded.
func (w *author) wantOnce(t *testing.T, archives []exported.Archive) {
	t.Helper()
	archived := map[string]int{}
	for _, a := range archives {
		for _, one := range a.Artifacts {
			for _, r := range one.Revisions {
				for _, f := range r.Files {
					if one.ID == w.of.ID && f.From == nil {
						archived[a.Files[f.Archive]]++
					}
				}
			}
		}
	}
	for text, n := range archived {
		if text != "" && n != w.uploads[text] {
			t.Errorf("%q is archived %d times, uploaded %d times", text, n, w.uploads[text])
		}
	}
}

// TestF89EveryRevisionIsRebuiltFromAnExport exports random histories in small archives, and kills the exporter at random
// calls.
func TestF89EveryRevisionIsRebuiltFromAnExport(t *testing.T) {
	split, kills := 0, 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			x, f := newExporter(t)
			chance := rand.New(rand.NewPCG(seed, 2))
			x.Limits.ExportVolume = limits.ExportVolume{
				Bytes:     int64(1 + chance.IntN(40)),
				Entries:   1 + chance.IntN(12),
				Artifacts: 1 + chance.IntN(3),
			}
			var authors []*author
			for n := range 1 + chance.Uint64N(3) {
				w := newAuthor(f, 10*seed+n)
				w.write(1 + w.IntN(12))
				authors = append(authors, w)
			}
			if seed%4 == 0 { // a revision lost its files, so that those that it uploaded are archived with a later one
				some := f.revisions[authors[0].of.ID]
				some[chance.IntN(len(some))].Status = artifact.Retained
				authors = nil
			}
			for f.due.Status == export.Pending {
				if f.failAt = 0; f.due.Attempts == 0 && chance.IntN(3) == 0 {
					f.failAt = len(f.calls) + 1 + chance.IntN(3) // Take, WriteExport and Save
				}
				fresh := *x
				if _, err := fresh.Due(t.Context()); err != nil {
					kills++
				}
			}
			archives := f.unpacked(t)
			f.wantPublished(t, archives)
			wantBounded(t, archives, x.Limits.ExportVolume)
			for _, w := range authors {
				w.wantOnce(t, archives)
			}
			for _, a := range archives {
				if strings.Contains(fmt.Sprintf("%+v", a.Artifacts), "Continues:true") {
					split++
				}
			}
		})
	}
	if split < 60 || kills < 60 {
		t.Errorf("%d archives end within a revision, and %d attempts were killed", split, kills)
	}
}

// TestWhatComesBackIsNamedByTheRevisionThatHadIt is about a restored revision, which lists nothing, and about files that
// come back later, move, or are there twice.
func TestWhatComesBackIsNamedByTheRevisionThatHadIt(t *testing.T) {
	x, f := newExporter(t)
	w := newAuthor(f, 1)
	w.publish(map[string]string{"index.html": "one", "kept": "kept"})
	w.publish(map[string]string{"index.html": "two", "kept": "kept"})
	w.restore(0)
	w.publish(map[string]string{"again.html": "two", "kept": "kept", "twin": "three", "twin2": "three"})
	f.run(t, x)
	archives := f.unpacked(t)
	f.wantPublished(t, archives)
	var got []string
	for _, r := range archives[0].Artifacts[0].Revisions {
		line := fmt.Sprintf("%d on %d, without %v:", r.Number, r.Base, r.Removed)
		for _, file := range r.Files {
			if line += " " + file.Path; file.From != nil {
				line += fmt.Sprintf(" of %d %s", file.From.Revision, file.From.Path)
			}
		}
		got = append(got, line)
	}
	want := []string{
		"1 on 0, without []: index.html kept",
		"2 on 1, without []: index.html",
		"3 on 1, without []:",
		"4 on 3, without [index.html]: again.html of 2 index.html twin twin2 of 4 twin",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTreesAreReadOnceARevision counts what an export of many small changes reads.
func TestTreesAreReadOnceARevision(t *testing.T) {
	x, f := newExporter(t)
	w := newAuthor(f, 1)
	files := map[string]string{}
	for n := range 200 {
		files[fmt.Sprint("file", n)] = fmt.Sprint("text ", n)
		w.publish(files)
	}
	f.run(t, x)
	archives := f.unpacked(t)
	f.wantPublished(t, archives)
	entries := 0
	for _, r := range archives[0].Artifacts[0].Revisions {
		entries += len(r.Files) + len(r.Removed)
	}
	if f.treesRead != 200 || entries != 200 || len(archives) != 1 {
		t.Errorf("%d trees read for 200 revisions, %d entries in %d archives", f.treesRead, entries, len(archives))
	}
}

// TestAnExportThatOlderCodeBeganGoesOn has an archive in which each revision has all its files.
func TestAnExportThatOlderCodeBeganGoesOn(t *testing.T) {
	x, f := newExporter(t)
	x.Limits.ExportVolume.Entries = 2
	w := newAuthor(f, 1)
	w.publish(map[string]string{"index.html": "one", "kept": "kept"})
	w.publish(map[string]string{"index.html": "two", "kept": "kept"})
	w.publish(map[string]string{"index.html": "three", "kept": "kept", "more": "one", "most": "most"})
	older := exported.Archive{Files: map[string]string{}}
	of := export.Artifact{ID: w.of.ID}
	for _, r := range f.revisions[w.of.ID][:2] {
		whole := export.Revision{Number: r.Number}
		for _, file := range f.trees[r.ID] {
			name := fmt.Sprintf("artifacts/%s/r%d/%s", w.of.ID, r.Number, file.Path)
			older.Files[name] = f.texts[file.Object]
			whole.Files = append(whole.Files, export.File{
				Path:      file.Path,
				SizeBytes: file.Size,
				SHA256:    file.SHA256.String(),
				Archive:   name,
			})
		}
		of.Revisions = append(of.Revisions, whole)
	}
	older.Artifacts = []export.Artifact{of}
	expect.OK(t, f.SaveList(t.Context(), f.due.Export, 0, f.order))
	f.due.StartedAt = start
	f.due.Artifacts = 1
	f.due.Next.Revision = 2
	f.due.Volumes = make([]export.Volume, 1)
	f.run(t, x)
	if len(f.archives) != 2 || f.archives[1] != nil {
		t.Errorf("%d archives more, want two after the first one", len(f.archives))
	}
	f.wantPublished(t, append([]exported.Archive{older}, f.unpacked(t)...))
}
