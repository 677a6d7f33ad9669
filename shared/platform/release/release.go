// Package release names the archives in which the CLI is distributed. Who builds them, who stores them and who serves
// them use the same names.
package release

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Checksums is the name of the file with the SHA-256 of each archive of a version.
const Checksums = "checksums.txt"

// Folder is where the files of all versions are, in the bucket and on the app host.
const Folder = "cli/"

// Sums returns the checksums that a file of checksums lists, in hexadecimal digits, by name.
func Sums(text []byte) map[string]string {
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sums[name] = sum
	}
	return sums
}

// Platform is a system that the CLI is built for, in the words of Go.
type Platform struct{ OS, Arch string }

// Platforms are all that a release has.
var Platforms = []Platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// String returns the platform as OS/ARCH.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Program returns the name of the CLI in an archive.
func (p Platform) Program() string {
	if p.OS == "windows" {
		return "vitrine.exe"
	}
	return "vitrine"
}

// Archive returns the name of the archive of a version for the platform.
func (p Platform) Archive(version string) string {
	name := "vitrine_" + version + "_" + p.OS + "_" + p.Arch
	if p.OS == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// File is a file of a version: an archive, or Checksums.
type File struct{ Version, Name string }

// Path returns where the file is: its key in the bucket, and its path on the app host without the leading slash.
func (f File) Path() string { return Folder + f.Version + "/" + f.Name }

// ContentType returns the media type of the file.
func (f File) ContentType() string {
	switch {
	case f.Name == Checksums:
		return "text/plain; charset=utf-8"
	case strings.HasSuffix(f.Name, ".zip"):
		return "application/zip"
	}
	return "application/gzip"
}

// Valid reports whether a version could have the file. It does not know whether there is such a version.
func (f File) Valid() bool {
	if !ValidVersion(f.Version) {
		return false
	}
	return f.Name == Checksums ||
		slices.ContainsFunc(Platforms, func(p Platform) bool { return p.Archive(f.Version) == f.Name })
}

// FileAt returns the file with a path; ok is false for any other path.
func FileAt(path string) (f File, ok bool) {
	rest, below := strings.CutPrefix(path, Folder)
	f.Version, f.Name, _ = strings.Cut(rest, "/")
	return f, below && f.Valid()
}

var versions = regexp.MustCompile(`^(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})$`)

// ValidVersion reports whether a version is three numbers.
func ValidVersion(version string) bool { return versions.MatchString(version) }

// Compare compares two valid versions.
func Compare(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	return slices.CompareFunc(as, bs, func(a, b string) int {
		n, _ := strconv.Atoi(a)
		m, _ := strconv.Atoi(b)
		return cmp.Compare(n, m)
	})
}
