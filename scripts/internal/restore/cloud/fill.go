package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"vitrine/shared/publishing/tree"
)

// uploads is how many files are put at once.
const uploads = 16

// Files has the bytes of a bucket that was lost.
type Files interface {
	// File returns the file of a key, or nil if it has none.
	File(ctx context.Context, key string) (*File, error)
}

// File is the content of an object.
type File struct {
	Bytes       []byte
	ContentType string
}

// BucketFiles are the files of a second bucket, which holds copies.
type BucketFiles struct {
	S3     *s3.Client
	Bucket string
}

// File implements Files.
func (b BucketFiles) File(ctx context.Context, key string) (*File, error) {
	out, err := b.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Bucket, Key: &key})
	if _, none := errors.AsType[*types.NoSuchKey](err); none {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	text, err := io.ReadAll(out.Body)
	return &File{text, aws.ToString(out.ContentType)}, err
}

// fill puts the files that the restored set needs into its bucket. A file that is there stays as it is.
func (w *work) fill(ctx context.Context) error {
	needed, err := w.needed(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	for home, files := range needed {
		there, err := w.histories(ctx, home)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		for key, f := range files {
			if h, known := there[key]; known && h.marker == "" && h.size == f.Size {
				continue
			}
			group.Go(func() error { return w.put(ctx, key, f) })
		}
	}
	return group.Wait()
}

// put puts one file, unless the bucket has it. The restored set says what its bytes are.
func (w *work) put(ctx context.Context, key string, want tree.Content) error {
	f, err := w.Files.File(ctx, key)
	if err != nil {
		return fmt.Errorf("the copy of %s cannot be read: %w", key, err)
	}
	if f == nil || sha256.Sum256(f.Bytes) != want.SHA256 {
		w.sayf("  %s is lost: its copy is missing or damaged", key)
		return nil
	}
	_, err = w.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket:         &w.Set.Bucket,
		Key:            &key,
		Body:           bytes.NewReader(f.Bytes),
		ContentType:    &f.ContentType,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(want.SHA256[:])),
		IfNoneMatch:    aws.String("*"),
	})
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok && answer.HTTPStatusCode() == http.StatusPreconditionFailed {
		return nil // a run that ended in between put it
	}
	return err
}
