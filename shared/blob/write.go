package blob

import (
	"bytes"
	"context"
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/id"
	"vitrine/shared/tree"
)

// Put implements upload.Objects. S3 checks the digest. The same bytes may be written again: an object never changes.
func (s *Store) Put(ctx context.Context, home id.Workspace, o tree.Object, body []byte, digest tree.Digest) error {
	name, err := key(home, o)
	if err != nil {
		return err
	}
	_, err = s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.bucket, Key: &name, Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(digest[:])),
	})
	if err != nil {
		return unavailable(err)
	}
	return nil
}
