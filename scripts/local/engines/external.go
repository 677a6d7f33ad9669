package engines

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// answersAt checks that a server answers at the URL which the variable names; any answer will do.
func answersAt(ctx context.Context, variable, url string) error {
	if _, err := statusOf(ctx, url); err != nil {
		return fmt.Errorf("%s names an engine that does not answer (%w): start it, or unset %s to use one of ours", variable,
			err, variable)
	}
	return nil
}

// useS3 uses the S3 that runs at the endpoint and creates the bucket there. It has to accept the
// keys of this package and to serve host-style addresses of s3.localhost.
func (e *Engines) useS3(ctx context.Context, endpoint string) error {
	e.S3 = endpoint
	if err := answersAt(ctx, EnvS3, endpoint); err != nil {
		return err
	}
	client := e.S3Client()
	_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &e.Bucket})
	if owned := (*types.BucketAlreadyOwnedByYou)(nil); err != nil && !errors.As(err, &owned) {
		return fmt.Errorf("create bucket %s at %s: %w", e.Bucket, EnvS3, err)
	}
	return e.nameDomain()
}
