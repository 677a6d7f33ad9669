package tree

import (
	"io"
	"strings"

	"vitrine/shared/platform/fault"
)

// ReadAll reads the whole file from its object. Bytes that break off or do not have the digest of the file are
// storage_unavailable.
func (f File) ReadAll(object io.Reader) (string, error) {
	var b strings.Builder
	b.Grow(int(f.Size))
	if _, err := io.Copy(&b, io.LimitReader(object, f.Size+1)); err != nil {
		return "", fault.Wrap(fault.StorageUnavailable, err, "the file cannot be read now; repeat the request")
	}
	if DigestOf(b.String()) != f.SHA256 {
		return "", fault.New(fault.StorageUnavailable, "the stored file is damaged")
	}
	return b.String(), nil
}
