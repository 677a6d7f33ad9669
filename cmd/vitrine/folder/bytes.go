package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"vitrine/cmd/vitrine/failure"
)

// Digest computes the digest of every file, reading each once.
func (f *Folder) Digest(ctx context.Context) error {
	for i := range f.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.digest(&f.Files[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) digest(file *File) error {
	r, err := f.open(*file)
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(r, file.Size+1))
	if err != nil {
		return unusable("cannot read %q: %v", file.Path, reason(err))
	}
	if n != file.Size {
		return changed(*file)
	}
	file.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// Body opens a file for upload. Reading it gives exactly the bytes that Digest saw, or fails with failure.FileChanged
// before the last of them: a changed file never arrives whole.
func (f *Folder) Body(file File) (io.ReadCloser, error) {
	r, err := f.open(file)
	if err != nil {
		return nil, err
	}
	return &body{file: file, r: r, sum: sha256.New(), left: file.Size}, nil
}

func (f *Folder) open(file File) (*os.File, error) {
	r, err := f.root.Open(filepath.FromSlash(file.name))
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

// intact tells, after the last byte, whether the bytes were the announced ones and nothing follows them.
func (b *body) intact() bool {
	more, _ := io.ReadFull(b.r, make([]byte, 1))
	return more == 0 && hex.EncodeToString(b.sum.Sum(nil)) == b.file.SHA256
}

func (b *body) Close() error { return b.r.Close() }

func changed(file File) error {
	return failure.New(failure.Other, failure.FileChanged, "%q changed while it was published", file.Path).
		Advise("Wait until nothing writes to it any more, then run the command again.")
}
