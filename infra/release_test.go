package main

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// installs fetches what the CLI is installed from, after a file of a release was put into the bucket.
func (h *harness) installs(t *testing.T, b *browser) {
	t.Helper()
	e, path := engine.Shared(t), release.File{Version: contract.Release, Name: release.Checksums}.Path()
	client := s3.NewFromConfig(e.AWS(), func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &e.S3, true })
	_, err := client.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: &e.Bucket, Key: &path, Body: strings.NewReader("sums")})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"/install.sh", "/install.ps1", "/" + path} {
		b.visit(page)
	}
}
