package harness

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/clock"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/id"
)

// BackendEnv is an Env with access to the tables, the bucket and the AWS calls behind it, for state that no client can
// see or make.
type BackendEnv struct {
	*Env
	Faults *chaos.Injector
	DB     *dynamodb.Client // past the faults
	S3     *s3.Client
	Tables dynamo.Tables
	Clock  *clock.Clock // of the deployment, which stands still until the test moves it
}

// NewBackendEnv starts a deployment whose AWS calls go through its Faults.
func NewBackendEnv(t testing.TB, change ...func(*stack.Options)) *BackendEnv {
	t.Helper()
	p := &BackendEnv{Faults: chaos.For(t), Clock: clock.New(time.Now())}
	p.Env = NewEnv(t, append([]func(*stack.Options){func(o *stack.Options) {
		o.Lambda = false
		o.Now = p.Clock.Now
		o.Middleware = []func(*middleware.Stack) error{p.Faults.Add}
	}}, change...)...)
	e := p.Options.Engines
	p.Tables = dynamo.Named(p.Options.Tables)
	p.DB = e.DynamoDBClient()
	p.S3 = e.S3Client()
	return p
}

// PutObject stores an object under an upload session without a signed URL.
func (e *BackendEnv) PutObject(t testing.TB, g *wire.Agent, s id.Session, name, body string) {
	t.Helper()
	key := "o/" + string(TokenOf(t, g).Workspace) + "/" + string(s) + "/" + name
	_, err := e.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &e.Options.Engines.Bucket,
		Key:    &key,
		Body:   strings.NewReader(body),
	})
	NoError(t, err)
}
