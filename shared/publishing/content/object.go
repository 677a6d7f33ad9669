package content

import (
	"context"
	"fmt"
	"io"
	"strings"

	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// objectKey is the key of bytes in the cache. It names the place where they are stored, because with the digest alone
// the time of an answer would tell whether another workspace has the same bytes. Its content is that of the tree, so
// that a file never gets bytes that were checked against another tree.
type objectKey struct {
	home    id.Workspace
	object  tree.Object
	content tree.Content
}

// maxCachedFile is the largest file whose bytes are kept in memory.
const maxCachedFile = 256 << 10

// cacheable reports whether the bytes of a file are kept in memory.
func (r *Reader) cacheable(f File) bool {
	return r.Cache != nil && !f.Bundle && f.Size <= maxCachedFile
}

// openCached opens a part of a file in memory. The bytes are a string, because readers share them and must not change
// them.
func (r *Reader) openCached(ctx context.Context, f File, offset, size int64) (io.ReadCloser, error) {
	if offset < 0 || size < 0 || size > f.Size-offset {
		return nil, fmt.Errorf("a file of %d bytes has no %d bytes from %d on", f.Size, size, offset)
	}
	key := objectKey{f.home, f.Object, f.Content()}
	text, err := cache.Get(ctx, r.Cache, key, fault.StorageUnavailable, func(ctx context.Context) (string, int64, error) {
		text, err := r.readObject(ctx, f)
		return text, allocated(f.Size), err
	})
	if err != nil {
		return nil, err
	}
	return io.NopCloser(strings.NewReader(text[offset : offset+size])), nil
}

// readObject reads the bytes of a file and checks their digest.
func (r *Reader) readObject(ctx context.Context, f File) (string, error) {
	body, err := r.read(ctx, f, 0, f.Size)
	if err != nil {
		return "", err
	}
	defer body.Close()
	return f.ReadAll(body)
}

// allocated returns how much memory n bytes take. Go's allocator rounds small sizes up by at most an eighth, and large
// ones to a page.
func allocated(n int64) int64 {
	const page, large = 8 << 10, 32 << 10
	if n > large {
		return (n + page - 1) / page * page
	}
	return n + n/8
}
