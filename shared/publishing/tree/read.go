package tree

import (
	"crypto/sha256"
	"io"
	"strings"

	"vitrine/shared/platform/fault"
)

// ReadAll reads the whole file from its object. Bytes that break off or do not have the digest of the file are
// storage_unavailable.
func (f File) ReadAll(object io.Reader) (string, error) {
	var b strings.Builder
	b.Grow(int(f.Size))
	_, err := io.Copy(&b, io.LimitReader(object, f.Size+1)) // one more byte, so that a longer object fails the check
	if err := f.check(DigestOf(b.String()), err); err != nil {
		return "", err
	}
	return b.String(), nil
}

// ReadBytes is ReadAll for callers that need bytes.
func (f File) ReadBytes(object io.Reader) ([]byte, error) {
	b := make([]byte, f.Size)
	_, err := io.ReadFull(object, b)
	return b, f.check(sha256.Sum256(b), err)
}

// Copy writes the whole file from its object to w and checks it as ReadAll does, when w has the bytes already.
func (f File) Copy(w io.Writer, object io.Reader) error {
	sum := sha256.New()
	_, err := io.Copy(io.MultiWriter(sum, w), io.LimitReader(object, f.Size+1))
	return f.check(Digest(sum.Sum(nil)), err)
}

func (f File) check(read Digest, err error) error {
	switch {
	case err != nil:
		return fault.Wrap(fault.StorageUnavailable, err, "the file cannot be read now; repeat the request")
	case read != f.SHA256:
		return fault.New(fault.StorageUnavailable, "the stored file is damaged")
	}
	return nil
}
