package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/tree"
)

var _ content.Bytes = (*Store)(nil)

// Open implements upload.Objects and content.Bytes. It returns once S3 has announced exactly the requested bytes. The
// caller must close the reader. Closing it before its end gives up the connection.
func (s *Store) Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error) {
	name, err := key(home, o)
	if err != nil && size != 0 {
		return nil, err
	}
	return s.open(ctx, name, offset, size)
}

// open reads size bytes of an object from offset on.
func (s *Store) open(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	if offset < 0 || size < 0 {
		return nil, fmt.Errorf("no object has %d bytes from %d on", size, offset)
	}
	if size == 0 {
		return http.NoBody, nil
	}
	span := "bytes=" + strconv.FormatInt(offset, 10) + "-" + strconv.FormatInt(offset+size-1, 10)
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &name, Range: &span})
	if err != nil {
		return nil, failure(err)
	}
	if got := aws.ToInt64(out.ContentLength); got != size {
		out.Body.Close()
		return nil, unavailable(fmt.Errorf("asked for %d bytes from %d on, promised %d", size, offset, got))
	}
	return &body{from: out.Body, left: size}, nil
}

// body checks that S3 sends exactly the requested bytes.
type body struct {
	from io.ReadCloser
	left int64
}

// Read returns io.EOF after the requested bytes, io.ErrUnexpectedEOF if the object ends before them, and
// storage_unavailable for any other failure.
func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		return n, io.EOF
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return n, io.ErrUnexpectedEOF
	case err != nil:
		return n, unavailable(err)
	}
	return n, nil
}

// Close returns the connection to the pool, or closes it if bytes are left.
func (b *body) Close() error { return b.from.Close() }

// Head returns the size of an object, or not_found.
func (s *Store) Head(ctx context.Context, home id.Workspace, o tree.Object) (int64, error) {
	name, err := key(home, o)
	if err != nil {
		return 0, err
	}
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: &name})
	if err != nil {
		return 0, failure(err)
	}
	return aws.ToInt64(out.ContentLength), nil
}

// List implements upload.Objects.
func (s *Store) List(ctx context.Context, home id.Workspace, session id.Session, diffs bool) (map[int]int64, error) {
	folder, err := prefix(home, session, diffs)
	if err != nil {
		return nil, err
	}
	sizes, strangers := make(map[int]int64), 0
	err = s.walk(ctx, folder, func(page *s3.ListObjectsV2Output) error {
		for _, object := range page.Contents {
			n := entry(folder, aws.ToString(object.Key))
			if n < 0 {
				strangers++
				n = -strangers
			}
			sizes[n] = aws.ToInt64(object.Size)
		}
		return nil
	})
	return sizes, err
}

// walk calls visit for each page of up to 1000 objects whose keys begin with folder.
func (s *Store) walk(ctx context.Context, folder string, visit func(*s3.ListObjectsV2Output) error) error {
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &folder})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return unavailable(err)
		}
		if err := visit(page); err != nil {
			return err
		}
	}
	return nil
}
