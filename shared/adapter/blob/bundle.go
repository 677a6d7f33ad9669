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

// partSize is how many bytes of an archive one part has. S3 requires at least 5 MiB for all parts but the last.
const partSize = 8 * limits.MiB

// abortTime bounds the request that aborts an upload. It may fail, because a rule of the bucket ends uploads that are
// left open after a day.
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

// writeArchive stores what write writes as one object. It holds one part in memory. An archive that fits into one part
// is one PUT. A larger one is a multipart upload, which becomes visible only when it is completed.
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

// partWriter sends an archive in parts.
type partWriter struct {
	ctx    context.Context
	store  *Store
	key    string
	buffer bytes.Buffer
	upload *string // upload ID of S3; nil: no multipart upload was begun
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

// send uploads the buffer as the next part. S3 verifies it by the checksum that the SDK computes.
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

// complete makes the object visible.
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

// abort deletes the parts of an upload that was begun. It works after the writer's context has ended too.
func (w *partWriter) abort() {
	if w.upload == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), abortTime)
	defer cancel()
	s := w.store
	// The error is dropped, because the caller reports the failure that led here and the bucket ends the upload later.
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
	return removeArchives(ctx, s, bundles, bundleKey)
}

// removeArchives deletes archives by their names, or none if one has no name.
func removeArchives[T any](ctx context.Context, s *Store, archives []T, name func(T) (string, error)) error {
	keys := make([]string, len(archives))
	for n, o := range archives {
		var err error
		if keys[n], err = name(o); err != nil {
			return err
		}
	}
	return s.remove(ctx, keys)
}
