package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"vitrine/scripts/internal/package/bootstrap"
)

// packed is the modification time of all files, so that equal programs give equal zips, and equal
// keys in S3.
var packed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// compression takes two thirds of the time of the best one for programs that are a two-thousandth larger.
const compression = 8

// zipFunction writes a zip file with the program of a function, and with the files of a tree beside it, as Lambda wants
// them, and returns their sizes there. The file is replaced as a whole.
func zipFunction(program, file string, tree fs.FS, names []string) (bootstrap.Size, error) {
	code, err := os.ReadFile(program)
	if err != nil {
		return bootstrap.Size{}, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate,
		func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, compression) })
	err = add(z, "bootstrap", 0o755, code)
	for _, name := range names {
		text, err1 := fs.ReadFile(tree, name)
		err = errors.Join(err, err1, add(z, name, 0o644, text))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return bootstrap.Size{}, err
	}
	size, err := bootstrap.SizeOf(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return size, err
	}
	if err := os.WriteFile(file+".new", b.Bytes(), 0o644); err != nil {
		return bootstrap.Size{}, err
	}
	return size, os.Rename(file+".new", file)
}

func add(z *zip.Writer, name string, mode fs.FileMode, text []byte) error {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: packed}
	header.SetMode(mode)
	w, err := z.CreateHeader(header)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
