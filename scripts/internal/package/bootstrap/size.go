package bootstrap

import (
	"archive/zip"
	"io"
)

// Size are the bytes of a zip file: those of the program, which its budget is about, because a cold start reads it, and
// those of the files beside it.
type Size struct{ Program, Beside int64 }

// SizeOf reads the sizes of a zip file, whose first entry is the program.
func SizeOf(file io.ReaderAt, bytes int64) (Size, error) {
	z, err := zip.NewReader(file, bytes)
	if err != nil {
		return Size{}, err
	}
	s := Size{Program: bytes}
	for _, f := range z.File {
		if f.Name != "bootstrap" {
			s.Beside += int64(f.CompressedSize64)
		}
	}
	s.Program -= s.Beside
	return s, nil
}
