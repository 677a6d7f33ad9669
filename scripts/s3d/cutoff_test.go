package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
)

// A write of metadata that fails stands for a crash at that line.
func TestACutOffChangeLosesNoVersion(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		for name, change := range map[string]func(key string, f *failing) error{
			"delete": func(key string, f *failing) error {
				f.armed = true
				_, err := e.tryDelete(t, key, "")
				return err
			},
			"undelete": func(key string, f *failing) error {
				marker := e.remove(t, key, "")
				f.armed = true
				_, err := e.tryDelete(t, key, marker)
				return err
			},
			"write over a marker": func(key string, f *failing) error {
				e.remove(t, key, "")
				f.armed = true
				_, err := e.tryPut(t, key, "other", true)
				return err
			},
		} {
			t.Run(name, func(t *testing.T) { eachCutOff(t, e, change) })
		}
	})
}

// eachCutOff makes the change with a crash at its first write, at its second, and so on, until it succeeds.
func eachCutOff(t *testing.T, e *env, change func(key string, f *failing) error) {
	t.Helper()
	err := errCutOff
	for writes := 0; err != nil; writes++ {
		key := fmt.Sprint("o/", t.Name(), writes)
		e.put(t, key, "bytes")
		f := &failing{MetadataStorer: e.versions.meta, left: writes}
		e.openWith(t, f)
		if err = change(key, f); err != nil && !errors.Is(err, errCutOff) {
			t.Fatal(err)
		}
		e.openWith(t, f.MetadataStorer)
		if _, deleted := e.get(t, key, ""); deleted != nil {
			if _, err := e.tryPut(t, key, "again", true); err != nil {
				t.Errorf("a first write after %d writes: %v", writes, err)
			}
			e.wantBody(t, key, "", "again")
		}
		e.rollBack(t, key, "bytes")
	}
}

func TestAnUndeleteThatWasCutOffCanBeRepeated(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		e.put(t, "o/a", "bytes")
		marker := e.remove(t, "o/a", "")
		intact := e.versions.meta
		e.versions.meta = &failing{MetadataStorer: intact, armed: true}
		if _, err := e.tryDelete(t, "o/a", marker); e.versions.sidecar && !errors.Is(err, errCutOff) {
			t.Fatalf("the undelete ended with %v", err)
		}
		e.versions.meta = intact
		e.undelete(t, "o/a")
		e.wantBody(t, "o/a", "", "bytes")
		left, err := os.ReadDir(filepath.Join(e.dir, objectsFolder, testBucket, posix.MetaTmpDir))
		if err != nil || len(left) > 0 {
			t.Errorf("temporary files are left: %v, %v", left, err)
		}
	})
}

func TestAFirstWriteThatWasCutOffCanBeRepeated(t *testing.T) {
	eachStore(t, func(t *testing.T, e *env) {
		err := errCutOff
		for writes := 0; err != nil; writes++ {
			key := fmt.Sprint("o/", writes)
			f := &failing{MetadataStorer: e.versions.meta, armed: true, left: writes}
			e.openWith(t, f)
			_, err = e.tryPut(t, key, "bytes", true)
			e.openWith(t, f.MetadataStorer)
			if _, missing := e.get(t, key, ""); missing != nil {
				if _, err := e.tryPut(t, key, "bytes", true); err != nil {
					t.Errorf("after %d writes: %v", writes, err)
				}
			}
			e.wantBody(t, key, "", "bytes")
		}
	})
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
