package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"os"
	"time"
)

// packed is the modification time of all files, so that equal programs give equal zips, and equal
// keys in S3.
var packed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// zipProgram writes a zip file that holds the program alone, as Lambda wants it, and returns its size. The file is
// replaced as a whole.
func zipProgram(program, file string) (int64, error) {
	code, err := os.ReadFile(program)
	if err != nil {
		return 0, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate,
		func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate, Modified: packed}
	header.SetMode(0o755)
	w, err := z.CreateHeader(header)
	if err == nil {
		_, err = w.Write(code)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.WriteFile(file+".new", b.Bytes(), 0o644)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	return int64(b.Len()), err
}
