// Package archive writes the files of a revision as a zip archive, whose bytes depend only on the files and an instant.
package archive

import (
	"archive/zip"
	"cmp"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"time"

	"vitrine/shared/publishing/tree"
)

// listName is the entry that lists files whose names differ from their paths. It exists only if there are any.
const listName = "RENAMED.txt"

// Entry is a file with its name in the archive.
type Entry struct {
	Name string
	File tree.File
}

// Order returns files in the order of the archive: by path.
func Order(files tree.Tree) tree.Tree {
	return slices.SortedFunc(slices.Values(files), func(a, b tree.File) int { return cmp.Compare(a.Path, b.Path) })
}

// Entries returns the files in the order of the archive, each under a name that Windows and macOS accept and can tell
// from all others. If a system would confuse several names, entry keeps its own, or else the first does. list and text
// are the name and the text of the list of renamed files, empty if there are none.
func Entries(files tree.Tree, entry string) (entries []Entry, list, text string) {
	sorted := Order(files)
	paths := make([]string, len(sorted))
	for n, f := range sorted {
		paths[n] = f.Path
	}
	taken := newNames(paths)
	first := ""
	if _, ok := sorted.Find(entry); ok {
		first = taken.add(entry)
	}
	var renamed strings.Builder
	for _, f := range sorted {
		name := first
		if f.Path != entry {
			name = taken.add(f.Path)
		}
		if name != f.Path {
			fmt.Fprintf(&renamed, "%q was published as %q\n", name, f.Path)
		}
		entries = append(entries, Entry{Name: name, File: f})
	}
	if renamed.Len() == 0 {
		return entries, "", ""
	}
	return entries, taken.add(listName), "Files whose names not every system accepts have others here.\n\n" + renamed.String()
}

// Body is the bytes of an entry with their length and CRC-32, which an archive has ahead of them.
type Body struct {
	size int64
	crc  uint32
	copy func(io.Writer) error
}

// Bytes returns a body that is in memory.
func Bytes(b []byte) Body {
	write := func(w io.Writer) error { _, err := w.Write(b); return err }
	return Body{size: int64(len(b)), crc: crc32.ChecksumIEEE(b), copy: write}
}

// Stream returns a body that is read while it is written: read writes the bytes of a file to w and checks them. Stream
// calls read once to compute the CRC-32, and the archive calls it again for the bytes.
func Stream(size int64, read func(w io.Writer) error) (Body, error) {
	crc := crc32.NewIEEE()
	err := read(crc)
	return Body{size: size, crc: crc.Sum32(), copy: read}, err
}

// Write writes the archive of files with an entrypoint, as of an instant, to w. It calls read for each file in the
// order of the archive, and uses the body until the next call. Entries are stored without compression, with their sizes
// ahead of their bytes, so that the archive can be unpacked while it arrives.
func Write(w io.Writer, files tree.Tree, entry string, at time.Time, read func(tree.File) (Body, error)) error {
	entries, list, text := Entries(files, entry)
	z := NewWriter(w)
	for _, e := range entries {
		b, err := read(e.File)
		if err == nil {
			err = z.Add(e.Name, at, b)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.File.Path, err)
		}
	}
	if list != "" {
		if err := z.Add(list, at, Bytes([]byte(text))); err != nil {
			return err
		}
	}
	return z.Close()
}

// Lengths of section 4.3 of the ZIP specification (APPNOTE.TXT), without names.
const (
	localHeader     = 30
	directoryHeader = 46
	directoryEnd    = 22
)

// Size returns the length of the archive that Write makes. It is right below 4 GiB and 65,535 files, where the longer
// headers of ZIP64 begin.
func Size(files tree.Tree, entry string) int64 {
	entries, list, text := Entries(files, entry)
	sum := int64(directoryEnd)
	add := func(name string, size int64) { sum += localHeader + directoryHeader + 2*int64(len(name)) + size }
	for _, e := range entries {
		add(e.Name, e.File.Size)
	}
	if list != "" {
		add(list, int64(len(text)))
	}
	return sum
}

// Writer writes an archive entry by entry, in the form of Write.
type Writer struct{ zip *zip.Writer }

// NewWriter begins an archive.
func NewWriter(w io.Writer) Writer { return Writer{zip.NewWriter(w)} }

// Close ends the archive. It does not close the underlying writer.
func (w Writer) Close() error { return w.zip.Close() }

// Fields of section 4.4 of the ZIP specification (APPNOTE.TXT): names are UTF-8, and the file was made on Unix, whose
// permissions are in the upper half of the external attributes.
const (
	utf8Names  = 0x800
	version2   = 20
	madeByUnix = 3<<8 | version2
	plainFile  = 0o100644 << 16
)

// Add adds a file with a modification time. The caller has made the name safe.
func (w Writer) Add(name string, at time.Time, b Body) error {
	h := &zip.FileHeader{
		Name:               name,
		Flags:              utf8Names,
		Method:             zip.Store,
		CRC32:              b.crc,
		CompressedSize64:   uint64(b.size),
		UncompressedSize64: uint64(b.size),
		CreatorVersion:     madeByUnix,
		ReaderVersion:      version2,
		ExternalAttrs:      plainFile,
	}
	h.SetModTime(at.UTC()) //nolint:staticcheck // CreateRaw writes these fields as they are, and does not look at Modified
	body, err := w.zip.CreateRaw(h)
	if err != nil {
		return err
	}
	return b.copy(body)
}
