package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/versity/versitygw/backend/meta"
)

func TestMetadataGoesToTheSidecarOnlyWhereItHasTo(t *testing.T) {
	dir := t.TempDir()
	objects := filepath.Join(dir, objectsFolder)
	if err := os.Mkdir(objects, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := openMetadata(dir)
	if _, attributes := got.(meta.XattrMeta); err != nil || attributes != keepsAttributes(objects) {
		t.Fatalf("got %T, %v", got, err)
	}

	// A folder that cannot be written stands for a filesystem without attributes.
	if err := os.Remove(objects); err != nil {
		t.Fatal(err)
	}
	got, err = openMetadata(dir)
	if _, ok := got.(sidecar); err != nil || !ok {
		t.Fatalf("without attributes: got %T, %v", got, err)
	}
	if err := os.Mkdir(objects, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err = openMetadata(dir)
	if _, ok := got.(sidecar); err != nil || !ok {
		t.Errorf("the sidecar that exists was not used again: got %T, %v", got, err)
	}
}

func TestTheProbeLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	keepsAttributes(dir)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
