package blob

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/entry/download"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/release"
)

var _ download.Objects = (*Store)(nil)

// ReleaseURL implements download.Objects. It looks whether the file is stored, because S3 would answer a client in XML.
func (s *Store) ReleaseURL(ctx context.Context, f release.File, expires time.Time) (string, error) {
	if !f.Valid() {
		return "", fault.NewCode(fault.NotFound)
	}
	name := f.Path()
	if _, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: &name}); err != nil {
		return "", failure(err)
	}
	terms, err := s.terms(ctx, expires)
	if err != nil {
		return "", err
	}
	signed, err := s.presign.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &name},
		s3.WithPresignExpires(terms.life), signedWith(terms.credentials))
	if err != nil {
		return "", unavailable(err)
	}
	return s.atEdge(signed.URL, name)
}
