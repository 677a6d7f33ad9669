package faults

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// deleteSessionObject deletes an object of a session.
func deleteSessionObject(t testing.TB, s *harness.FaultEnv, g *wire.Agent, u id.Session, name string) {
	t.Helper()
	key := "o/" + string(harness.TokenOf(t, g).Workspace) + "/" + string(u) + "/" + name
	harness.Must(s.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.Options.Engines.Bucket, Key: &key}))(t)
}
