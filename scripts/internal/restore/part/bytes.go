package part

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"vitrine/shared/adapter/blob"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// Bytes brings objects back into the living bucket.
type Bytes interface {
	// Present reports whether an object is there.
	Present(ctx context.Context, key string) (bool, error)
	// Bring brings an object back that is not there. It returns ErrGone if its bytes are lost. It can be repeated.
	Bring(ctx context.Context, key string) error
}

// ErrGone means that the bytes of an object are in no version and in no copy.
var ErrGone = errors.New("its bytes are gone")

func bundleKey(o artifact.BundleObject) string {
	return fmt.Sprintf("b/%s/%s/%s.zip", o.Home, o.Artifact, o.Revision)
}

// bring brings back the objects of an artifact that are not there, and reads every one against its digest. It returns
// those that cannot be had.
func (r Restore) bring(ctx context.Context, p Plan) (missing []error, err error) {
	brought := 0
	for _, f := range p.saved.Objects() {
		key, err := blob.Key(p.saved.Artifact.StorageWorkspace, f.Object)
		if err != nil {
			return nil, err
		}
		there, err := r.Bytes.Present(ctx, key)
		if err != nil {
			return nil, err
		}
		if !there {
			err = r.Bytes.Bring(ctx, key)
			brought++
		}
		if err == nil {
			err = r.verify(ctx, p.saved.Artifact.StorageWorkspace, f)
		}
		switch {
		case errors.Is(err, ErrGone):
			missing = append(missing, fmt.Errorf("%s (%s): %w", f.Path, key, err))
		case err != nil:
			return nil, err
		}
	}
	r.say("%s: %d of %d files were brought back, all were read", p.Artifact, brought, p.Files)
	return missing, nil
}

// verify reads an object and compares its bytes with the digest of its file. Other bytes count as gone.
func (r Restore) verify(ctx context.Context, home id.Workspace, f tree.File) error {
	size, err := r.blobs().Head(ctx, home, f.Object)
	if fault.CodeOf(err) == fault.NotFound || err == nil && size != f.Size {
		return ErrGone
	}
	if err != nil {
		return err
	}
	body, err := r.blobs().Open(ctx, home, f.Object, 0, f.Size)
	if err != nil {
		return err
	}
	defer body.Close()
	read := &observed{from: body}
	if err := f.Copy(io.Discard, read); err != nil && read.failed == nil {
		return fmt.Errorf("%w: the object holds other bytes", ErrGone)
	}
	return read.failed
}

// observed keeps the error of a reader, to tell bytes that cannot be read now from bytes that are wrong.
type observed struct {
	from   io.Reader
	failed error
}

// Read implements io.Reader.
func (o *observed) Read(b []byte) (int, error) {
	n, err := o.from.Read(b)
	if err != nil && err != io.EOF {
		o.failed = err
	}
	return n, err
}

func present(ctx context.Context, client *s3.Client, bucket, key string) (bool, error) {
	_, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
	if hasCode(err, "NotFound", "NoSuchKey") {
		return false, nil
	}
	return err == nil, err
}

func hasCode(err error, codes ...string) bool {
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return false
	}
	for _, code := range codes {
		if answer.ErrorCode() == code {
			return true
		}
	}
	return false
}

// Versions takes delete markers off objects in a bucket that keeps versions.
type Versions struct {
	S3     *s3.Client
	Bucket string
}

// Present implements Bytes.
func (v Versions) Present(ctx context.Context, key string) (bool, error) {
	return present(ctx, v.S3, v.Bucket, key)
}

// Bring implements Bytes. Markers lie on each other, so it takes the newest away until the newest is a version. It
// touches none if there is no version under them.
func (v Versions) Bring(ctx context.Context, key string) error {
	pages := s3.NewListObjectVersionsPaginator(v.S3, &s3.ListObjectVersionsInput{Bucket: &v.Bucket, Prefix: &key})
	var markers []string
	found := false
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
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
		_, err := v.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &v.Bucket, Key: &key, VersionId: &version})
		if err != nil {
			return err
		}
	}
	return nil
}

// Copied is an object in a copy.
type Copied struct {
	File        string // with its bytes
	ContentType string
	SHA256      tree.Digest
}

// open opens the file for reading if it has the bytes of the object.
func (c Copied) open() (*os.File, error) {
	file, err := os.Open(c.File)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	if _, err = io.Copy(sum, file); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil && tree.Digest(sum.Sum(nil)) != c.SHA256 {
		err = fmt.Errorf("%w: the copy holds other bytes", ErrGone)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Copy writes objects from a copy into a bucket.
type Copy struct {
	Versions
	Object func(key string) (Copied, bool)
}

// Bring implements Bytes. It prefers a version that the bucket still has. It replaces no object that is there.
func (c Copy) Bring(ctx context.Context, key string) error {
	if err := c.Versions.Bring(ctx, key); !errors.Is(err, ErrGone) && !hasCode(err, "NotImplemented") {
		return err
	}
	from, ok := c.Object(key)
	if !ok {
		return ErrGone
	}
	file, err := from.open()
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = c.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket:         &c.Bucket,
		Key:            &key,
		Body:           file,
		ContentType:    &from.ContentType,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(from.SHA256[:])),
		IfNoneMatch:    aws.String("*"),
	})
	if hasCode(err, "PreconditionFailed") { // another restore brought it meanwhile
		return nil
	}
	return err
}
