// Package objects brings the bytes of objects back into a bucket: from below delete markers, from a copy of one
// machine, or from a second bucket.
package objects

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/shared/publishing/tree"
)

// ErrGone means that the bytes of an object are not there, or are others than they were.
var ErrGone = errors.New("its bytes are gone")

// Source has the bytes of objects.
type Source interface {
	// Open returns the object of a key, or ErrGone.
	Open(ctx context.Context, key string) (Object, error)
}

// Object is the content of an object. Its reader closes what it reads from.
type Object struct {
	io.ReadSeekCloser
	Type string // media type
}

// Bucket is a bucket that keeps versions. It is a Source, too.
type Bucket struct {
	S3   *s3.Client
	Name string
}

// Has reports whether an object can be read.
func (b Bucket) Has(ctx context.Context, key string) (bool, error) {
	_, err := b.S3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.Name, Key: &key})
	if hasCode(err, "NotFound", "NoSuchKey") {
		return false, nil
	}
	return err == nil, err
}

// Open implements Source. The object is kept in a file without a name, because an upload that failed sends it again.
func (b Bucket) Open(ctx context.Context, key string) (Object, error) {
	out, err := b.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: &key})
	if hasCode(err, "NoSuchKey") {
		return Object{}, ErrGone
	}
	if err != nil {
		return Object{}, err
	}
	defer out.Body.Close()
	file, err := os.CreateTemp("", "vitrine-object-")
	if err != nil {
		return Object{}, err
	}
	err = os.Remove(file.Name())
	if err == nil {
		_, err = io.Copy(file, out.Body)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return Object{}, err
	}
	return Object{file, aws.ToString(out.ContentType)}, nil
}

// Undelete takes delete markers away from an object. They lie on each other, so all above the newest version go. It
// touches none and returns ErrGone if there is no version under them.
func (b Bucket) Undelete(ctx context.Context, key string) error {
	pages := s3.NewListObjectVersionsPaginator(b.S3, &s3.ListObjectVersionsInput{Bucket: &b.Name, Prefix: &key})
	var markers []string
	found := false
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if hasCode(err, "NotImplemented") { // a bucket without versions
			return ErrGone
		}
		if err != nil {
			return err
		}
		for _, one := range page.Versions {
			found = found || aws.ToString(one.Key) == key
		}
		for _, one := range page.DeleteMarkers {
			if aws.ToString(one.Key) == key {
				markers = append(markers, aws.ToString(one.VersionId))
			}
		}
	}
	if !found {
		return ErrGone
	}
	for _, version := range markers {
		_, err := b.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: &key, VersionId: &version})
		if err != nil {
			return err
		}
	}
	return nil
}

// Put puts an object of a source, unless one is there. S3 compares its bytes with the digest: if they are others, it
// returns ErrGone.
func (b Bucket) Put(ctx context.Context, key string, sum tree.Digest, from Source) error {
	object, err := from.Open(ctx, key)
	if err != nil {
		return err
	}
	defer object.Close()
	in := &s3.PutObjectInput{
		Bucket:         &b.Name,
		Key:            &key,
		Body:           object,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum[:])),
		IfNoneMatch:    aws.String("*"),
	}
	if object.Type != "" {
		in.ContentType = &object.Type
	}
	_, err = b.S3.PutObject(ctx, in)
	switch {
	case hasCode(err, "PreconditionFailed"): // an earlier call, or another process, put it
		return nil
	case hasCode(err, "BadDigest"):
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

// hasCode reports whether S3 refused with one of the codes.
func hasCode(err error, codes ...string) bool {
	refused, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, refused.ErrorCode())
}

// Of returns the objects of a copy.
func Of(c copies.Copy) Source {
	types := map[string]string{}
	for _, o := range c.Objects {
		types[o.Key] = o.ContentType
	}
	return copied{c, types}
}

// copied are the objects of a copy, with their types by key.
type copied struct {
	copies.Copy
	types map[string]string
}

// Open implements Source.
func (c copied) Open(_ context.Context, key string) (Object, error) {
	kind, known := c.types[key]
	if !known {
		return Object{}, ErrGone
	}
	file, err := os.Open(c.ObjectFile(key))
	if errors.Is(err, fs.ErrNotExist) {
		return Object{}, ErrGone
	}
	return Object{file, kind}, err
}
