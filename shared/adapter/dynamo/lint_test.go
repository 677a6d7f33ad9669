package dynamo

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

// report makes so many findings.
func report(n int) (r lint.Report) {
	for line := range n {
		r.Warnings = append(r.Warnings, lint.Warning{
			Code:     lint.MissingFile,
			Severity: lint.Error,
			Path:     "index.html",
			Line:     line + 1,
			Subject:  tree.DigestOf(fmt.Sprint(line)).String()[:40],
			Instead:  "images/index.html",
		})
	}
	return r
}

// linted finalizes a session with so many files and findings.
func linted(t *testing.T, s Stores, files int, found lint.Report) artifact.Revision {
	t.Helper()
	w, k := tenant(t, s)
	u, entries := openSession(t, s, w, k, "")
	f := finalization(t, s, k, u, entries)
	f.Tree = brought(u, files)
	f.Revision.Warnings = found
	noError(t, s.Uploads.Finalize(ctx, f))
	return f.Revision
}

func TestFindingsAreStoredWithTheirRevision(t *testing.T) {
	for name, tt := range map[string]struct {
		files, findings, items int
	}{
		"none":                           {3, 0, 1},
		"a few beside the files":         {3, 2, 1},
		"more than fit beside the files": {3, 20, 2}, // the files make room
		"some of a revision with many":   {40, 20, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			r := linted(t, s, tt.files, report(tt.findings))
			c, err := s.Artifacts.Contents(ctx, r.Artifact, r.ID)
			if err != nil || !cmp.Equal(c.Revision.Warnings, r.Warnings) || len(c.Tree) != tt.files {
				t.Errorf("%d files with %+v, want %+v, %v", len(c.Tree), c.Revision.Warnings, r.Warnings, err)
			}
			items := itemsOf(t, s, artifactKey(r.Artifact).pk)
			for _, i := range items {
				if i.getBin(lintName) != nil && i.size() > writeUnit-growth {
					t.Errorf("an item with findings takes %d bytes", i.size())
				}
			}
			if len(items) != tt.items {
				t.Errorf("the revision takes %d items", len(items))
			}
		})
	}
}

func TestFindingsThatDoNotFitAreCounted(t *testing.T) {
	s := newStore(t)
	found := report(20)
	for n := range found.Warnings {
		found.Warnings[n].Path = tree.DigestOf(fmt.Sprint("path", n)).String()
	}
	found.More = 3
	r := linted(t, s, 3, found)
	read, err := s.Artifacts.Revision(ctx, r.Artifact, r.ID)
	kept := len(read.Warnings.Warnings)
	if err != nil || kept == 0 || kept == 20 || read.Warnings.More != 23-kept || kept > 0 &&
		!cmp.Equal(read.Warnings.Warnings, found.Warnings[:kept]) {
		t.Errorf("%d are kept and %d counted, %v", kept, read.Warnings.More, err)
	}
}

func TestDamagedFindingsAreNone(t *testing.T) {
	if r := unpackReport([]byte("no deflate")); len(r.Warnings) > 0 || r.More > 0 {
		t.Errorf("%+v, want none", r)
	}
}

func TestFindingsGoWithTheFiles(t *testing.T) {
	for _, files := range []int{3, 40} {
		s := newStore(t)
		r := linted(t, s, files, report(4))
		noError(t, s.Garbage.DeleteFileList(ctx, r))
		for _, i := range itemsOf(t, s, artifactKey(r.Artifact).pk) {
			if i.getBin(lintName) != nil || i.getBin(filesName) != nil {
				t.Errorf("of %d files %v is left", files, i)
			}
		}
	}
}
