package copies_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
)

// env is a deployment whose engines keep their data in a folder, and a folder for its copies.
type env struct {
	*harness.Env
	options copies.Options
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return newEnvOn(t, engines.Options{Dir: filepath.Join(t.TempDir(), "data"), Own: true})
}

func newEnvOn(t *testing.T, on engines.Options) *env {
	t.Helper()
	e := expect.Value(engines.Start(context.Background(), on))(t)
	t.Cleanup(func() { e.Close() })
	d := &env{Env: harness.NewEnv(t, func(o *stack.Options) { o.Engines, o.Data, o.Limits.Off = e, on.Dir, true })}
	at := time.Now()
	d.options = copies.Options{
		Data:    on.Dir,
		To:      filepath.Join(t.TempDir(), "copies"),
		Engines: e,
		Tables:  dynamo.Named(d.Options.Tables),
		Out:     t.Output(),
		Now: func() time.Time { // no two copies are of one second
			at = at.Add(time.Second)
			return at
		},
	}
	return d
}

func (env *env) take(t *testing.T) copies.Copy {
	t.Helper()
	return expect.Value(copies.Take(t.Context(), env.options))(t)
}

// list returns the folders of the finished copies, the newest first.
func (env *env) list(t *testing.T) (folders []string) {
	t.Helper()
	for _, dir := range slices.Backward(expect.Value(filepath.Glob(filepath.Join(env.options.To, "*Z")))(t)) {
		folders = append(folders, expect.Value(copies.Open(dir))(t).Dir)
	}
	return folders
}

// wantNothingUnfinished checks that no folder of an unfinished copy is left.
func (env *env) wantNothingUnfinished(t *testing.T) {
	t.Helper()
	if left := expect.Value(filepath.Glob(filepath.Join(env.options.To, "*.partial")))(t); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// restored is a deployment with the tables and objects of a copy, in engines of its own.
func restored(t *testing.T, c copies.Copy) invariant.Deployment {
	t.Helper()
	dir := t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(dir, "dynamodb.db"), expect.Value(os.ReadFile(c.Database()))(t), 0o600))
	e := expect.Value(engines.Start(t.Context(), engines.Options{Dir: dir, Own: true}))(t)
	t.Cleanup(func() { e.Close() })
	d := invariant.Deployment{
		DynamoDB: e.DynamoDBClient(),
		Tables:   c.Tables,
		S3:       e.S3Client(),
		Bucket:   e.Bucket,
	}
	d.Limits.Off = true
	for _, o := range c.Objects {
		body := expect.Value(os.Open(c.ObjectFile(o.Key)))(t)
		_, err := d.S3.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket:      &d.Bucket,
			Key:         aws.String(o.Key),
			Body:        body,
			ContentType: aws.String(o.ContentType),
		})
		expect.OK(t, err, body.Close())
	}
	return d
}

// stat describes a file that has to be there.
func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	return expect.Value(os.Lstat(path))(t)
}
