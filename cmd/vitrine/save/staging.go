package save

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// stagingEnd is the suffix of the folder for the files of an archive.
const stagingEnd = ".files"

// stagedForm matches what such a folder holds: files by their SHA-256, and unfinished ones.
var stagedForm = regexp.MustCompile(`^([0-9a-f]{64}|\.vitrine-.*)$`)

// Staging keeps the files of an archive that is not written yet. If the program ends, they stay next to the final name of
// the archive, so that another run needs only the others.
type Staging struct{ dir string }

// Stage opens the staging folder of an archive. It refuses a folder of another program.
func (p *Part) Stage() (Staging, error) {
	s := Staging{p.file.name + stagingEnd}
	err := os.Mkdir(s.dir, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return s, unusable(s.dir, err)
	}
	if info, err := os.Lstat(s.dir); err != nil || !info.IsDir() {
		return s, p.foreign(s.dir)
	}
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return s, unusable(s.dir, err)
	}
	for _, f := range files {
		if !stagedForm.MatchString(f.Name()) {
			return s, p.foreign(s.dir)
		}
	}
	return s, nil
}

// Name returns the name of a file by its SHA-256, in lower-case hex.
func (s Staging) Name(sha256 string) string { return filepath.Join(s.dir, sha256) }

// Has reports whether a file of this size is there. Files get their names when they are whole.
func (s Staging) Has(sha256 string, size int64) bool {
	info, err := os.Lstat(s.Name(sha256))
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// Remove removes the folder with its files.
func (s Staging) Remove() { os.RemoveAll(s.dir) }

// RemoveEmpty removes the folder unless it has files.
func (s Staging) RemoveEmpty() { os.Remove(s.dir) }
