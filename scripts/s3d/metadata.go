package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/versity/versitygw/backend/meta"
)

// openMetadata keeps object metadata in extended attributes of the files in
// objects, or in files under sidecar where the filesystem has none. A sidecar
// that exists is used again, since the metadata of its objects is there.
func openMetadata(objects, sidecar string) (meta.MetadataStorer, error) {
	_, err := os.Stat(sidecar)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil && keepsAttributes(objects) {
		return meta.XattrMeta{}, nil
	}
	if err := os.MkdirAll(sidecar, 0o700); err != nil {
		return nil, err
	}
	return meta.NewSideCar(sidecar)
}

// keepsAttributes tries an extended attribute on a file in dir: a read alone
// succeeds on filesystems that refuse to write one.
func keepsAttributes(dir string) bool {
	f, err := os.CreateTemp(dir, ".probe-")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	defer f.Close()
	return meta.XattrMeta{}.StoreAttribute(f, "", "", "probe", []byte("1")) == nil
}
