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
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"vitrine/scripts/internal/backup/copies"
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

// CopyFiles returns the files of a copy that scripts/backup made.
func CopyFiles(c copies.Copy) Files {
	types := map[string]string{}
	for _, o := range c.Objects {
		types[o.Key] = o.ContentType
	}
	return copyFiles{c, types}
}

// copyFiles are the files of a copy, with their types by key.
type copyFiles struct {
	copies.Copy
	types map[string]string
}

// File implements Files.
func (c copyFiles) File(_ context.Context, key string) (*File, error) {
	contentType, known := c.types[key]
	if !known {
		return nil, nil
	}
	text, err := os.ReadFile(c.ObjectFile(key))
	return &File{text, contentType}, err
}

// fill puts the files into the bucket that the restored set needs and no version in it has. The journal names them
// before, so that an abandoned restore deletes them again.
func (w *work) fill(ctx context.Context) error {
	if w.Files == nil {
		return errors.New("say again where the files come from, with --files")
	}
	needed, err := w.needed(ctx)
	if err != nil {
		return err
	}
	var absent []marker
	for home, files := range needed {
		there, err := w.histories(ctx, home)
		if err != nil {
			return err
		}
		for key, f := range files {
			if h, known := there[key]; !known || h.size != f.Size {
				absent = append(absent, marker{Key: key})
			}
		}
	}
	if err := w.note(absent); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	for _, m := range absent {
		group.Go(func() error { return w.put(ctx, m.Key, needed[homeOf(m.Key)][m.Key]) })
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
	_, err = w.objects().PutObject(ctx, &s3.PutObjectInput{
		Bucket:         &w.Set.Bucket,
		Key:            &key,
		Body:           bytes.NewReader(f.Bytes),
		ContentType:    &f.ContentType,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(want.SHA256[:])),
		IfNoneMatch:    aws.String("*"),
	})
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	if ok && answer.HTTPStatusCode() == http.StatusPreconditionFailed {
		return nil // a run that ended in between put it
	}
	return err
}
