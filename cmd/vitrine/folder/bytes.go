package folder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/publishing/leak"
)

// Progress observes the reading of files.
type Progress interface {
	// Sent adds bytes that were read.
	Sent(bytes int64)
	// Stored counts a file that was read.
	Stored()
}

// Digest computes the digest of every file, reading each once. It skips files that contain a secret, unless they are
// allowed by name. It fails if the entrypoint that opens first is one of them, or no file is left.
func (f *Folder) Digest(ctx context.Context, p Progress) error {
	var kept []File
	for _, file := range f.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		what, err := f.digest(&file, p)
		p.Stored()
		switch {
		case err != nil:
			return err
		case what == "" || f.guard.allows(file.Path):
			kept = append(kept, file)
		case f.single:
			return refusal(f.at, false, "it holds "+what)
		case file.Path == f.Entrypoint && !f.Listing:
			return unusable("%q is to open first, but it is not published, because it holds %s", file.Path, what).
				Advise("Take that out; or, if everyone with the link may read it, name the file: --allow-secret %s",
					failure.Quoted(file.Path))
		default:
			f.Skipped.Secrets = append(f.Skipped.Secrets, Refused{file.Path, "it holds " + what})
		}
	}
	f.Files = kept
	if f.Listing {
		return f.finish("") // the first file may be another one now
	}
	return nil
}

// digest computes the digest of a file. It returns the kind of secret in the file; "" for none.
func (f *Folder) digest(file *File, p Progress) (what string, err error) {
	r, err := f.open(*file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum, find := sha256.New(), &leak.Finder{}
	n, err := io.Copy(io.MultiWriter(sum, find, counted{p}), io.LimitReader(r, file.Size+1))
	if err != nil {
		return "", unusable("cannot read %q: %v", file.Path, reason(err))
	}
	if n != file.Size {
		return "", changed(*file)
	}
	file.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return find.Found(), nil
}

// counted tells the bytes written to it.
type counted struct{ to Progress }

func (c counted) Write(p []byte) (int, error) {
	c.to.Sent(int64(len(p)))
	return len(p), nil
}

// Replace publishes other bytes for a file that Digest has read. The file on the disk stays as it is.
func (f *Folder) Replace(path string, body []byte) {
	sum := sha256.Sum256(body)
	for n := range f.Files {
		if file := &f.Files[n]; file.Path == path {
			file.body, file.Size = body, int64(len(body))
			file.SHA256 = hex.EncodeToString(sum[:])
		}
	}
}

// Body opens a file for upload. Reading it returns exactly the bytes that Digest read, or fails with
// failure.FileChanged before the last of them, so that a changed file is never uploaded whole.
func (f *Folder) Body(file File) (io.ReadCloser, error) {
	if file.body != nil {
		return io.NopCloser(bytes.NewReader(file.body)), nil
	}
	r, err := f.open(file)
	if err != nil {
		return nil, err
	}
	return &body{
		file: file,
		r:    r,
		sum:  sha256.New(),
		left: file.Size,
	}, nil
}

func (f *Folder) open(file File) (*os.File, error) {
	// Opening a pipe that has taken the place of the file would wait for a writer.
	r, err := f.root.OpenFile(filepath.FromSlash(file.name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, changed(file)
	}
	if err != nil {
		return nil, unusable("cannot read %q: %v", file.Path, reason(err))
	}
	if info, err := r.Stat(); err != nil || !info.Mode().IsRegular() {
		r.Close()
		return nil, changed(file)
	}
	return r, nil
}

type body struct {
	file File
	r    io.ReadCloser
	sum  hash.Hash
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.sum.Write(p[:n])
	b.left -= int64(n)
	switch {
	case b.left == 0 && !b.intact(), b.left > 0 && err == io.EOF:
		return 0, changed(b.file)
	case err != nil && err != io.EOF:
		return n, unusable("cannot read %q: %v", b.file.Path, reason(err))
	}
	return n, nil
}

// intact reports, after the last byte, whether the bytes were the announced ones and the file ends there.
func (b *body) intact() bool {
	more, _ := io.ReadFull(b.r, make([]byte, 1))
	return more == 0 && hex.EncodeToString(b.sum.Sum(nil)) == b.file.SHA256
}

func (b *body) Close() error { return b.r.Close() }

func changed(file File) error {
	return failure.New(failure.Other, failure.FileChanged, "%q changed while it was published", file.Path).
		Advise("Wait until it no longer changes, then run the command again.")
}
