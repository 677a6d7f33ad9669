package content

import (
	"context"
	"fmt"
	"io"
	"strings"

	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/pack"
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

// Form is how a file is sent.
type Form struct {
	Coding pack.Coding
	// Variant names what Edit makes of the bytes. It is empty for the file itself, for which Edit is nil.
	Variant string
	Edit    func(io.Reader) io.Reader
}

// packedKey is the key of a packed file in the cache.
type packedKey struct {
	objectKey
	coding  pack.Coding
	variant string
}

// Packed returns a packed form of a file that is kept in memory, where the form is kept too. It returns an empty text
// for another file, and while too much is being packed. Refusals are those of Open.
func (r *Reader) Packed(ctx context.Context, f File, form Form) (string, error) {
	if !r.cacheable(f) {
		return "", nil
	}
	key := packedKey{objectKey{f.home, f.Object, f.Content()}, form.Coding, form.Variant}
	return cache.Get(ctx, r.Cache, key, fault.StorageUnavailable, func(ctx context.Context) (string, int64, error) {
		body, err := r.openCached(ctx, f, 0, f.Size)
		if err != nil {
			return "", 0, err
		}
		defer body.Close()
		text := io.Reader(body)
		if form.Edit != nil {
			text = form.Edit(body)
		}
		packed, err := pack.Text(form.Coding, text)
		if packed == "" {
			return "", 0, err
		}
		return packed, allocated(int64(len(packed))), err
	})
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
