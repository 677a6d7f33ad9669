package upload

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

func request(files ...contract.DeclaredFile) contract.CreateSession {
	return contract.CreateSession{Title: "T", Entrypoint: "index.html", Files: files}
}

func file(path string, size int64) contract.DeclaredFile {
	return contract.DeclaredFile{Path: path, SizeBytes: size}
}

func aPatch() *contract.DeclaredPatch {
	return &contract.DeclaredPatch{
		BaseSHA256:   tree.DigestOf("before").String(),
		Format:       "unified",
		ResultSHA256: tree.DigestOf("after").String(),
	}
}

func TestDeclarationsOfTheWrongShapeAreRefused(t *testing.T) {
	good, digest := request(file("index.html", 3)), tree.DigestOf("x").String()
	change := func(f func(*contract.CreateSession)) contract.CreateSession {
		r := good
		r.Files = append([]contract.DeclaredFile(nil), good.Files...)
		f(&r)
		return r
	}
	partial := func(f func(*contract.CreateSession)) contract.CreateSession {
		return change(func(r *contract.CreateSession) {
			r.BaseRevisionID, r.Files[0].Patch = id.NewRevision(), aPatch()
			f(r)
		})
	}
	for name, r := range map[string]contract.CreateSession{
		"blank title":        change(func(r *contract.CreateSession) { r.Title = "  \n" }),
		"long title":         change(func(r *contract.CreateSession) { r.Title = strings.Repeat("ü", 161) }),
		"no files":           request(),
		"2,001 files":        change(func(r *contract.CreateSession) { r.Files = make([]contract.DeclaredFile, 2001) }),
		"path twice":         request(file("index.html", 1), file("index.html", 1)),
		"hostile path":       request(file("../index.html", 1)),
		"hostile entrypoint": change(func(r *contract.CreateSession) { r.Entrypoint = "/index.html" }),
		"negative size":      request(file("index.html", -1)),
		"above 180 MiB":      request(file("index.html", limits.SchemaFile+1)),
		"bad digest":         change(func(r *contract.CreateSession) { r.Files[0].SHA256 = "abc" }),
		"digest of an empty file": change(func(r *contract.CreateSession) {
			r.Files[0] = contract.DeclaredFile{Path: "index.html", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("x")))}
		}),
		"deleted paths without a base": change(func(r *contract.CreateSession) { r.DeletedPaths = []string{"a"} }),
		"a patch without a base":       change(func(r *contract.CreateSession) { r.Files[0].Patch = aPatch() }),
		"nothing on a base":            partial(func(r *contract.CreateSession) { r.Files = nil }),
		"deleted and declared":         partial(func(r *contract.CreateSession) { r.DeletedPaths = []string{"index.html"} }),
		"deleted twice":                partial(func(r *contract.CreateSession) { r.DeletedPaths = []string{"a", "a"} }),
		"hostile deletion":             partial(func(r *contract.CreateSession) { r.DeletedPaths = []string{"../a"} }),
		"2,001 deletions":              partial(func(r *contract.CreateSession) { r.DeletedPaths = make([]string, 2001) }),
		"patch of another format":      partial(func(r *contract.CreateSession) { r.Files[0].Patch.Format = "binary" }),
		"patch with a digest":          partial(func(r *contract.CreateSession) { r.Files[0].SHA256 = digest }),
		"patch without digests":        partial(func(r *contract.CreateSession) { r.Files[0].Patch.BaseSHA256 = "" }),
		"empty patch":                  partial(func(r *contract.CreateSession) { r.Files[0].SizeBytes = 0 }),
	} {
		if _, err := declare(r); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	deletes := partial(func(r *contract.CreateSession) { r.Files, r.DeletedPaths = nil, []string{"a"} })
	if _, err := declare(deletes); err != nil {
		t.Error(err)
	}
	longest := change(func(r *contract.CreateSession) { r.Title = " " + strings.Repeat("ü", 160) })
	if _, err := declare(longest); err != nil {
		t.Error(err)
	}
}

func TestCapsAreCheckedInTheOrderOfTheContract(t *testing.T) {
	p := limits.Policy{FileCount: 2, FileSize: 10, ArtifactSize: 15}
	for _, tt := range []struct {
		want  fault.Code
		files []contract.DeclaredFile
	}{
		{fault.FileCountCapExceeded, []contract.DeclaredFile{file("a", 11), file("b", 1), file("c", 10)}},
		{fault.FileSizeCapExceeded, []contract.DeclaredFile{file("a", 11), file("b", 10)}},
		{fault.RevisionSizeCapExceeded, []contract.DeclaredFile{file("a", 10), file("b", 10)}},
		{fault.EntrypointNotInRevision, []contract.DeclaredFile{file("a", 10), file("b", 5)}},
		{"", []contract.DeclaredFile{file("a", 10), file("index.html", 5)}},
	} {
		d, err := declare(request(tt.files...))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.check(p, "index.html"); fault.CodeOf(err) != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestKnownBytesAreReused(t *testing.T) {
	digest := func(s string) *tree.Digest { d := tree.Digest(sha256.Sum256([]byte(s))); return &d }
	older, lent := tree.Object{Session: id.NewSession(), Entry: 4}, tree.Object{Session: id.NewSession(), Entry: 2}
	known := tree.Tree{{
		Path:   "old",
		Size:   3,
		SHA256: *digest("abc"),
		Object: older,
	}}
	indexed := tree.Tree{{
		Size:     3,
		SHA256:   *digest("abc"),
		Object:   lent,
		Borrowed: true,
	}, {
		Size:     5,
		SHA256:   *digest("lent"),
		Object:   lent,
		Borrowed: true,
	}}
	s := Session{ID: id.NewSession(), Reuses: id.NewRevision()}
	entries := placeEntries(&s, []declared{
		{"a", 3, digest("abc"), nil},
		{"b", 3, digest("xyz"), nil},
		{"c", 3, digest("xyz"), nil},
		{"d", 0, nil, nil},
		{"e", 3, nil, nil},
		{"f", 4, digest("abc"), nil},
		{"g", 5, digest("lent"), nil},
	}, known, indexed)
	for i, want := range []struct {
		reused, borrowed bool
		object           tree.Object
	}{
		{true, false, older},
		{false, false, tree.Object{Session: s.ID, Entry: 1}},
		{true, false, tree.Object{Session: s.ID, Entry: 1}},
		{true, false, tree.Object{}},
		{false, false, tree.Object{Session: s.ID, Entry: 4}},
		{false, false, tree.Object{Session: s.ID, Entry: 5}},
		{true, true, lent},
	} {
		if e := entries[i]; e.Reused != want.reused || e.Borrowed != want.borrowed || e.Object != want.object {
			t.Errorf("%s: %+v", e.Path, e)
		}
	}
	if s.Reuses == "" {
		t.Error("the session forgets the revision whose bytes it reuses")
	}
	again := Session{ID: id.NewSession(), Reuses: id.NewRevision()}
	known[0].Borrowed = true // of the revision before
	e := placeEntries(&again, []declared{{"a", 3, digest("abc"), nil}}, known.Inherited("before"), nil)
	if !e[0].Borrowed || e[0].Referrer != "before" || again.Reuses == "" {
		t.Errorf("%+v: what is inherited does not name the revision before", e[0])
	}
}

func TestNeitherTheFilesNorTheDiffsOfAPartialManifestAreMoreThanARevision(t *testing.T) {
	p := limits.Policy{FileSize: 10, ArtifactSize: 25, FileCount: 9}
	file := func(n int) declared { return declared{path: strings.Repeat("f", n), size: int64(n)} }
	diff := func(n int) declared {
		return declared{path: strings.Repeat("d", n), size: int64(n), patch: &Patch{}}
	}
	for name, tt := range map[string]struct {
		files []declared
		want  fault.Code
	}{
		"both fit":             {[]declared{file(8), file(9), diff(8), diff(9)}, ""},
		"too much of files":    {[]declared{file(8), file(9), file(10)}, fault.RevisionSizeCapExceeded},
		"too much of diffs":    {[]declared{file(1), diff(8), diff(9), diff(10)}, fault.RevisionSizeCapExceeded},
		"a file that is large": {[]declared{file(11)}, fault.FileSizeCapExceeded},
		"a diff that is large": {[]declared{diff(11)}, fault.FileSizeCapExceeded},
	} {
		err := declaration{files: tt.files, partial: true}.check(p, "index.html")
		if (err != nil) != (tt.want != "") || err != nil && fault.CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
