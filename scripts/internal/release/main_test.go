package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

func TestOtherOptionsAreRefused(t *testing.T) {
	for says, args := range map[string][]string{
		`"linux/amd64" is no option`:       {"linux/amd64"},
		"flag provided but not defined: -": {"-force"},
	} {
		expect.Error(t, run(t.Context(), args, io.Discard, io.Discard), says)
	}
}

// TestTheNewestReleaseIsTheVersion compares the version with the changelog, which people read.
func TestTheNewestReleaseIsTheVersion(t *testing.T) {
	root := expect.Value(engines.Root())(t)
	text := expect.Value(os.ReadFile(filepath.Join(root, "CHANGELOG.md")))(t)
	newest := regexp.MustCompile(`(?m)^## ([0-9][^,\n]*)`).FindSubmatch(text)
	if newest == nil || !bytes.Equal(newest[1], []byte(contract.Release)) {
		t.Errorf("the newest release in CHANGELOG.md is %q, and the version %s", newest, contract.Release)
	}
	if !release.ValidVersion(contract.Release) || !release.ValidVersion(contract.OldestCLI) {
		t.Errorf("%s and %s are no versions that can be released", contract.Release, contract.OldestCLI)
	}
}
