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

// objectKey names bytes in the cache by where they are stored. By the digest alone a workspace could tell from the time
// of an answer whether another one has the same bytes. Size and digest are those of the tree, so that a file gets no
// bytes that were checked against another tree.
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

// openCached opens a part of a file in memory. The bytes are a string, so that no reader can change those of another.
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

// readObject reads the bytes of a file and checks them.
func (r *Reader) readObject(ctx context.Context, f File) (string, error) {
	body, err := r.read(ctx, f, 0, f.Size)
	if err != nil {
		return "", err
	}
	defer body.Close()
	return f.ReadAll(body)
}

// allocated returns how much memory n bytes take. The allocator rounds up by at most an eighth, and large ones to a
// page.
func allocated(n int64) int64 {
	const page, large = 8 << 10, 32 << 10
	if n > large {
		return (n + page - 1) / page * page
	}
	return n + n/8
}
