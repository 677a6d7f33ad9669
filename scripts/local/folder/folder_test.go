package folder

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vitrine/scripts/testkit/expect"
)

func TestTheUserOfAFolderIsTold(t *testing.T) {
	dir := t.TempDir()
	for _, by := range []User{{PID: 12345, Base: 8700}, {PID: 7}} { // the second text is shorter
		lock := expect.Value(Take(dir, by))(t)
		_, err := Take(dir, User{PID: 1, Base: 1})
		used, ok := errors.AsType[*InUseError](err)
		if !ok || used.By != by || used.Path != dir {
			t.Errorf("%v", err)
		}
		expect.OK(t, lock.Release())
	}
	expect.OK(t, os.WriteFile(filepath.Join(dir, "lock"), []byte("12\n"), 0o600)) // of older code
	file := expect.Value(os.Open(filepath.Join(dir, "lock")))(t)
	defer file.Close()
	if by := readUser(file); by != (User{PID: 12}) {
		t.Errorf("older code is read as %+v", by)
	}
}
