package save

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"

	"vitrine/cmd/vitrine/failure"
)

// The suffixes of the two files of an unfinished download: its bytes, and the entity tag that they belong to. The
// second is created first, so that a file of another program is not taken for an unfinished download.
const (
	partEnd = ".part"
	tagEnd  = ".part.etag"
)

// maxTag bounds an entity tag in bytes.
const maxTag = 1 << 10

// Part is a file that is being downloaded. If the program ends, what has arrived stays next to the final name, so that
// another run can continue.
type Part struct {
	file File
	size int64
	tag  string
}

// Resume prepares a file as To does, and opens what an earlier run has left of it.
func Resume(name string, force bool) (*Part, error) {
	f, err := To(name, force)
	if err != nil {
		return nil, err
	}
	p := &Part{file: *f}
	part, err := regular(name + partEnd)
	if err != nil || part == nil {
		return p, err
	}
	tag, err := regular(name + tagEnd)
	if err != nil {
		return nil, err
	}
	if tag == nil {
		return nil, p.foreign(name + partEnd)
	}
	return p, p.reopen()
}

// regular returns information about a file; nil if it does not exist. It refuses anything but a regular file.
func regular(name string) (fs.FileInfo, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unusable(name, err)
	case !info.Mode().IsRegular():
		return nil, new(Part).foreign(name)
	}
	return info, nil
}

// foreign returns the refusal to write to a file that another program has made.
func (p *Part) foreign(name string) error {
	return failure.New(failure.Invalid, failure.Unsavable,
		"%s exists, and is no unfinished download that can be continued", name).
		Advise("Remove it, or name another --output.")
}

func (p *Part) reopen() error {
	text, err := readTag(p.file.name + tagEnd)
	if err != nil {
		return unusable(p.file.name+tagEnd, err)
	}
	draft, err := os.OpenFile(p.file.name+partEnd, os.O_RDWR, 0)
	if err != nil {
		return unusable(p.file.name+partEnd, err)
	}
	info, err := draft.Stat()
	if err != nil {
		draft.Close()
		return unusable(p.file.name+partEnd, err)
	}
	p.file.draft = draft
	p.size = info.Size()
	p.tag = text
	return nil
}

func readTag(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTag))
	return string(text), err
}

// Kept returns how many bytes have arrived, and the entity tag that they belong to.
func (p *Part) Kept() (size int64, tag string) { return p.size, p.tag }

// Begin replaces what is kept with an empty file for the archive with this entity tag.
func (p *Part) Begin(tag string) error {
	p.Discard()
	os.Remove(p.file.name + tagEnd) // a tag without its part is left over
	side, err := create(p.file.name + tagEnd)
	if err != nil {
		return err
	}
	_, err = side.WriteString(tag)
	if err := errors.Join(err, side.Close()); err != nil {
		return unusable(p.file.name+tagEnd, err)
	}
	if p.file.draft, err = create(p.file.name + partEnd); err != nil {
		return err
	}
	p.tag = tag
	return nil
}

// create makes a file that only its owner can read. It replaces no file.
func create(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, unusable(name, err)
	}
	return f, nil
}

// WriteAt stores bytes of the file.
func (p *Part) WriteAt(b []byte, at int64) (int, error) {
	n, err := p.file.draft.WriteAt(b, at)
	p.size = max(p.size, at+int64(n))
	if err != nil {
		err = unusable(p.file.name+partEnd, err)
	}
	return n, err
}

// Sum returns the SHA-256 of what is kept.
func (p *Part) Sum() ([]byte, error) {
	sum := sha256.New()
	if err := p.Copy(sum); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}

// Copy writes what is kept to w.
func (p *Part) Copy(w io.Writer) error {
	_, err := io.Copy(w, io.NewSectionReader(p.file.draft, 0, p.size))
	return err
}

// Keep gives the file its final name, as File.Keep does.
func (p *Part) Keep() error {
	if err := p.file.Keep(); err != nil {
		return err
	}
	os.Remove(p.file.name + tagEnd) // a tag is of no use without its part
	return nil
}

// Close leaves what has arrived for another run. It removes an empty part.
func (p *Part) Close() {
	if p.size == 0 {
		p.Discard()
	}
	if p.file.draft != nil {
		p.file.draft.Close()
		p.file.draft = nil
	}
}

// Discard removes what is kept.
func (p *Part) Discard() {
	if p.file.draft != nil {
		p.file.Discard()
		os.Remove(p.file.name + tagEnd)
	}
	p.size, p.tag = 0, ""
}
