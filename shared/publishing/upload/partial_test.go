package upload

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

func TestF66ABaseServesIfItIsPublished(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*finalizer)
		want string // in the refusal
	}{
		"a published one does": {func(*finalizer) {}, ""},
		"a draft does not": {
			func(f *finalizer) { f.store.base.Revision.Status = artifact.Draft }, "base_revision_not_publishable",
		},
		"one without bytes does not": {
			func(f *finalizer) { f.store.base.Revision.Status = artifact.Retained }, "base_revision_not_publishable",
		},
		"a missing one does not": {
			func(f *finalizer) { f.attempt.Session.Base = id.NewRevision() }, "base_revision_not_found",
		},
		"one of another artifact does not": {
			func(f *finalizer) { f.store.base.Revision.Artifact = id.NewArtifact() }, "base_revision_not_found",
		},
		"one without an artifact": {
			func(f *finalizer) { f.attempt.Session.New = true }, "base_revision_artifact_mismatch",
		},
		"a path that it lacks": {func(f *finalizer) { f.attempt.Entries[2].Path = "x" }, "deleted_path_not_in_base"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPartial()
			c.set(f)
			_, err := f.finalize(t)
			if c.want == "" {
				expect.Code(t, err, "")
				return
			}
			expect.Code(t, err, fault.InvalidRequest)
			if !strings.HasPrefix(fault.Of(err).Message, c.want) {
				t.Error(err)
			}
			if len(f.store.calls) > 0 {
				t.Errorf("a refusal has called %v", f.store.calls)
			}
		})
	}
}

// newPartial has a base of three files, of which the session replaces one, patches one and deletes one.
func newPartial() *finalizer {
	f := newFinalizer()
	s := f.attempt.Session
	old := func(n int) tree.Object { return tree.Object{Session: "old", Entry: n} }
	s.New, s.Base = false, "base"
	f.store.base = &artifact.Contents{Revision: artifact.Revision{
		ID:       s.Base,
		Artifact: s.Artifact,
		Status:   artifact.Published,
		Mode:     "markdown",
	}}
	for n, file := range [][2]string{
		{"index.html", "old"}, {"a.txt", "one\n"}, {"gone.txt", "gone"}, {"kept.txt", "kept"},
	} {
		f.store.base.Tree = append(f.store.base.Tree, tree.File{
			Path:     file[0],
			Size:     int64(len(file[1])),
			SHA256:   tree.DigestOf(file[1]),
			Object:   old(n),
			Borrowed: file[0] == "kept.txt",
		})
	}
	const diff = "@@ -1 +1 @@\n-one\n+two\n"
	f.attempt.Entries[1] = Entry{
		Path:   "a.txt",
		Size:   int64(len(diff)),
		Object: f.object(1),
		Patch:  &Patch{Base: tree.DigestOf("one\n"), Result: tree.DigestOf("two\n")},
	}
	f.attempt.Entries = append(f.attempt.Entries, Entry{Path: "gone.txt", Deleted: true})
	delete(f.store.objects, f.object(1))
	f.store.objects[tree.Object{Session: s.ID, Entry: 1, Diff: true}] = diff
	f.store.objects[old(1)] = "one\n"
	return f
}

func TestAPartialManifestIsMergedIntoItsBase(t *testing.T) {
	f := newPartial()
	out, err := f.finalize(t)
	expect.Code(t, err, "")
	done := f.store.done[0]
	if out.FileCount != 3 || out.Size != 12 || done.Revision.Mode != "markdown" {
		t.Errorf("%+v, mode %s, want 12 bytes of Markdown", out, done.Revision.Mode)
	}
	for path, body := range map[string]string{"index.html": "page", "a.txt": "two\n", "kept.txt": "kept"} {
		if file, ok := done.Tree.Find(path); !ok || file.SHA256 != tree.DigestOf(body) {
			t.Errorf("%s: %+v", path, file)
		}
	}
	if kept, _ := done.Tree.Find("kept.txt"); kept.Referrer != "base" || slices.Contains(f.store.calls, "AddReference") {
		t.Errorf("%+v after %v, want the reference of the base alone", kept, f.store.calls)
	}
	if f.store.objects[f.object(1)] != "two\n" {
		t.Error("the result of the patch is not stored")
	}
}

func TestARevisionOpensAsItsBaseDoes(t *testing.T) {
	for name, c := range map[string]struct {
		sent, base bool
		entrypoint string
		want       bool
	}{
		"the page stays":              {false, false, "index.html", false},
		"the list stays":              {false, true, "index.html", true},
		"the list is wanted":          {true, false, "index.html", true},
		"another page is wanted":      {false, true, "a.txt", false},
		"the list of another is, too": {true, true, "a.txt", true},
	} {
		f := newPartial()
		f.store.base.Revision.Entrypoint, f.store.base.Revision.Listing = "index.html", c.base
		f.attempt.Session.Entrypoint, f.attempt.Session.Listing = c.entrypoint, c.sent
		_, err := f.finalize(t)
		expect.Code(t, err, "")
		if got := f.store.done[0].Revision.Listing; got != c.want {
			t.Errorf("%s: the list opens: %v", name, got)
		}
	}
}

// TestAnAppIsWhatItsPublisherSaysOrItsPagesLookLike finalizes a page that looks like an app, and one that does not.
func TestAnAppIsWhatItsPublisherSaysOrItsPagesLookLike(t *testing.T) {
	const looks, plain = "<!doctype html><div id=root></div><script type=module src=a.js></script>", "<!doctype html><p>hello"
	for name, c := range map[string]struct {
		said artifact.App
		page string
		want artifact.App
	}{
		"it looks like one":   {artifact.NoApp, looks, artifact.FoundApp},
		"it does not":         {artifact.NoApp, plain, artifact.NoApp},
		"it is said to be":    {artifact.DeclaredApp, plain, artifact.DeclaredApp},
		"it is said to be no": {artifact.DeclinedApp, looks, artifact.DeclinedApp},
	} {
		f := newFinalizer()
		f.attempt.Session.App = c.said
		f.by.Policy.FileSize, f.by.Policy.ArtifactSize = 1<<10, 1<<10
		f.attempt.Entries[0].Size = int64(len(c.page))
		f.store.objects[f.attempt.Entries[0].Object] = c.page
		_, err := f.finalize(t)
		expect.Code(t, err, "")
		if got := f.store.done[0].Revision.App; got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestF65T64APatchAppliesExactlyAndWithinTheCaps(t *testing.T) {
	const byPatch = "the result of the patch"
	patch := func(f *finalizer) *Patch { return f.attempt.Entries[1].Patch }
	diff := func(text string) func(*finalizer) {
		return func(f *finalizer) {
			f.store.objects[tree.Object{Session: f.attempt.Session.ID, Entry: 1, Diff: true}] = text
			f.attempt.Entries[1].Size = int64(len(text))
		}
	}
	for name, c := range map[string]struct {
		set    func(*finalizer)
		code   fault.Code
		reason string
	}{
		"another base": {func(f *finalizer) { patch(f).Base[0]++ }, fault.PatchConflict, "base_hash_mismatch"},
		"a path not in it": {
			func(f *finalizer) { f.attempt.Entries[1].Path = "b.txt" }, fault.PatchConflict, "base_hash_mismatch",
		},
		"another result":     {func(f *finalizer) { patch(f).Result[0]++ }, fault.PatchConflict, "result_hash_mismatch"},
		"no diff":            {diff("no diff"), fault.PatchConflict, "parse_error"},
		"a hunk of others":   {diff("@@ -1 +1 @@\n-six\n+two\n"), fault.PatchConflict, "apply_failed"},
		"too much of a file": {func(f *finalizer) { f.by.Policy.FileSize = 3 }, fault.FileSizeCapExceeded, "index.html"},
		"too much together":  {func(f *finalizer) { f.by.Policy.ArtifactSize = 11 }, fault.RevisionSizeCapExceeded, byPatch},
		"too much of a result": {
			func(f *finalizer) { f.patchesPage(); f.by.Policy.FileSize = 11 }, fault.FileSizeCapExceeded, byPatch,
		},
		"too much of two results": {
			func(f *finalizer) { f.patchesPage(); f.by.Policy.ArtifactSize = 19 }, fault.RevisionSizeCapExceeded, byPatch,
		},
		"too much of a result for a patch": {
			func(f *finalizer) { f.patchesLarge(1, limits.PatchedFile+1) }, fault.PatchConflict, "f0.txt: apply_failed: base",
		},
		"too much for the patches of a session": {
			func(f *finalizer) { f.patchesLarge(5, limits.PatchedTogether/10) }, fault.PatchConflict, "f4.txt: apply_failed: base",
		},
		"too many files": {func(f *finalizer) { f.by.Policy.FileCount = 2 }, fault.FileCountCapExceeded, ""},
		"a base that is gone": {
			func(f *finalizer) { delete(f.store.objects, tree.Object{Session: "old", Entry: 1}) },
			fault.UploadIncomplete, "a.txt",
		},
		"a base that is shorter": {
			func(f *finalizer) { f.store.objects[tree.Object{Session: "old", Entry: 1}] = "one" },
			fault.StorageUnavailable, "",
		},
		"a base out of reach": {func(f *finalizer) {
			known := tree.DigestOf("page")
			f.attempt.Entries[0].SHA256 = &known // else it is read first
			f.store.opens = fault.NewCode(fault.StorageUnavailable)
		}, fault.StorageUnavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPartial()
			c.set(f)
			_, err := f.finalize(t)
			expect.Code(t, err, c.code)
			if !strings.Contains(fault.Of(err).Message, c.reason) {
				t.Errorf("%v, want %s", err, c.reason)
			}
			if len(f.store.calls) > 0 {
				t.Errorf("a refusal has called %v", f.store.calls)
			}
		})
	}
	f := newPartial()
	f.by.Policy.ArtifactSize, f.by.Policy.FileCount = 12, 3
	_, err := f.finalize(t)
	expect.Code(t, err, "")
	f = newPartial()
	f.patchesLarge(3, limits.PatchedFile)
	_, err = f.finalize(t)
	expect.Code(t, err, "")
}

func TestPatchesThatAreTooLargeAreRefusedBeforeAnythingIsSent(t *testing.T) {
	const mib = limits.MiB
	declare := func(sizes ...int64) (files []declared, base tree.Tree) {
		for n := 0; n < len(sizes); n += 2 {
			path := fmt.Sprint(n)
			files = append(files, declared{path: path, size: sizes[n+1], patch: &Patch{}})
			base = append(base, tree.File{Path: path, Size: sizes[n]})
		}
		return files, base
	}
	for name, c := range map[string]struct {
		sizes []int64 // of base and diff, in turns
		want  fault.Code
	}{
		"as large as may be": {[]int64{8 * mib, 8 * mib}, ""},
		"a larger base":      {[]int64{8*mib + 1, 1}, fault.PatchConflict},
		"a larger diff":      {[]int64{1, 8*mib + 1}, fault.PatchConflict},
		"as much as may be":  {slices.Repeat([]int64{8 * mib}, 8), ""},
		"more together":      {append(slices.Repeat([]int64{8 * mib}, 8), 1, 1), fault.PatchConflict},
	} {
		t.Run(name, func(t *testing.T) {
			files, base := declare(c.sizes...)
			files = append(files, declared{path: "whole", size: 20 * mib}, declared{path: "not in the base", patch: &Patch{}})
			expect.Code(t, checkPatches(files, base), c.want)
		})
	}
}

func TestF65OnePatchOfNineThatDoesNotFitRefusesAllAndStoresNothing(t *testing.T) {
	for reason, spoil := range map[string]func(*Patch, *string){
		"base_hash_mismatch":   func(p *Patch, _ *string) { p.Base[0]++ },
		"result_hash_mismatch": func(p *Patch, _ *string) { p.Result[0]++ },
		"parse_error":          func(_ *Patch, diff *string) { *diff = strings.Repeat("?", len(*diff)) },
		"apply_failed":         func(_ *Patch, diff *string) { *diff = strings.Replace(*diff, "-one", "-six", 1) },
	} {
		t.Run(reason, func(t *testing.T) {
			f := newPartial()
			f.patchesNine(spoil)
			_, err := f.finalize(t)
			expect.Code(t, err, fault.PatchConflict)
			if got, want := fault.Of(err).Message, "patch_conflict: f7.txt: "+reason; got != want {
				t.Errorf("the message is %q, want %q", got, want)
			}
			if len(f.store.calls) > 0 || f.store.released != 1 {
				t.Errorf("a refusal has called %v and released the command %d times", f.store.calls, f.store.released)
			}
		})
	}
	f := newPartial()
	f.patchesNine(func(*Patch, *string) {})
	out, err := f.finalize(t)
	expect.Code(t, err, "")
	if out.FileCount != 10 || len(f.store.calls) != 9+1 {
		t.Errorf("%+v after %v, want ten files after ten calls", out, f.store.calls)
	}
}

// patchesNine makes the manifest nine diffs to files of the base, of which spoil changes that of f7.txt.
func (f *finalizer) patchesNine(spoil func(*Patch, *string)) {
	f.by.Policy = limits.Default().Tiers[limits.Free]
	f.attempt.Entries = nil
	f.store.objects = map[tree.Object]string{}
	f.store.base.Tree = tree.Tree{{Path: "index.html"}}
	for n := range 9 {
		old := tree.Object{Session: "old", Entry: n}
		e := Entry{
			Path:   fmt.Sprintf("f%d.txt", n),
			Object: f.object(n),
			Patch:  &Patch{Base: tree.DigestOf("one\n"), Result: tree.DigestOf("two\n")},
		}
		f.store.base.Tree = append(f.store.base.Tree, tree.File{
			Path:   e.Path,
			Size:   4,
			SHA256: e.Patch.Base,
			Object: old,
		})
		diff := "@@ -1 +1 @@\n-one\n+two\n"
		if n == 7 {
			spoil(e.Patch, &diff)
		}
		e.Size = int64(len(diff))
		f.attempt.Entries = append(f.attempt.Entries, e)
		f.store.objects[old] = "one\n"
		f.store.objects[tree.Object{Session: f.attempt.Session.ID, Entry: n, Diff: true}] = diff
	}
}

func TestWhatARevisionCannotTakeIsRefusedBeforeItsBytesAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*finalizer)
		want fault.Code
	}{
		"a path that the base lacks": {func(f *finalizer) { f.attempt.Entries[2].Path = "x" }, fault.InvalidRequest},
		"too many bytes":             {func(f *finalizer) { f.by.Policy.ArtifactSize = 7 }, fault.RevisionSizeCapExceeded},
		"too large a file":           {func(f *finalizer) { f.by.Policy.FileSize = 3 }, fault.FileSizeCapExceeded},
		"no entrypoint": {
			func(f *finalizer) { f.attempt.Session.Entrypoint = "x" }, fault.EntrypointNotInRevision,
		},
		"the entrypoint is deleted": {func(f *finalizer) {
			f.attempt.Entries[0].Path, f.attempt.Entries[2].Path = "new.html", "index.html"
		}, fault.EntrypointNotInRevision},
		"all files are deleted": {func(f *finalizer) {
			f.attempt.Entries = nil
			for _, file := range f.store.base.Tree {
				f.attempt.Entries = append(f.attempt.Entries, Entry{Path: file.Path, Deleted: true})
			}
			clear(f.store.objects)
		}, fault.FileCountCapExceeded},
		"a file is missing": {func(f *finalizer) { delete(f.store.objects, f.object(0)) }, fault.UploadIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPartial()
			c.set(f)
			_, err := f.finalize(t)
			expect.Code(t, err, c.want)
			if f.store.opened > 0 {
				t.Errorf("%d objects were read", f.store.opened)
			}
		})
	}
}

// patchesLarge makes the manifest some diffs that add a line to a file each, so that it has this size.
func (f *finalizer) patchesLarge(files, size int) {
	const line = "a line\n"
	const diff = "@@ -1,0 +2 @@\n+" + line
	before := strings.Repeat("x", size-len(line)-1) + "\n"
	patch := &Patch{Base: tree.DigestOf(before), Result: tree.DigestOf(before + line)}
	f.by.Policy = limits.Policy{FileSize: 1 << 30, ArtifactSize: 1 << 30, FileCount: 100}
	f.attempt.Entries, f.store.objects = nil, map[tree.Object]string{}
	f.store.base.Tree = tree.Tree{{Path: "index.html"}}
	for n := range files {
		old := tree.Object{Session: "old", Entry: n}
		e := Entry{Path: fmt.Sprintf("f%d.txt", n), Object: f.object(n), Patch: patch, Size: int64(len(diff))}
		f.attempt.Entries = append(f.attempt.Entries, e)
		f.store.base.Tree = append(f.store.base.Tree,
			tree.File{Path: e.Path, Size: int64(len(before)), SHA256: patch.Base, Object: old})
		f.store.objects[old] = before
		f.store.objects[tree.Object{Session: f.attempt.Session.ID, Entry: n, Diff: true}] = diff
	}
}

// patchesPage makes the page a diff too, with a result of twelve bytes.
func (f *finalizer) patchesPage() {
	const diff = "@@ -1 +1,2 @@\n-old\n\\ No newline at end of file\n+a longer\n+one\n\\ No newline at end of file\n"
	delete(f.store.objects, f.object(0))
	f.store.objects[tree.Object{Session: f.attempt.Session.ID, Entry: 0, Diff: true}] = diff
	f.store.objects[tree.Object{Session: "old", Entry: 0}] = "old"
	e := &f.attempt.Entries[0]
	e.Size = int64(len(diff))
	e.Patch = &Patch{Base: tree.DigestOf("old"), Result: tree.DigestOf("a longer\none")}
}

func TestBasesAndDiffsAreReadInPartsThatMemoryHolds(t *testing.T) {
	const mib = limits.MiB
	for name, c := range map[string]struct {
		bases []int64
		diff  int64
		want  int
	}{
		"all of some small ones":    {[]int64{1, 2, 3}, 1, 3},
		"those that fit":            {[]int64{10 * mib, 10 * mib, 10 * mib, 1}, mib, 2},
		"a large one alone":         {[]int64{100 * mib, 1}, 1, 1},
		"a small one before it":     {[]int64{1, 100 * mib}, 1, 1},
		"diffs count as bases do":   {[]int64{1, 1, 1}, 15 * mib, 2},
		"exactly as much as may be": {[]int64{15 * mib, 15 * mib}, mib, 2},
	} {
		var files []*patchedFile
		for _, size := range c.bases {
			files = append(files, &patchedFile{entry: Entry{Size: c.diff}, old: &tree.File{Size: size}})
		}
		if got := together(files); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
