package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

func TestADeletedObjectComesBackWhenItsMarkersGo(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		id := e.put(t, "o/a", "bytes")
		first, second := e.remove(t, "o/a", ""), e.remove(t, "o/a", "")
		e.wantDeleted(t, "o/a")
		e.wantBody(t, "o/a", id, "bytes")
		if second <= first {
			t.Errorf("marker %s is not newer than %s", second, first)
		}
		e.remove(t, "o/a", second)
		e.wantDeleted(t, "o/a")
		e.remove(t, "o/a", first)
		e.wantBody(t, "o/a", "", "bytes")
		if all := e.list(t); len(all.Versions) != 1 || *all.Versions[0].VersionId != id || len(all.DeleteMarkers) != 0 {
			t.Errorf("left %d versions and %d markers", len(all.Versions), len(all.DeleteMarkers))
		}
	})
}

func TestDeletesKeepNoBytesTwice(t *testing.T) {
	const size = 3 << 20
	eachStore(t, func(t *testing.T, e *env) {
		e.put(t, "o/one", strings.Repeat("x", size))
		e.put(t, "o/many", strings.Repeat("y", size))
		for range 3 {
			e.remove(t, "o/one", "")
			out, err := e.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{
				Bucket: new(testBucket),
				Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: new("o/many")}}},
			})
			if err != nil || len(out.Error) > 0 || out.Deleted[0].DeleteMarkerVersionId == nil {
				t.Fatal(out, err)
			}
		}
		if got := e.size(t); got < 2*size || got > 2*size+100_000 {
			t.Errorf("two objects of %d bytes take %d after three deletes of each", size, got)
		}
		e.undelete(t, "o/one")
		e.undelete(t, "o/many")
		e.wantBody(t, "o/one", "", strings.Repeat("x", size))
		e.wantBody(t, "o/many", "", strings.Repeat("y", size))
	})
}

func TestOnlyALivingObjectRefusesAFirstWrite(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		old := e.put(t, "o/a", "old")
		e.remove(t, "o/a", "")
		if _, err := e.tryPut(t, "o/a", "new", true); err != nil {
			t.Fatal("over a marker:", err)
		}
		e.wantBody(t, "o/a", "", "new")
		e.wantBody(t, "o/a", old, "old")
		if _, err := e.tryPut(t, "o/a", "newer", true); !errors.Is(err, s3err.GetAPIError(s3err.ErrPreconditionFailed)) {
			t.Errorf("over an object: %v", err)
		}
		e.remove(t, "o/a", "")
		e.undelete(t, "o/a")
		e.wantBody(t, "o/a", "", "new")
	})
}

func TestADeletedObjectCannotBeCopied(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		e.put(t, "o/a", "bytes")
		in := s3response.CopyObjectInput{
			Bucket:              new(testBucket),
			Key:                 new("o/b"),
			CopySource:          new(testBucket + "/o/a"),
			ExpectedBucketOwner: new("tester"),
			MetadataDirective:   types.MetadataDirectiveCopy,
		}
		if _, err := e.CopyObject(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		e.wantBody(t, "o/b", "", "bytes")
		e.remove(t, "o/a", "")
		e.remove(t, "o/b", "")
		if _, err := e.CopyObject(t.Context(), in); !errors.Is(err, s3err.GetAPIError(s3err.ErrNoSuchKey)) {
			t.Errorf("a copy of a deleted object gives %v", err)
		}
		e.undelete(t, "o/a")
		if _, err := e.CopyObject(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		e.wantBody(t, "o/b", "", "bytes")
	})
}

func TestAVersionThatIsDeletedByItsIdIsGone(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		empty := e.size(t)
		one, two := e.put(t, "o/a", "one"), e.put(t, "o/a", "two")
		marker := e.remove(t, "o/a", "")
		e.remove(t, "o/a", two)
		e.remove(t, "o/a", two) // as a command that is run again does
		if _, err := e.get(t, "o/a", two); err == nil {
			t.Error("the version is still there")
		}
		e.remove(t, "o/a", marker)
		e.wantBody(t, "o/a", "", "one")
		e.remove(t, "o/a", one)
		e.wantDeleted(t, "o/a")
		if _, err := os.Stat(testBucket + "/o"); err == nil || e.size(t) != empty {
			t.Errorf("files of %d bytes are left, %d before", e.size(t), empty)
		}
		if _, err := e.tryPut(t, "o/a", "again", true); err != nil {
			t.Error(err)
		}
		if _, err := e.tryDelete(t, "o/a", "../../../objects"); err == nil {
			t.Error("a path was taken for a version id")
		}
		if _, err := e.tryDelete(t, "../"+testBucket, ""); err == nil {
			t.Error("a path out of the bucket was taken for a key")
		}
	})
}

func TestObjectsOfAnOlderFolderAreKeptToo(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		old, err := posix.New(e.dir+"/"+objectsFolder, e.versions.meta, posix.PosixOpts{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.versions.meta.DeleteAttribute(testBucket, "", versioningAttribute); err != nil {
			t.Fatal(err)
		}
		e.Posix = old
		for _, key := range []string{"o/read", "o/deleted", "o/replaced", "o/ended"} {
			if id := e.put(t, key, "old"); id != "" {
				t.Fatalf("%s has version %s", key, id)
			}
		}
		e.open(t)
		e.wantBody(t, "o/read", "", "old")
		e.remove(t, "o/deleted", "")
		e.wantDeleted(t, "o/deleted")
		e.undelete(t, "o/deleted")
		e.wantBody(t, "o/deleted", "", "old")
		e.put(t, "o/replaced", "new")
		e.remove(t, "o/replaced", "")
		e.undelete(t, "o/replaced")
		e.wantBody(t, "o/replaced", "", "new")
		e.remove(t, "o/ended", "null")
		e.wantDeleted(t, "o/ended")
		if got := len(e.list(t).Versions); got != 4 {
			t.Errorf("%d versions, want 4", got)
		}
	})
}

// A write of metadata that fails stands for a crash at that line.
func TestACutOffChangeLosesNoVersion(t *testing.T) {
	changes := map[string]func(e *env, t *testing.T) error{
		"delete": func(e *env, t *testing.T) error {
			_, err := e.tryDelete(t, "o/a", "")
			return err
		},
		"undelete": func(e *env, t *testing.T) error {
			marker := e.remove(t, "o/a", "")
			e.versions.meta.(*failing).armed = true
			_, err := e.tryDelete(t, "o/a", marker)
			return err
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, e *env) {
				for left, err := 0, errCutOff; err != nil; left++ {
					e.put(t, "o/a", "bytes")
					intact := e.versions.meta
					e.versions.meta = &failing{MetadataStorer: intact, armed: name == "delete", left: left}
					err = change(e, t)
					e.versions.meta = intact
					e.open(t)
					e.undelete(t, "o/a")
					e.wantBody(t, "o/a", "", "bytes")
					e.remove(t, "o/a", "")
					if _, err := e.tryPut(t, "o/a", "other", true); err != nil {
						t.Errorf("after %d writes: %v", left, err)
					}
					e.remove(t, "o/a", "")
				}
			})
		})
	}
}

var errCutOff = errors.New("cut off")

// failing stores so many values, and then none.
type failing struct {
	meta.MetadataStorer
	armed bool
	left  int
}

func (f *failing) StoreAttribute(file *os.File, bucket, object, name string, value []byte) error {
	if f.armed {
		if f.left--; f.left < 0 {
			return errCutOff
		}
	}
	return f.MetadataStorer.StoreAttribute(file, bucket, object, name, value)
}

func (f *failing) DeleteAttribute(bucket, object, name string) error {
	if f.armed {
		if f.left--; f.left < 0 {
			return errCutOff
		}
	}
	return f.MetadataStorer.DeleteAttribute(bucket, object, name)
}
