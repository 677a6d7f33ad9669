package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"vitrine/shared/platform/release"
)

// packed is the modification time of everything in an archive. Zip files know no earlier one.
var packed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// member is a file in an archive.
type member struct {
	name string
	from string
	mode int64
}

// pack writes an archive with the program, the license and the README. Nothing in it depends on the clock, on the owner
// or on the modes of the files that it is made of.
func pack(p release.Platform, root, program, file string) error {
	write := writeTar
	if p.OS == "windows" {
		write = writeZip
	}
	var b bytes.Buffer
	err := write(&b, []member{
		{p.Program(), program, 0o755},
		{"LICENSE", filepath.Join(root, "LICENSE"), 0o644},
		{"README.md", filepath.Join(root, "README.md"), 0o644},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

func writeTar(to io.Writer, members []member) error {
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, m := range members {
		text, err := os.ReadFile(m.from)
		if err != nil {
			return err
		}
		err = t.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg,
			Name:     m.name,
			Size:     int64(len(text)),
			Mode:     m.mode,
			ModTime:  packed,
			Format:   tar.FormatUSTAR,
		})
		if err != nil {
			return err
		}
		if _, err := t.Write(text); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func writeZip(to io.Writer, members []member) error {
	z := zip.NewWriter(to)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, m := range members {
		text, err := os.ReadFile(m.from)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: packed}
		header.SetMode(os.FileMode(m.mode))
		w, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return z.Close()
}
