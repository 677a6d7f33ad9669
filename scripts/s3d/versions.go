package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/oklog/ulid/v2"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
)

// The names that versitygw gives to attributes.
const (
	etagAttribute       = "etag"
	versionAttribute    = "version-id"
	markerAttribute     = "delete-marker"
	versioningAttribute = "versioning"
)

// versions keeps the noncurrent versions of objects where versitygw reads them: in folder, by bucket, digest of the
// key and version id. It links and renames files, where versitygw copies them: a delete takes no space and no time
// that grows with the object, and one that a crash cut off leaves the key as it was or deleted, with every version.
type versions struct {
	meta    meta.MetadataStorer
	folder  string
	sidecar bool // attributes do not move with their file
	locks   [256]sync.RWMutex
}

// object names the newest version of a key, or a noncurrent one by its folder and version id.
type object struct{ bucket, key string }

func (o object) path() string { return filepath.Join(o.bucket, o.key) }

// enabled reports whether the bucket keeps versions.
func (v *versions) enabled(bucket string) bool {
	value, err := v.meta.RetrieveAttribute(nil, bucket, "", versioningAttribute)
	return err == nil && len(value) == 1 && value[0] == 1
}

// lock excludes other changes of the key. Keys whose digests begin alike share a lock, because they share folders.
func (v *versions) lock(o object) (unlock func()) {
	lock := v.lockOf(o)
	lock.Lock()
	return lock.Unlock
}

// lockRead excludes changes only, so that one version is read and not two halves.
func (v *versions) lockRead(o object) (unlock func()) {
	lock := v.lockOf(o)
	lock.RLock()
	return lock.RUnlock
}

func (v *versions) lockOf(o object) *sync.RWMutex { return &v.locks[sha256.Sum256([]byte(o.key))[0]] }

// dir returns the folder of the noncurrent versions.
func (v *versions) dir(o object) string {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(o.key)))
	return filepath.Join(v.folder, o.bucket, sum[:2], sum[2:4], sum[4:6], sum)
}

// noncurrent returns the ids of the noncurrent versions, the oldest first.
func (v *versions) noncurrent(o object) ([]string, error) {
	entries, err := os.ReadDir(v.dir(o))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var ids []string
	for _, entry := range entries {
		if _, err := ulid.ParseStrict(entry.Name()); err == nil { // not what versitygw was about to rename
			ids = append(ids, entry.Name())
		}
	}
	return ids, err
}

// attribute returns a value, and false where the object has none.
func (v *versions) attribute(o object, name string) (value string, found bool, err error) {
	raw, err := v.meta.RetrieveAttribute(nil, o.bucket, o.key, name)
	if errors.Is(err, meta.ErrNoSuchKey) || errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(raw), err == nil, err
}

// isMarker reports whether the object is a delete marker.
func (v *versions) isMarker(o object) (bool, error) {
	_, found, err := v.attribute(o, markerAttribute)
	return found, err
}

// newest returns the id of the newest version, "null" for one without.
func (v *versions) newest(o object) (string, error) {
	id, found, err := v.attribute(o, versionAttribute)
	if !found {
		id = "null"
	}
	return id, err
}

// identify returns the version id of the object. It gives one, of the file's time, to an object that was stored
// before versions were kept, because S3's "null" does not say where it stands among others.
func (v *versions) identify(o object) (string, error) {
	id, found, err := v.attribute(o, versionAttribute)
	if found || err != nil {
		return id, err
	}
	info, err := os.Stat(o.path())
	if err != nil {
		return "", err
	}
	made, err := ulid.New(ulid.Timestamp(info.ModTime()), nil)
	if err != nil {
		return "", err
	}
	return made.String(), v.meta.StoreAttribute(nil, o.bucket, o.key, versionAttribute, []byte(made.String()))
}

// prepare identifies the version that a write is about to replace, if there is one.
func (v *versions) prepare(o object) error {
	info, err := os.Stat(o.path())
	if err != nil || !info.Mode().IsRegular() || !v.enabled(o.bucket) {
		return nil // what is wrong with the path is versitygw's to say
	}
	_, err = v.identify(o)
	return err
}

// settle ends a write of the version id over a delete marker: a sidecar still has the flag of the marker.
func (v *versions) settle(o object, id string) error {
	if !v.sidecar || id == "" {
		return nil
	}
	current, _, err := v.attribute(o, versionAttribute)
	if err != nil || current != id {
		return err
	}
	return present(v.meta.DeleteAttribute(o.bucket, o.key, markerAttribute))
}

// mark makes the newest version noncurrent and puts a delete marker, which is an empty file, in its place.
func (v *versions) mark(o object) (*s3.DeleteObjectOutput, error) {
	replaced, err := v.identify(o)
	if err != nil {
		return nil, err
	}
	if err := v.keep(o, replaced); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(temporary(o.bucket), "marker-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	// The flag comes last: without it, a sidecar that has only the new id describes the object that is still there.
	id, is := ulid.Make().String(), true
	if err := v.meta.StoreAttribute(f, o.bucket, o.key, versionAttribute, []byte(id)); err != nil {
		return nil, err
	}
	if err := v.meta.StoreAttribute(f, o.bucket, o.key, markerAttribute, nil); err != nil {
		return nil, err
	}
	if err := os.Rename(f.Name(), o.path()); err != nil {
		return nil, err
	}
	return &s3.DeleteObjectOutput{DeleteMarker: &is, VersionId: &id}, v.strip(o)
}

// keep links the newest version into the folder of the noncurrent ones. What a cut off change left there under the
// same id is a copy of it.
func (v *versions) keep(o object, id string) error {
	kept := object{v.dir(o), id}
	if err := os.MkdirAll(kept.bucket, 0o700); err != nil {
		return err
	}
	if err := os.Remove(kept.path()); present(err) != nil {
		return err
	}
	if err := os.Link(o.path(), kept.path()); err != nil {
		return err
	}
	return v.copyAttributes(o, kept)
}

// strip removes from a sidecar what a marker does not have.
func (v *versions) strip(o object) error {
	if !v.sidecar {
		return nil
	}
	names, err := v.meta.ListAttributes(o.bucket, o.key)
	for _, name := range names {
		if name != versionAttribute && name != markerAttribute {
			err = errors.Join(err, present(v.meta.DeleteAttribute(o.bucket, o.key, name)))
		}
	}
	return err
}

// deleteNewest deletes the newest version for good. The one before it is the newest again.
func (v *versions) deleteNewest(o object, id string) (*s3.DeleteObjectOutput, error) {
	marker, err := v.isMarker(o)
	if err != nil {
		return nil, err
	}
	if err := v.deleteNoncurrent(o, id); err != nil { // a copy that a cut off change left
		return nil, err
	}
	ids, err := v.noncurrent(o)
	if err != nil {
		return nil, err
	}
	out := &s3.DeleteObjectOutput{DeleteMarker: &marker, VersionId: &id}
	if len(ids) > 0 {
		return out, v.promote(o, ids[len(ids)-1])
	}
	return out, v.remove(o)
}

// remove deletes the only version of the object.
func (v *versions) remove(o object) error {
	if err := present(os.Remove(o.path())); err != nil {
		return err
	}
	if err := v.meta.DeleteAttributes(o.bucket, o.key); err != nil {
		return err
	}
	for dir := filepath.Dir(o.key); dir != "."; dir = filepath.Dir(dir) {
		_, stored, err := v.attribute(object{o.bucket, dir}, etagAttribute) // "dir/" is an object
		if stored || err != nil || os.Remove(filepath.Join(o.bucket, dir)) != nil {
			break
		}
	}
	return nil
}

// promote puts a noncurrent version in the place of the newest one.
func (v *versions) promote(o object, id string) error {
	kept := object{v.dir(o), id}
	staged := filepath.Join(temporary(o.bucket), "version-"+ulid.Make().String())
	defer os.Remove(staged)
	if err := os.Link(kept.path(), staged); err != nil {
		return err
	}
	if err := os.Rename(staged, o.path()); err != nil {
		return err
	}
	if err := v.copyAttributes(kept, o); err != nil {
		return err
	}
	return v.deleteNoncurrent(o, id)
}

// deleteNamed deletes the noncurrent version that a request names.
func (v *versions) deleteNamed(o object, id string) (*s3.DeleteObjectOutput, error) {
	if _, err := ulid.ParseStrict(id); err != nil {
		return nil, s3err.GetInvalidArgumentErr(s3err.InvalidArgVersionId, id)
	}
	marker, err := v.isMarker(object{v.dir(o), id})
	if err != nil {
		return nil, err
	}
	return &s3.DeleteObjectOutput{DeleteMarker: &marker, VersionId: &id}, v.deleteNoncurrent(o, id)
}

// deleteNoncurrent deletes a noncurrent version for good, if it is there.
func (v *versions) deleteNoncurrent(o object, id string) error {
	dir := v.dir(o)
	if err := present(os.Remove(filepath.Join(dir, id))); err != nil {
		return err
	}
	if err := v.meta.DeleteAttributes(dir, id); err != nil {
		return err
	}
	for root := filepath.Join(v.folder, o.bucket); dir != root && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	return nil
}

// copyAttributes makes the attributes in a sidecar those of another version. The flag of a marker goes before the
// version id comes, so that a cut off change can be repeated by the old id.
func (v *versions) copyAttributes(from, to object) error {
	if !v.sidecar {
		return nil
	}
	names, err := v.meta.ListAttributes(from.bucket, from.key)
	if err != nil {
		return err
	}
	old, err := v.meta.ListAttributes(to.bucket, to.key)
	if err != nil {
		return err
	}
	names = append(slices.DeleteFunc(names, func(name string) bool { return name == versionAttribute }), versionAttribute)
	for _, name := range names {
		value, found, err := v.attribute(from, name)
		if name == versionAttribute {
			err = errors.Join(err, v.deleteOthers(to, old, names))
		}
		if found && err == nil { // the etag of a marker is listed, and has no value
			err = v.meta.StoreAttribute(nil, to.bucket, to.key, name, []byte(value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteOthers deletes those old attributes that are not in names.
func (v *versions) deleteOthers(o object, old, names []string) error {
	for _, name := range old {
		if slices.Contains(names, name) {
			continue
		}
		if err := present(v.meta.DeleteAttribute(o.bucket, o.key, name)); err != nil {
			return err
		}
	}
	return nil
}

// temporary returns the folder of files that are about to be renamed, which it makes. CreateTemp and Link tell it when
// that failed.
func temporary(bucket string) string {
	dir := filepath.Join(bucket, posix.MetaTmpDir)
	_ = os.MkdirAll(dir, 0o700)
	return dir
}

// present turns the absence of what was to be removed into success.
func present(err error) error {
	if errors.Is(err, meta.ErrNoSuchKey) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
