package blob

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
)

var (
	_ sweep.BundleBytes     = (*Store)(nil)
	_ sweep.BundleDeletions = (*Store)(nil)
)

// partSize is how many bytes of an archive are sent at once. S3 takes parts of at least 5 MiB, but for the last.
const partSize = 8 * limits.MiB

// abortTime is how long giving up an upload may take. The bucket ends uploads that are left open a day later.
const abortTime = 5 * time.Second

// bundleKey returns the name of an archive: b/{home}/{artifact}/{revision}.zip.
func bundleKey(o artifact.BundleObject) (string, error) {
	if _, err := o.Home.Bits(); err != nil {
		return "", fmt.Errorf("no bundle has the workspace %q", o.Home)
	}
	_, err1 := o.Artifact.Bits()
	_, err2 := o.Revision.Bits()
	if err1 != nil || err2 != nil {
		return "", fmt.Errorf("no bundle has the artifact %q and the revision %q", o.Artifact, o.Revision)
	}
	return bundlePrefix + string(o.Home) + "/" + string(o.Artifact) + "/" + string(o.Revision) + ".zip", nil
}

// WriteBundle implements sweep.BundleBytes.
func (s *Store) WriteBundle(ctx context.Context, o artifact.BundleObject, write func(io.Writer) error) error {
	name, err := bundleKey(o)
	if err != nil {
		return err
	}
	return s.writeArchive(ctx, name, write)
}

// writeArchive stores what write writes under a key. It holds one part in memory. What fits into one part is one
// request, and more is a multipart upload, which is stored once it is completed.
func (s *Store) writeArchive(ctx context.Context, name string, write func(io.Writer) error) error {
	w := &partWriter{ctx: ctx, store: s, key: name}
	if err := write(w); err != nil {
		w.abort()
		return err
	}
	if err := w.complete(); err != nil {
		w.abort()
		return unavailable(err)
	}
	return nil
}

// partWriter sends what is written to it in parts.
type partWriter struct {
	ctx    context.Context
	store  *Store
	key    string
	buffer bytes.Buffer
	upload *string // of S3; nil: none was begun
	parts  []types.CompletedPart
}

// Write implements io.Writer.
func (w *partWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if w.buffer.Len() == partSize {
			if err := w.send(); err != nil {
				return n, unavailable(err)
			}
		}
		some := p[:min(len(p), partSize-w.buffer.Len())]
		w.buffer.Write(some)
		n, p = n+len(some), p[len(some):]
	}
	return n, nil
}

// send sends the buffer as the next part. S3 checks it against the checksum that the SDK computes.
func (w *partWriter) send() error {
	s := w.store
	if w.upload == nil {
		out, err := s.client.CreateMultipartUpload(w.ctx, &s3.CreateMultipartUploadInput{
			Bucket:            &s.bucket,
			Key:               &w.key,
			ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
		})
		if err != nil {
			return err
		}
		w.upload = out.UploadId
	}
	number := aws.Int32(int32(len(w.parts) + 1))
	out, err := s.client.UploadPart(w.ctx, &s3.UploadPartInput{
		Bucket:            &s.bucket,
		Key:               &w.key,
		UploadId:          w.upload,
		PartNumber:        number,
		Body:              bytes.NewReader(w.buffer.Bytes()),
		ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return err
	}
	w.parts = append(w.parts, types.CompletedPart{ETag: out.ETag, PartNumber: number, ChecksumCRC32: out.ChecksumCRC32})
	w.buffer.Reset()
	return nil
}

// complete stores the object.
func (w *partWriter) complete() error {
	s := w.store
	if w.upload == nil {
		_, err := s.client.PutObject(w.ctx, &s3.PutObjectInput{
			Bucket:            &s.bucket,
			Key:               &w.key,
			Body:              bytes.NewReader(w.buffer.Bytes()),
			ContentLength:     aws.Int64(int64(w.buffer.Len())),
			ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
		})
		return err
	}
	if err := w.send(); err != nil {
		return err
	}
	_, err := s.client.CompleteMultipartUpload(w.ctx, &s3.CompleteMultipartUploadInput{
		Bucket:          &s.bucket,
		Key:             &w.key,
		UploadId:        w.upload,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: w.parts},
	})
	return err
}

// abort gives up an upload that was begun, also after its context has ended.
func (w *partWriter) abort() {
	if w.upload == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), abortTime)
	defer cancel()
	s := w.store
	_, _ = s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: &w.key, UploadId: w.upload})
}

// OpenBundle implements content.Bytes.
func (s *Store) OpenBundle(ctx context.Context, o artifact.BundleObject, offset, size int64) (io.ReadCloser, error) {
	name, err := bundleKey(o)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, name, offset, size)
}

// DeleteBundles implements sweep.BundleDeletions.
func (s *Store) DeleteBundles(ctx context.Context, bundles []artifact.BundleObject) error {
	keys := make([]string, len(bundles))
	for n, o := range bundles {
		var err error
		if keys[n], err = bundleKey(o); err != nil {
			return err
		}
	}
	return s.remove(ctx, keys)
}
