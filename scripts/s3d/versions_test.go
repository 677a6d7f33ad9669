package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend"
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

func TestAVersionWhoseDeleteWasCutOffIsDeletedLikeOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		for _, key := range []string{"o/repeated", "o/ended"} {
			id := e.put(t, key, "bytes")
			intact := e.versions.meta
			e.versions.meta = &failing{MetadataStorer: intact, armed: true}
			if _, err := e.tryDelete(t, key, ""); !errors.Is(err, errCutOff) {
				t.Fatalf("the delete ended with %v", err)
			}
			e.versions.meta = intact
			e.wantBody(t, key, "", "bytes")
			if key == "o/ended" {
				e.remove(t, key, id)
			} else {
				e.remove(t, key, e.remove(t, key, ""))
				e.wantBody(t, key, "", "bytes")
				e.remove(t, key, "")
			}
			e.wantDeleted(t, key)
		}
		if all := e.list(t); len(all.Versions) != 1 || len(all.DeleteMarkers) != 1 {
			t.Errorf("%d versions and %d markers, want one of each", len(all.Versions), len(all.DeleteMarkers))
		}
	})
}

func TestADeletedObjectLeavesNothingToTheNext(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		put := func(encoding *string) {
			t.Helper()
			_, err := e.PutObject(t.Context(), s3response.PutObjectInput{
				Bucket:          new(testBucket),
				Key:             new("o/a"),
				Body:            strings.NewReader("bytes"),
				ContentLength:   new(int64(5)),
				ContentEncoding: encoding,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		wantEncoding := func(want string) {
			t.Helper()
			out, err := e.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: new(testBucket), Key: new("o/a")})
			if err != nil || backend.GetStringFromPtr(out.ContentEncoding) != want {
				t.Errorf("encoded as %v, %v; want %q", out.ContentEncoding, err, want)
			}
		}
		put(new("gzip"))
		e.remove(t, "o/a", "")
		put(nil)
		wantEncoding("")
		e.removeNewest(t, "o/a")
		e.removeNewest(t, "o/a")
		wantEncoding("gzip")
	})
}

func TestTheBeginningOfKeysIsNoObject(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		e.put(t, "o/a", "bytes")
		if out, err := e.tryDelete(t, "o", ""); err != nil || out.DeleteMarker != nil {
			t.Errorf("got %+v, %v", out, err)
		}
		e.wantBody(t, "o/a", "", "bytes")
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
		e.rollBack(t, "o/replaced", "old")
		e.remove(t, "o/ended", "null")
		e.wantDeleted(t, "o/ended")
		if got := len(e.list(t).Versions); got != 3 {
			t.Errorf("%d versions, want 3", got)
		}
	})
}

func TestVersionsMoveWithTheirDataFolder(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		id := e.put(t, "o/a", "bytes")
		e.remove(t, "o/a", "")
		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(e.dir, moved); err != nil {
			t.Fatal(err)
		}
		e.dir = moved
		e.open(t)
		e.wantDeleted(t, "o/a")
		e.wantBody(t, "o/a", id, "bytes")
		e.undelete(t, "o/a")
		e.wantBody(t, "o/a", "", "bytes")
	})
}

func TestWritesAmongDeletesAreKept(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		const writers = 8
		var group sync.WaitGroup
		ids := make([]string, writers)
		for i := range writers {
			group.Go(func() {
				var err error
				if ids[i], err = e.tryPut(t, "o/a", fmt.Sprint("body ", i), false); err != nil {
					t.Error(err)
				}
				out, err := e.tryDelete(t, "o/a", "")
				if err == nil && i%2 == 0 {
					_, err = e.tryDelete(t, "o/a", *out.VersionId)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for i, id := range ids {
			e.wantBody(t, "o/a", id, fmt.Sprint("body ", i))
		}
	})
}
