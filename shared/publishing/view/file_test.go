package view

import (
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

func TestTheBytesOfAnyFileOfTheCurrentRevisionAreRead(t *testing.T) {
	const bytes = "\x00\xff"
	e := newEnv(t)
	e.Bytes = fakeBytes(bytes)
	e.store.tree = tree.Tree{{Path: "p.png", Size: int64(len(bytes)), SHA256: tree.DigestOf(bytes)}, {Path: "empty.txt"}}
	read := func(by credential.Actor, path string, most int64) ([]byte, error) {
		return e.Content(t.Context(), by, &e.store.artifact, path, most)
	}
	if got, err := read(e.owner, "p.png", 2); err != nil || string(got) != bytes {
		t.Errorf("%q, %v", got, err)
	}
	if e.store.asked != e.revisions[1] {
		t.Errorf("read %s", e.store.asked)
	}
	if got, err := read(e.owner, "p.png", 1); err != nil || got != nil {
		t.Errorf("more than wanted: %q, %v", got, err)
	}
	if got, err := read(e.owner, "empty.txt", 0); err != nil || got == nil || len(got) > 0 {
		t.Errorf("an empty file: %v, %v", got, err)
	}
	_, err := read(e.owner, "other.png", 2)
	expect.Code(t, err, fault.NotFound)
	stranger := credential.Actor{Workspace: workspace.Workspace{ID: id.NewWorkspace()}}
	_, err = read(stranger, "p.png", 2)
	expect.Code(t, err, fault.NotFound)
	_, err = e.FileURL(t.Context(), stranger, &e.store.artifact, "", "p.png")
	expect.Code(t, err, fault.NotFound)
	e.Bytes = fakeBytes("other")
	_, err = read(e.owner, "p.png", 2)
	expect.Code(t, err, fault.StorageUnavailable)
	e.store.artifact.Lock = id.NewLockdown()
	_, err = read(e.owner, "p.png", 2)
	expect.Code(t, err, fault.NotFound)
}
