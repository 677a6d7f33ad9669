package harness

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/id"
)

// BackendEnv is a deployment with a hand in its tables, objects and AWS clients, for what no client can see or do.
type BackendEnv struct {
	*Env
	Faults *chaos.Injector
	DB     *dynamodb.Client // past the faults
	S3     *s3.Client
	Tables dynamo.Tables
	Clock  *Clock // of the deployment, if the test moves it
}

// NewBackendEnv starts a deployment of its own that the test can look into.
func NewBackendEnv(t testing.TB, change ...func(*stack.Options)) *BackendEnv {
	t.Helper()
	p := &BackendEnv{Faults: chaos.For(t)}
	p.Env = NewEnv(t, append([]func(*stack.Options){func(o *stack.Options) {
		o.Lambda = false
		o.Middleware = []func(*middleware.Stack) error{p.Faults.Add}
	}}, change...)...)
	e := p.Options.Engines
	p.Tables = dynamo.Named(p.Options.Tables)
	p.DB = dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) { o.BaseEndpoint = &e.DynamoDB })
	p.S3 = s3.NewFromConfig(e.AWS(), func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &e.S3, true })
	return p
}

// PutObject puts an object into a session's folder past the signed URLs.
func (p *BackendEnv) PutObject(t testing.TB, g *wire.Agent, s id.Session, name, body string) {
	t.Helper()
	key := "o/" + string(TokenOf(t, g).Workspace) + "/" + string(s) + "/" + name
	_, err := p.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &p.Options.Engines.Bucket,
		Key:    &key,
		Body:   strings.NewReader(body),
	})
	NoError(t, err)
}
