//go:build architectures

package main

import (
	"strings"
	"testing"

	"vitrine/scripts/internal/package/bootstrap"
)

func init() { architectures = bootstrap.Architectures }

func TestFunctionsAreOfArm64UnlessAnotherIsNamed(t *testing.T) {
	var said strings.Builder
	if err := run(t.Context(), []string{"-out", t.TempDir(), "upload"}, &said, t.Output()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(said.String(), "upload   arm64  ") {
		t.Errorf("it says %q", said.String())
	}
}
