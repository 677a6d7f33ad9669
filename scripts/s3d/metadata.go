package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/versity/versitygw/backend/meta"
)

// openMetadata keeps object metadata in extended attributes of the files in
// dir/objects, or in files under dir/metadata where the filesystem has none. A
// sidecar that exists is used again, since the metadata of its objects is there.
func openMetadata(dir string) (meta.MetadataStorer, error) {
	folder := filepath.Join(dir, metadataFolder)
	_, err := os.Stat(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil && keepsAttributes(filepath.Join(dir, objectsFolder)) {
		return meta.XattrMeta{}, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	files, err := meta.NewSideCar(folder)
	return sidecar{files, filepath.Join(dir, versionsFolder)}, err
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

// sidecar is versitygw's without two faults: it files versions under the absolute path of their folder, which a data
// folder that moves leaves behind, and after a crash it has etags of objects that are not there.
type sidecar struct {
	meta.SideCar
	versions string
}

// within returns where the attributes lie of what versitygw calls a bucket, which may be a folder of versions.
func (s sidecar) within(bucket string) string {
	if rest, ok := strings.CutPrefix(bucket, s.versions); ok {
		return ".versions" + rest
	}
	return bucket
}

// RetrieveAttribute finds no etag of a file that is missing or a delete marker, because a write that has
// If-None-Match would be refused for it.
func (s sidecar) RetrieveAttribute(f *os.File, bucket, object, name string) ([]byte, error) {
	if f == nil && name == etagAttribute {
		_, missing := os.Stat(filepath.Join(bucket, object))
		_, unmarked := s.SideCar.RetrieveAttribute(nil, s.within(bucket), object, markerAttribute)
		if missing != nil || unmarked == nil {
			return nil, meta.ErrNoSuchKey
		}
	}
	return s.SideCar.RetrieveAttribute(f, s.within(bucket), object, name)
}

// StoreAttribute stores the value where within says.
func (s sidecar) StoreAttribute(f *os.File, bucket, object, name string, value []byte) error {
	return s.SideCar.StoreAttribute(f, s.within(bucket), object, name, value)
}

// DeleteAttribute deletes the value where within says.
func (s sidecar) DeleteAttribute(bucket, object, name string) error {
	return s.SideCar.DeleteAttribute(s.within(bucket), object, name)
}

// ListAttributes returns the names of the values where within says.
func (s sidecar) ListAttributes(bucket, object string) ([]string, error) {
	return s.SideCar.ListAttributes(s.within(bucket), object)
}

// DeleteAttributes deletes all values where within says.
func (s sidecar) DeleteAttributes(bucket, object string) error {
	return s.SideCar.DeleteAttributes(s.within(bucket), object)
}
