package blob

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// Put implements upload.Objects. S3 checks the digest, and If-None-Match keeps it from replacing an object. If the
// object exists, an earlier attempt may have written it before it died or before its answer was lost. The checksum that
// S3 stores then decides whether it is the same object.
func (s *Store) Put(ctx context.Context, home id.Workspace, o tree.Object, body []byte, digest tree.Digest) error {
	name, err := key(home, o)
	if err != nil {
		return err
	}
	checksum := base64.StdEncoding.EncodeToString(digest[:])
	_, err = s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:         &s.bucket,
		Key:            &name,
		Body:           bytes.NewReader(body),
		ContentLength:  aws.Int64(int64(len(body))),
		ChecksumSHA256: &checksum,
		IfNoneMatch:    aws.String("*"),
	})
	switch {
	case err == nil:
		return nil
	case hasCode(err, "PreconditionFailed"):
		return s.compare(ctx, name, checksum)
	}
	return unavailable(err)
}

// compare returns an error unless the stored object has the checksum. An object without a checksum was not written by
// this service.
func (s *Store) compare(ctx context.Context, name, checksum string) error {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket: &s.bucket, Key: &name, ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return unavailable(err)
	}
	if there := aws.ToString(out.ChecksumSHA256); there != checksum {
		cause := fmt.Errorf("the object %s holds other bytes: SHA-256 %q, want %q", name, there, checksum)
		return fault.Wrap(fault.StorageUnavailable, cause,
			"the file store holds other bytes where a file belongs; create a new upload session")
	}
	return nil
}
