package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// accounts answers an unknown access key as S3 does, with 403
// InvalidAccessKeyId; versitygw's own single-user service makes it a 404.
type accounts struct{ auth.IAMService }

// GetUserAccount returns the account of the access key, or auth.ErrNoSuchUser.
func (a accounts) GetUserAccount(access string) (auth.Account, error) {
	account, err := a.IAMService.GetUserAccount(access)
	if err != nil {
		return auth.Account{}, auth.ErrNoSuchUser
	}
	return account, nil
}

// corrected is versitygw's directory backend without faults of v1.8.0: it
// published what had arrived of an upload that was cut off (fixed upstream for
// the next release), it compared file times, which are finer, with the whole
// seconds of HTTP dates, its delete markers kept the bytes and refused a write
// that has If-None-Match, and they could be copied.
type corrected struct {
	*posix.Posix
	versions *versions
	puts     chan struct{} // one for each PUT under way
}

// PutObject stores the object only if its whole body arrives.
func (c corrected) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	select {
	case c.puts <- struct{}{}:
		defer func() { <-c.puts }()
	case <-ctx.Done():
		return s3response.PutObjectOutput{}, ctx.Err()
	}
	in.Body = wholeBody(in.Body, in.ContentLength)
	o, unlock := objectOf(in.Bucket, in.Key), func() {}
	defer func() { unlock() }()
	out, err := c.PutObjectWithPostFunc(ctx, in, func(*os.File) error { // the body has arrived
		unlock = c.versions.lock(o)
		return c.versions.prepare(o)
	})
	if err == nil {
		err = c.versions.settle(o, out.VersionID)
	}
	return out, err
}

// UploadPart stores the part only if its whole body arrives.
func (c corrected) UploadPart(ctx context.Context, in *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	in.Body = wholeBody(in.Body, in.ContentLength)
	return c.Posix.UploadPart(ctx, in)
}

// CompleteMultipartUpload keeps the version that the object replaces.
func (c corrected) CompleteMultipartUpload(ctx context.Context, in *s3.CompleteMultipartUploadInput) (
	s3response.CompleteMultipartUploadResult, string, error) {
	o := objectOf(in.Bucket, in.Key)
	defer c.versions.lock(o)()
	if err := c.versions.prepare(o); err != nil {
		return s3response.CompleteMultipartUploadResult{}, "", err
	}
	out, id, err := c.Posix.CompleteMultipartUpload(ctx, in)
	if err == nil {
		err = c.versions.settle(o, id)
	}
	return out, id, err
}

// CopyObject fails with s3err.ErrNoSuchKey where the newest version of the source is a delete marker.
func (c corrected) CopyObject(ctx context.Context, in s3response.CopyObjectInput) (s3response.CopyObjectOutput, error) {
	o := objectOf(in.Bucket, in.Key)
	defer c.versions.lock(o)()
	if err := c.sourceExists(in.CopySource); err != nil {
		return s3response.CopyObjectOutput{}, err
	}
	if err := c.versions.prepare(o); err != nil {
		return s3response.CopyObjectOutput{}, err
	}
	out, err := c.Posix.CopyObject(ctx, in)
	if err == nil {
		err = c.versions.settle(o, backend.GetStringFromPtr(out.VersionId))
	}
	return out, err
}

// UploadPartCopy fails with s3err.ErrNoSuchKey where the newest version of the source is a delete marker.
func (c corrected) UploadPartCopy(ctx context.Context, in *s3.UploadPartCopyInput) (s3response.CopyPartResult, error) {
	if err := c.sourceExists(in.CopySource); err != nil {
		return s3response.CopyPartResult{}, err
	}
	return c.Posix.UploadPartCopy(ctx, in)
}

// sourceExists fails with s3err.ErrNoSuchKey where the source of a copy was deleted.
func (c corrected) sourceExists(source *string) error {
	bucket, key, version, err := backend.ParseCopySource(backend.GetStringFromPtr(source))
	if err != nil || version != "" {
		return err
	}
	marker, err := c.versions.isMarker(object{bucket, key})
	if marker {
		return s3err.GetAPIError(s3err.ErrNoSuchKey)
	}
	return err
}

// DeleteObject leaves a delete marker, or deletes the version that the request names for good.
func (c corrected) DeleteObject(ctx context.Context, in *s3.DeleteObjectInput) (*s3.DeleteObjectOutput, error) {
	o := objectOf(in.Bucket, in.Key)
	if !filepath.IsLocal(o.key) { // keys in the body of DeleteObjects come unchecked
		return nil, s3err.GetAPIError(s3err.ErrNoSuchKey)
	}
	defer c.versions.lock(o)()
	info, err := os.Stat(o.path())
	folder := strings.HasSuffix(o.key, "/")
	if err != nil || folder || !c.versions.enabled(o.bucket) {
		return c.Posix.DeleteObject(ctx, in)
	}
	if info.IsDir() { // keys begin with this one, and it is none itself
		return &s3.DeleteObjectOutput{}, nil
	}
	id, err := c.versions.newest(o)
	if err != nil {
		return nil, err
	}
	named := backend.GetStringFromPtr(in.VersionId)
	if named != "" && named != id {
		return c.versions.deleteNamed(o, named)
	}
	etag, _, err := c.versions.attribute(o, etagAttribute)
	if err != nil {
		return nil, err
	}
	err = backend.EvaluateObjectDeletePreconditions(etag, info.ModTime(), info.Size(), backend.ObjectDeletePreconditions{
		IfMatch:            in.IfMatch,
		IfMatchLastModTime: in.IfMatchLastModifiedTime,
		IfMatchSize:        in.IfMatchSize,
	})
	if err != nil {
		return nil, err
	}
	if named == "" {
		return c.versions.mark(o)
	}
	return c.versions.deleteNewest(o, id)
}

// DeleteObjects deletes one key after the other and reports each.
func (c corrected) DeleteObjects(ctx context.Context, in *s3.DeleteObjectsInput) (s3response.DeleteResult, error) {
	var result s3response.DeleteResult
	for _, each := range in.Delete.Objects {
		out, err := c.DeleteObject(ctx, &s3.DeleteObjectInput{
			Bucket:    in.Bucket,
			Key:       each.Key,
			VersionId: each.VersionId,
		})
		if err != nil {
			result.Error = append(result.Error, s3err.ObjectDeleteError(each.Key, each.VersionId, err))
			continue
		}
		deleted := types.DeletedObject{Key: each.Key, VersionId: each.VersionId, DeleteMarker: out.DeleteMarker}
		if out.DeleteMarker != nil && *out.DeleteMarker {
			deleted.DeleteMarkerVersionId = out.VersionId
		}
		result.Deleted = append(result.Deleted, deleted)
	}
	return result, nil
}

// objectOf returns the object that a request names.
func objectOf(bucket, key *string) object {
	return object{backend.GetStringFromPtr(bucket), backend.GetStringFromPtr(key)}
}

// GetObject judges time conditions in whole seconds.
func (c corrected) GetObject(ctx context.Context, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	in.IfModifiedSince, in.IfUnmodifiedSince = endOfSecond(in.IfModifiedSince), endOfSecond(in.IfUnmodifiedSince)
	defer c.versions.lockRead(objectOf(in.Bucket, in.Key))()
	return c.Posix.GetObject(ctx, in)
}

// HeadObject judges time conditions in whole seconds.
func (c corrected) HeadObject(ctx context.Context, in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	in.IfModifiedSince, in.IfUnmodifiedSince = endOfSecond(in.IfModifiedSince), endOfSecond(in.IfUnmodifiedSince)
	defer c.versions.lockRead(objectOf(in.Bucket, in.Key))()
	return c.Posix.HeadObject(ctx, in)
}

// endOfSecond returns the last instant that Last-Modified would show as t.
func endOfSecond(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	end := t.Truncate(time.Second).Add(time.Second - time.Nanosecond)
	return &end
}
