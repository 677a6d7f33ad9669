package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/posix"
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

// corrected is versitygw's directory backend without two faults of v1.8.0: it
// published what had arrived of an upload that was cut off (fixed upstream for
// the next release), and it compared file times, which are finer, with the whole
// seconds of HTTP dates.
type corrected struct{ *posix.Posix }

// PutObject stores the object only if its whole body arrives.
func (c corrected) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	in.Body = wholeBody(in.Body, in.ContentLength)
	return c.Posix.PutObject(ctx, in)
}

// UploadPart stores the part only if its whole body arrives.
func (c corrected) UploadPart(ctx context.Context, in *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	in.Body = wholeBody(in.Body, in.ContentLength)
	return c.Posix.UploadPart(ctx, in)
}

// GetObject judges time conditions in whole seconds.
func (c corrected) GetObject(ctx context.Context, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	in.IfModifiedSince, in.IfUnmodifiedSince = endOfSecond(in.IfModifiedSince), endOfSecond(in.IfUnmodifiedSince)
	return c.Posix.GetObject(ctx, in)
}

// HeadObject judges time conditions in whole seconds.
func (c corrected) HeadObject(ctx context.Context, in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	in.IfModifiedSince, in.IfUnmodifiedSince = endOfSecond(in.IfModifiedSince), endOfSecond(in.IfUnmodifiedSince)
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
