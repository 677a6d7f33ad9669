package upload

import (
	"testing"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

func TestAPartialManifestIsLaidOverItsBase(t *testing.T) {
	at := func(path, body string) tree.File {
		return tree.File{Path: path, Size: int64(len(body)), SHA256: tree.DigestOf(body)}
	}
	base := tree.Tree{at("a", "old a"), at("b", "old b"), at("c", "old c")}
	declared := tree.Tree{at("d", "new d"), at("b", "new b")}
	merged, err := merge(base, []Entry{{Path: "d"}, {Path: "b"}, {Path: "a", Deleted: true}}, declared)
	if err != nil {
		t.Fatal(err)
	}
	want := tree.Tree{at("b", "new b"), at("c", "old c"), at("d", "new d")}
	if len(merged) != len(want) {
		t.Fatalf("%+v", merged)
	}
	for i := range want {
		if merged[i] != want[i] {
			t.Errorf("file %d is %+v, want %+v", i, merged[i], want[i])
		}
	}
	if _, err := merge(base, []Entry{{Path: "x", Deleted: true}}, nil); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("deleting what the base lacks: %v", err)
	}
}

func TestCapsHoldForTheMergedTree(t *testing.T) {
	p := limits.Policy{FileCount: 2, FileSize: 10, ArtifactSize: 15}
	file := func(path string, size int64) tree.File { return tree.File{Path: path, Size: size} }
	for _, tt := range []struct {
		want  fault.Code
		files tree.Tree
	}{
		{fault.FileCountCapExceeded, nil},
		{fault.FileCountCapExceeded, tree.Tree{file("a", 1), file("b", 1), file("index.html", 1)}},
		{fault.FileSizeCapExceeded, tree.Tree{file("index.html", 11)}},
		{fault.RevisionSizeCapExceeded, tree.Tree{file("a", 10), file("index.html", 10)}},
		{fault.EntrypointNotInRevision, tree.Tree{file("a", 1)}},
		{"", tree.Tree{file("index.html", 1)}},
	} {
		if err := checkTree(tt.files, p, "index.html"); fault.CodeOf(err) != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
