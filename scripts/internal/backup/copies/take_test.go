package copies_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/journey/harness"
)

func TestTheNextCopySharesTheObjects(t *testing.T) {
	d := newEnv(t)
	g := d.NewAgent(t)
	harness.PublishPage(t, g, "one")
	first := d.take(t)
	harness.PublishPage(t, g, "two")
	second := d.take(t)
	if len(first.Objects) != 1 || len(second.Objects) != 2 {
		t.Fatalf("the copies have %d and %d objects", len(first.Objects), len(second.Objects))
	}
	key := first.Objects[0].Key
	if !os.SameFile(inode(t, first.ObjectFile(key)), inode(t, second.ObjectFile(key))) {
		t.Errorf("%s was fetched again", key)
	}
	for _, c := range []copies.Copy{first, second} {
		if err := c.Verify(t.Context(), t.Output()); err != nil {
			t.Error(err)
		}
	}
}

func TestOnlyTheOwnerReadsACopy(t *testing.T) {
	d := newEnv(t)
	harness.PublishPage(t, d.NewAgent(t), "one")
	c := d.take(t)
	files := 0
	err := filepath.WalkDir(d.options.To, func(path string, e fs.DirEntry, err error) error {
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		files++
		if got := inode(t, path).Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", path, got, want)
		}
		return err
	})
	if err != nil || files < 10 {
		t.Error(files, err)
	}
	if len(c.Rings) < 3 {
		t.Errorf("the copy has only the files %v of the data folder", c.Rings)
	}
}
