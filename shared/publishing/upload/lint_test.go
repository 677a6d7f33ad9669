package upload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

const brokenPage = `<img src="gone.png" alt="">`

// newLinted is a finalizer whose session has these files, all with their digests.
func newLinted(files ...[2]string) *finalizer {
	f := newFinalizer()
	f.attempt.Entries = nil
	for n, file := range files {
		digest, o := tree.DigestOf(file[1]), f.object(n)
		f.store.objects[o] = file[1]
		f.attempt.Entries = append(f.attempt.Entries, Entry{
			Path:   file[0],
			Size:   int64(len(file[1])),
			SHA256: &digest,
			Object: o,
		})
	}
	if len(files) == 1 {
		delete(f.store.objects, f.object(1))
	}
	return f
}

func TestADraftCarriesWhatIsWrongInItsPages(t *testing.T) {
	f := newLinted([2]string{"index.html", brokenPage}, [2]string{"notes.md", "[x](index.html)\n[y](gone.md)"})
	out, err := f.finalize(t)
	expect.Code(t, err, "")
	stored := f.store.done[0].Revision.Warnings
	if len(out.Warnings.Warnings) != 2 || len(stored.Warnings) != 2 || f.store.opened != 2 {
		t.Fatalf("it answers %+v, stores %+v and reads %d objects", out.Warnings, stored, f.store.opened)
	}
	if w := out.Warnings.Warnings[0]; w.Code != "missing_file" || w.Severity != "error" || w.Path != "index.html" || w.Line != 1 {
		t.Errorf("the first is %+v", w)
	}
	w := out.Warnings.Warnings[1]
	if w.Path != "notes.md" || w.Line != 2 || !strings.Contains(w.Message(media.Running()), `"gone.md"`) {
		t.Errorf("the second is %+v", w)
	}
}

func TestScriptsOfTheFirstPageAreReadToo(t *testing.T) {
	page := `<script src="app.js"></script><script src="large.js"></script>`
	const asks = "new Worker('w.js')"
	f := newLinted([2]string{"index.html", page}, [2]string{"app.js", "\n" + asks},
		[2]string{"large.js", asks + strings.Repeat(" ", limits.LintedFile)}, [2]string{"other.js", asks})
	f.by.Policy = limits.Policy{FileCount: 5, FileSize: 1 << 20, ArtifactSize: 1 << 20, Scripts: limits.ScriptsOn}
	out, err := f.finalize(t)
	expect.Code(t, err, "")
	w := out.Warnings.Warnings
	if len(w) != 1 || w[0].Code != lint.NeedsOrigin || w[0].Path != "app.js" || w[0].Line != 2 || f.store.opened != 2 {
		t.Errorf("it warns of %+v and reads %d objects", w, f.store.opened)
	}
}

func TestScriptsOfUnclaimedArtifactsAreReported(t *testing.T) {
	for scripts, want := range map[limits.Scripts]int{limits.ScriptsOff: 1, limits.ScriptsAsk: 1, limits.ScriptsOn: 0} {
		f := newLinted([2]string{"index.html", "<script>go()</script>"})
		f.by.Policy.Scripts = scripts
		out, err := f.finalize(t)
		expect.Code(t, err, "")
		if len(out.Warnings.Warnings) != want {
			t.Errorf("where scripts are %s: %+v", scripts, out.Warnings)
		}
	}
}

func TestAFinalizeSucceedsWithoutItsWarnings(t *testing.T) {
	for name, set := range map[string]func(*fakeStore){
		"the reads fail":     func(s *fakeStore) { s.opens = fault.New(fault.StorageUnavailable, "down") },
		"the reads break":    func(s *fakeStore) { s.opens = errors.New("reset") },
		"the reads are late": func(s *fakeStore) { s.blocks = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newLinted([2]string{"index.html", brokenPage})
				set(f.store)
				out, err := f.finalize(t)
				synctest.Wait() // a late read outlasts the answer
				expect.Code(t, err, "")
				if len(f.store.done) != 1 || len(out.Warnings.Warnings) > 0 || f.store.opened != 1 {
					t.Errorf("it makes %d drafts, warns %+v and reads %d objects", len(f.store.done), out.Warnings, f.store.opened)
				}
			})
		})
	}
}

func TestAPanicOfTheCheckIsNoFailure(t *testing.T) {
	f := newLinted([2]string{"index.html", brokenPage})
	found := f.lintFile(t.Context(), nil, f.attempt.Session, tree.File{Path: "index.html", Size: 27, Object: f.object(0)})
	if len(found.Warnings) > 0 {
		t.Errorf("%+v, want none", found)
	}
}

func TestOfALargeFirstPageTheBeginningIsRead(t *testing.T) {
	const beginning = "<!doctype html><img src=gone.png alt=''>"
	body := beginning + strings.Repeat(" ", limits.LintedFile-len(beginning)) + "<img src=late.png alt=''>"
	f := newLinted([2]string{"index.html", body})
	f.by.Policy = limits.Policy{FileCount: 5, FileSize: 1 << 20, ArtifactSize: 1 << 20, Scripts: limits.ScriptsOn}
	out, err := f.finalize(t)
	expect.Code(t, err, "")
	w := out.Warnings.Warnings
	if len(w) != 1 || w[0].Code != lint.MissingFile || w[0].Subject != "gone.png" {
		t.Errorf("it warns of %+v, want the file that the beginning names alone", w)
	}
	found := f.lint(t.Context(), f.by, f.attempt.Session, tree.Tree{{Path: "index.html", Size: limits.LargeEntrypoint + 1}})
	if len(found.Warnings) != 1 || found.Warnings[0].Code != lint.EntrypointLarge {
		t.Errorf("%+v, want a large entrypoint alone", found)
	}
	f.attempt.Session.Entrypoint = "film.mp4"
	found = f.lint(t.Context(), f.by, f.attempt.Session, tree.Tree{{Path: "film.mp4", Size: limits.LargeEntrypoint + 1}})
	if len(found.Warnings) > 0 {
		t.Errorf("%+v, want nothing about a film", found)
	}
}

func TestTheFirstPageAndSevenOthersAreRead(t *testing.T) {
	var many tree.Tree
	for n := range 20 {
		many = append(many, tree.File{Path: fmt.Sprintf("p%02d.html", n), Size: 1})
	}
	for _, tt := range []struct {
		name  string
		files tree.Tree
		first string
		n     int
	}{
		{"the entrypoint comes first", slices.Concat(many, tree.Tree{{Path: "z.html", Size: 1}}), "z.html", limits.LintedFiles},
		{"its place stays free", slices.Concat(many, tree.Tree{{Path: "z.png", Size: 1}}), "z.png", limits.LintedFiles - 1},
		{"large ones are left out", tree.Tree{{Path: "a.html", Size: limits.LintedFile + 1}}, "z.html", 0},
		{"a large entrypoint is not", tree.Tree{{Path: "z.html", Size: limits.LintedFile + 1}}, "z.html", 1},
		{"empty ones are left out", tree.Tree{{Path: "z.html"}}, "z.html", 0},
		{"other kinds are left out", tree.Tree{{Path: "a.css", Size: 1}, {Path: "b.js", Size: 1}}, "z.html", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := linted(tt.files, tt.first)
			if len(got) != tt.n {
				t.Fatalf("%d files: %+v", len(got), got)
			}
			if tt.n == limits.LintedFiles && got[0].Path != tt.first {
				t.Errorf("the first is %+v", got[0])
			}
		})
	}
}

func TestFilesOfTheBaseAreReadToo(t *testing.T) {
	f := newLinted([2]string{"a.txt", "text"})
	s := f.attempt.Session
	page := tree.Object{Session: s.ID, Entry: 40, Diff: true} // lists of files do not show it
	f.store.objects[page] = brokenPage
	s.New, s.Base = false, "rev_base"
	f.by.Policy = limits.Policy{FileCount: 5, FileSize: 100, ArtifactSize: 100}
	f.store.base = &artifact.Contents{
		Revision: artifact.Revision{ID: s.Base, Artifact: s.Artifact, Status: artifact.Published},
		Tree:     tree.Tree{{Path: "index.html", Size: int64(len(brokenPage)), Object: page}},
	}
	out, err := f.finalize(t)
	expect.Code(t, err, "")
	if len(out.Warnings.Warnings) == 0 || out.Warnings.Warnings[0].Code != "missing_file" {
		t.Errorf("%+v, want a missing file", out.Warnings)
	}
}
