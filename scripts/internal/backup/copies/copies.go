// Package copies makes copies of the data of one machine while it is in use, and reads them.
package copies

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vitrine/shared/adapter/dynamo"
)

// Format is the newest form of copies that this code reads, and the one that it writes.
const Format = 1

// The names in the folder of a copy.
const (
	manifestName = "copy.json"
	databaseName = "dynamodb.db"
	objectsName  = "objects"
	ringsName    = "rings"
	unfinished   = ".partial" // ends the name of a folder until all of the copy is on the disk
)

// timeLayout names the folder of a copy by its instant.
const timeLayout = "20060102T150405Z"

// Copy is a finished copy in a folder.
type Copy struct {
	Dir string
	Manifest
}

// Manifest says what a copy holds. It is written last, so a folder without one holds no copy.
type Manifest struct {
	Format  int           `json:"format"`
	Version string        `json:"version"` // of the code that made the copy
	At      time.Time     `json:"at"`      // what was acknowledged before it is in the copy
	Tables  dynamo.Tables `json:"tables"`
	// DatabaseFile is the sqlite file of the three tables.
	DatabaseFile File `json:"database"`
	// Rings are the key rings, and the other files of the data folder that decide who gets in.
	Rings   []File   `json:"rings"`
	Objects []Object `json:"objects"`
}

// File is a file of a copy.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Object is an object of the bucket in a copy.
type Object struct {
	Key         string `json:"key"`
	Size        int64  `json:"size"`
	SHA256      string `json:"sha256"` // hexadecimal
	ContentType string `json:"content_type,omitempty"`
}

// Open reads the manifest of a copy. It refuses an unfinished copy, and one of a newer format.
func Open(dir string) (Copy, error) {
	c := Copy{Dir: dir}
	if strings.HasSuffix(filepath.Clean(dir), unfinished) {
		return c, fmt.Errorf("%s is an unfinished copy: choose one whose name does not end with %s", dir, unfinished)
	}
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%s holds no copy: name a folder that scripts/backup made", dir)
	}
	if err != nil {
		return c, fmt.Errorf("the copy cannot be read: %w", err)
	}
	var version struct {
		Format  int
		Version string
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return c, damaged(dir, err)
	}
	if version.Format > Format || version.Format < 1 {
		return c, fmt.Errorf("the copy in %s was made by version %s in format %d, and this version reads formats up to %d: "+
			"use version %[2]s or a newer one", dir, version.Version, version.Format, Format)
	}
	if err := json.Unmarshal(text, &c.Manifest); err != nil {
		return c, damaged(dir, err)
	}
	return c, c.check()
}

func damaged(dir string, err error) error {
	return fmt.Errorf("%s in %s is damaged: %w: use another copy", manifestName, dir, err)
}

// check refuses names that lead out of the folder.
func (c Copy) check() error {
	for _, o := range c.Objects {
		if !strings.HasPrefix(o.Key, "o/") || !filepath.IsLocal(o.Key) {
			return damaged(c.Dir, fmt.Errorf("%q is no key of an object", o.Key))
		}
	}
	for _, f := range c.Rings {
		if filepath.Base(f.Name) != f.Name || !filepath.IsLocal(f.Name) {
			return damaged(c.Dir, fmt.Errorf("%q is no name of a file", f.Name))
		}
	}
	return nil
}

// finished returns the names of the finished copies in a folder, the newest first, without reading them. A folder that
// does not exist has none.
func finished(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the copies cannot be listed: %w", err)
	}
	for _, e := range slices.Backward(entries) {
		if _, err := time.Parse(timeLayout, e.Name()); err == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Newest returns the newest finished copy in a folder, or the copy that the folder itself is.
func Newest(dir string) (Copy, error) {
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return Open(dir)
	}
	names, err := finished(dir)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s holds no finished copy: make one with scripts/backup %[1]s", dir)
	}
	if err != nil {
		return Copy{}, err
	}
	return Open(filepath.Join(dir, names[0]))
}

// Database returns the path of the sqlite file of the tables. It must not be written.
func (c Copy) Database() string { return filepath.Join(c.Dir, databaseName) }

// ObjectFile returns the path of the bytes of an object.
func (c Copy) ObjectFile(key string) string {
	return filepath.Join(c.Dir, objectsName, filepath.FromSlash(key))
}

// RingFile returns the path of one of Rings.
func (c Copy) RingFile(name string) string { return filepath.Join(c.Dir, ringsName, name) }
