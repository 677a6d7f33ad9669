package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

const testBucket = "kept"

// contentType is what every object of these tests has, to be seen again after an undelete.
const contentType = "text/x-kept"

// env is the backend over a folder of its own.
type env struct {
	corrected
	dir string
}

// eachStore runs the test on both stores of metadata.
func eachStore(t *testing.T, test func(t *testing.T, e *env)) {
	for _, store := range []string{"attributes", "sidecar"} {
		t.Run(store, func(t *testing.T) {
			dir := t.TempDir()
			if store == "sidecar" {
				if err := os.Mkdir(filepath.Join(dir, metadataFolder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir) // posix.New changes the working directory
			e := &env{dir: dir}
			e.open(t)
			test(t, e)
		})
	}
}

// open opens the folder as a start of the server does.
func (e *env) open(t *testing.T) {
	t.Helper()
	var err error
	if e.corrected, err = openBackend(e.dir); err != nil {
		t.Fatal(err)
	}
	if err := createBucket(e.Posix, options{dir: e.dir, access: "tester", bucket: testBucket}); err != nil {
		t.Fatal(err)
	}
}

// openWith opens the folder over another store of metadata.
func (e *env) openWith(t *testing.T, store meta.MetadataStorer) {
	t.Helper()
	var err error
	e.Posix, err = posix.New(filepath.Join(e.dir, objectsFolder), store, posix.PosixOpts{VersioningDir: e.versions.folder})
	if err != nil {
		t.Fatal(err)
	}
	e.versions.meta = store
}

func (e *env) tryPut(t *testing.T, key, body string, onlyNew bool) (id string, err error) {
	sum := sha256.Sum256([]byte(body))
	length := int64(len(body))
	in := s3response.PutObjectInput{
		Bucket:         new(testBucket),
		Key:            &key,
		Body:           bytes.NewReader([]byte(body)),
		ContentLength:  &length,
		ContentType:    new(contentType),
		ChecksumSHA256: new(base64.StdEncoding.EncodeToString(sum[:])),
	}
	if onlyNew {
		in.IfNoneMatch = new("*")
	}
	out, err := e.PutObject(t.Context(), in)
	return out.VersionID, err
}

func (e *env) put(t *testing.T, key, body string) (id string) {
	t.Helper()
	id, err := e.tryPut(t, key, body, false)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (e *env) tryDelete(t *testing.T, key, id string) (*s3.DeleteObjectOutput, error) {
	in := &s3.DeleteObjectInput{Bucket: new(testBucket), Key: &key}
	if id != "" {
		in.VersionId = &id
	}
	return e.DeleteObject(t.Context(), in)
}

// remove deletes the key and returns the id of its delete marker, or deletes one version for good.
func (e *env) remove(t *testing.T, key, id string) (deleted string) {
	t.Helper()
	out, err := e.tryDelete(t, key, id)
	if err != nil {
		t.Fatalf("delete %s %s: %v", key, id, err)
	}
	return *out.VersionId
}

// get returns the body of a version, or of the newest one, after it has looked at type and checksum.
func (e *env) get(t *testing.T, key, id string) (string, error) {
	t.Helper()
	out, err := e.GetObject(t.Context(), &s3.GetObjectInput{
		Bucket:       new(testBucket),
		Key:          &key,
		VersionId:    &id,
		Range:        new(string),
		ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return "", err
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	sum := sha256.Sum256(body)
	if *out.ContentType != contentType || *out.ChecksumSHA256 != base64.StdEncoding.EncodeToString(sum[:]) {
		t.Errorf("%s %s has type %q and checksum %q", key, id, *out.ContentType, *out.ChecksumSHA256)
	}
	return string(body), err
}

func (e *env) wantBody(t *testing.T, key, id, body string) {
	t.Helper()
	if got, err := e.get(t, key, id); err != nil || got != body {
		t.Errorf("%s %s is %.20q, %v; want %.20q", key, id, got, err, body)
	}
}

func (e *env) wantDeleted(t *testing.T, key string) {
	t.Helper()
	if _, err := e.get(t, key, ""); !errors.Is(err, s3err.GetAPIError(s3err.ErrNoSuchKey)) {
		t.Errorf("%s: %v, want NoSuchKey", key, err)
	}
}

// list returns the versions of all keys and their delete markers.
func (e *env) list(t *testing.T) s3response.ListVersionsResult {
	t.Helper()
	out, err := e.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{
		Bucket:  new(testBucket),
		MaxKeys: new(int32(1000)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// undelete takes delete markers away from the key until an object is the newest.
func (e *env) undelete(t *testing.T, key string) {
	t.Helper()
	for range 10 {
		marker := ""
		for _, m := range e.list(t).DeleteMarkers {
			if *m.Key == key && *m.IsLatest {
				marker = *m.VersionId
			}
		}
		if marker == "" {
			return
		}
		e.remove(t, key, marker)
	}
	t.Fatalf("%s has delete markers without end", key)
}

// removeNewest deletes the newest version or marker for good.
func (e *env) removeNewest(t *testing.T, key string) {
	t.Helper()
	all := e.list(t)
	for _, version := range all.Versions {
		if *version.Key == key && *version.IsLatest {
			e.remove(t, key, *version.VersionId)
		}
	}
	for _, marker := range all.DeleteMarkers {
		if *marker.Key == key && *marker.IsLatest {
			e.remove(t, key, *marker.VersionId)
		}
	}
}

// rollBack deletes the newest version or marker until the newest is an object with the body.
func (e *env) rollBack(t *testing.T, key, body string) {
	t.Helper()
	for range 10 {
		if got, err := e.get(t, key, ""); err == nil && got == body {
			return
		}
		e.removeNewest(t, key)
	}
	t.Errorf("%s has lost its version %q", key, body)
}

// size returns the bytes of all files of the data folder, those of a file with several names once.
func (e *env) size(t *testing.T) (total int64) {
	t.Helper()
	seen := map[uint64]bool{}
	err := filepath.WalkDir(e.dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil && !seen[info.Sys().(*syscall.Stat_t).Ino] {
			seen[info.Sys().(*syscall.Stat_t).Ino] = true
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}
