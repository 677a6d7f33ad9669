// Package tree describes the files of a revision: their paths, sizes, digests and where their bytes are stored.
package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Digest is a SHA-256 digest.
type Digest [sha256.Size]byte

// EmptyDigest is the digest of a file without bytes.
var EmptyDigest = Digest(sha256.Sum256(nil))

// DigestOf returns the digest of a text.
func DigestOf(s string) Digest { return sha256.Sum256([]byte(s)) }

// ParseDigest parses 64 lower-case hexadecimal characters.
func ParseDigest(s string) (d Digest, ok bool) {
	if len(s) != hex.EncodedLen(len(d)) || strings.ToLower(s) != s {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(s))
	return d, err == nil
}

// String returns the lower-case hexadecimal form.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Object locates bytes: the upload session that uploaded them and the number of its entry. Bytes never move, so an
// Object names the same bytes for as long as they exist.
type Object struct {
	Session id.Session
	Entry   int
	Diff    bool // the diff from which the entry's bytes are rebuilt, not the bytes
}

// File is one file of a tree.
type File struct {
	Path   string
	Size   int64
	SHA256 Digest
	Object Object // of a file with bytes; an empty file has none
	// Borrowed means that the bytes of another revision are reused. A reference keeps them.
	Borrowed bool
	// Referrer is the revision that wrote the reference of a borrowed file; empty: the one that has the file.
	Referrer id.Revision
}

// References reports whether the revision that has the file wrote a reference to its object.
func (f File) References() bool { return f.Borrowed && f.Referrer == "" }

// Borrowed returns the objects to which a revision with these files writes references, each once.
func (t Tree) Borrowed() (out []Object) {
	seen := map[Object]bool{}
	for _, f := range t {
		if f.References() && !seen[f.Object] {
			seen[f.Object] = true
			out = append(out, f.Object)
		}
	}
	return out
}

// Inherited returns the files of a published revision as a later revision of its artifact has them. The references of
// the published revision last as long as the artifact, so the later one writes none.
func (t Tree) Inherited(from id.Revision) Tree {
	out := slices.Clone(t)
	for n, f := range out {
		if f.References() {
			out[n].Referrer = from
		}
	}
	return out
}

// Content identifies bytes by their digest and size.
type Content struct {
	SHA256 Digest
	Size   int64
}

// Content returns the content of the file.
func (f File) Content() Content { return Content{f.SHA256, f.Size} }

// Tree is the files of a revision, in the order of their declaration.
type Tree []File

// Find returns the file at exactly this path.
func (t Tree) Find(path string) (File, bool) {
	for _, f := range t {
		if f.Path == path {
			return f, true
		}
	}
	return File{}, false
}

// Page returns the path of the file that web servers show for a path, with or without a slash at its end, that no file has:
// the index of a folder, or the page whose extension is left out. It is empty if there is none.
func (t Tree) Page(asked string) string {
	folder := strings.TrimSuffix(asked, "/")
	pages := []string{path.Join(folder, "index.html"), path.Join(folder, "index.htm")}
	if folder != "" {
		pages = append(pages, folder+".html")
	}
	for _, page := range pages {
		if _, ok := t.Find(page); ok {
			return page
		}
	}
	return ""
}

// HasFolder reports whether files lie below a path. All lie below the empty one.
func (t Tree) HasFolder(path string) bool {
	return slices.ContainsFunc(t, func(f File) bool { return path == "" || strings.HasPrefix(f.Path, path+"/") })
}

// Index returns where each path stands, for callers that look for many.
func (t Tree) Index() map[string]int {
	at := make(map[string]int, len(t))
	for n, f := range t {
		at[f.Path] = n
	}
	return at
}

// Size returns the total size of the files in bytes.
func (t Tree) Size() (sum int64) {
	for _, f := range t {
		sum += f.Size
	}
	return sum
}

// fileSize is what a File takes in memory, without its strings.
var fileSize = int64(reflect.TypeFor[File]().Size())

// MemorySize returns how many bytes of memory the tree takes. The allocator rounds each string up to 16 bytes.
func (t Tree) MemorySize() int64 {
	sum := fileSize * int64(cap(t))
	for _, f := range t {
		sum += int64(len(f.Path)+len(f.Object.Session)+len(f.Referrer)) + 3*16
	}
	return sum + sum/8
}

// CheckPath refuses a path that no new file may have: what CheckStoredPath refuses, and paths that begin with a letter
// and a colon. Some systems read those as a drive, so saving such a file could leave the chosen folder.
func CheckPath(p string) error {
	if err := CheckStoredPath(p); err != nil {
		return err
	}
	if hasDrive(p) {
		return fmt.Errorf("path %q begins with a drive letter; leave the colon out, or put the file into a folder", p)
	}
	return nil
}

// CheckStoredPath refuses a path that no stored file has. A path is relative and valid UTF-8. It has at most
// limits.PathBytes bytes and limits.PathParts parts, no backslashes or control characters, and no empty, "." or ".."
// parts. Paths are compared byte by byte, so another Unicode form is another path.
func CheckStoredPath(p string) error {
	switch {
	case p == "":
		return fmt.Errorf("a path is empty")
	case len(p) > limits.PathBytes:
		return fmt.Errorf("a path is longer than %d bytes", limits.PathBytes)
	case !utf8.ValidString(p):
		return fmt.Errorf("a path is not valid UTF-8")
	case strings.ContainsFunc(p, forbidden):
		return fmt.Errorf("path %q holds a backslash or a control character", p)
	}
	parts := strings.Split(p, "/")
	if len(parts) > limits.PathParts {
		return fmt.Errorf("path %q has more than %d parts", p, limits.PathParts)
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("path %q must be relative, without empty, . or .. parts", p)
		}
	}
	if len(parts[0]) == 2 && hasDrive(p) {
		return fmt.Errorf("path %q begins with a drive letter", p)
	}
	return nil
}

// hasDrive reports whether a path begins with a letter and a colon.
func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// forbidden reports whether a path must not have a character.
func forbidden(r rune) bool { return r <= 0x1f || r == 0x7f || r == '\\' }
