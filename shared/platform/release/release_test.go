package release

import (
	"slices"
	"testing"
)

func TestFilesOfVersionsAreValid(t *testing.T) {
	for _, name := range []string{
		"vitrine_0.2.0_linux_amd64.tar.gz",
		"vitrine_0.2.0_linux_arm64.tar.gz",
		"vitrine_0.2.0_darwin_amd64.tar.gz",
		"vitrine_0.2.0_darwin_arm64.tar.gz",
		"vitrine_0.2.0_windows_amd64.zip",
		"vitrine_0.2.0_windows_arm64.zip",
		"checksums.txt",
	} {
		if got, ok := FileAt("cli/0.2.0/" + name); !ok || got != (File{"0.2.0", name}) {
			t.Errorf("%s is %v, %v", name, got, ok)
		}
	}
}

func TestOtherFilesAreNot(t *testing.T) {
	for _, path := range []string{
		"",
		"cli/",
		"cli/0.2.0",
		"cli/0.2.0/",
		"o/0.2.0/checksums.txt",
		"cli/0.2/checksums.txt",
		"cli/0.2.0.1/checksums.txt",
		"cli/v0.2.0/checksums.txt",
		"cli/00.2.0/checksums.txt",
		"cli/0.2.0-dev/checksums.txt",
		"cli/0.2.0\n/checksums.txt",
		"cli/1234567.0.0/checksums.txt",
		"cli/../checksums.txt",
		"cli/0.2.0/../checksums.txt",
		"cli/0.2.0/checksums.txt/",
		"cli/0.2.0/Checksums.txt",
		"cli/0.2.0/vitrine_0.3.0_linux_amd64.tar.gz",
		"cli/0.2.0/vitrine_0.2.0_linux_amd64.zip",
		"cli/0.2.0/vitrine_0.2.0_plan9_amd64.tar.gz",
		"cli/0.2.0/vitrine_0.2.0_windows_amd64.tar.gz",
	} {
		if got, ok := FileAt(path); ok {
			t.Errorf("%q is the file %v", path, got)
		}
	}
}

func TestVersionsAreOrderedByTheirNumbers(t *testing.T) {
	got := []string{"0.10.0", "1.0.0", "0.9.10", "0.9.9", "0.10.0"}
	slices.SortFunc(got, Compare)
	if want := []string{"0.9.9", "0.9.10", "0.10.0", "0.10.0", "1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
