package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/versity/versitygw/backend/meta"
)

func TestMetadataGoesToTheSidecarOnlyWhereItHasTo(t *testing.T) {
	dir := t.TempDir()
	objects, sidecar := filepath.Join(dir, objectsFolder), filepath.Join(dir, metadataFolder)
	if err := os.Mkdir(objects, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := openMetadata(objects, sidecar)
	if _, attributes := got.(meta.XattrMeta); err != nil || attributes != keepsAttributes(objects) {
		t.Fatalf("got %T, %v", got, err)
	}

	// A folder that cannot be written stands for a filesystem without attributes.
	got, err = openMetadata(filepath.Join(dir, "missing"), sidecar)
	if _, ok := got.(meta.SideCar); err != nil || !ok {
		t.Fatalf("without attributes: got %T, %v", got, err)
	}
	got, err = openMetadata(objects, sidecar)
	if _, ok := got.(meta.SideCar); err != nil || !ok {
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
