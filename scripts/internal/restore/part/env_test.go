package part

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

var ctx = context.Background()

// env is a deployment, a copy of it at an instant, and the restore of a part.
type env struct {
	*harness.JobEnv
	owner *harness.Claimant
	out   bytes.Buffer
	copy  saved // with the objects of the instant
	Restore
}

// newEnv starts a deployment with an owner. Jobs run beside each wait of the restore.
func newEnv(t testing.TB) *env {
	t.Helper()
	e := &env{JobEnv: harness.NewJobEnv(t, harness.Unlimited), copy: saved(t.TempDir())}
	e.owner = e.NewClaimant(t)
	e.Restore = Restore{
		To:   e.Deployment(),
		Now:  e.Clock.Now,
		Out:  &e.out,
		Copy: e.copy,
		Wait: func(ctx context.Context, d time.Duration) error {
			e.Clock.Advance(d)
			return errors.Join(e.Host.Run(ctx), e.Bundler.Run(ctx))
		},
	}
	return e
}

// saved is a folder with the objects of a copy.
type saved string

func (s saved) file(key string) string {
	return filepath.Join(string(s), strings.ReplaceAll(key, "/", "_"))
}

// Open implements objects.Source.
func (s saved) Open(_ context.Context, key string) (objects.Object, error) {
	file, err := os.Open(s.file(key))
	if err != nil {
		return objects.Object{}, objects.ErrGone
	}
	return objects.Object{ReadSeekCloser: file}, nil
}

// take copies the tables and the objects as they are now.
func (e *env) take(t testing.TB) {
	t.Helper()
	e.From, e.Instant = e.To, e.Clock.Now()
	e.From.Tables = dynamo.Named("copy-" + string(id.NewPublic()))
	harness.NoError(t, dynamo.CreateTables(ctx, e.DB, e.From.Tables))
	for from, to := range map[string]string{
		e.To.Tables.Core:   e.From.Tables.Core,
		e.To.Tables.Events: e.From.Tables.Events,
		e.To.Tables.Hot:    e.From.Tables.Hot,
	} {
		for _, i := range e.Scan(t, from) {
			harness.Must(e.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &to, Item: i}))(t)
		}
	}
	e.Clock.Advance(time.Minute)
	objects := harness.Must(invariant.Objects(ctx, e.To, string(e.owner.Workspace)))(t)
	for key := range objects {
		out := harness.Must(e.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &e.To.Bucket, Key: &key}))(t)
		var body bytes.Buffer
		harness.Must(body.ReadFrom(out.Body))(t)
		out.Body.Close()
		harness.NoError(t, os.WriteFile(e.copy.file(key), body.Bytes(), 0o600))
	}
}

// logoOf returns a file whose bytes depend on words.
func logoOf(words string) wire.File {
	return wire.File{Path: "logo.bin", Body: bytes.Repeat([]byte("logo of "+words), 300)}
}

// publish publishes two revisions of an artifact, of which the second keeps a file of the first.
func (e *env) publish(t testing.TB, words string) contract.Published {
	t.Helper()
	logo := logoOf(words)
	p := harness.Must(e.owner.PublishFiles(ctx, words, "", harness.Page("before "+words), logo))(t)
	e.Clock.Advance(limits.UploadPatience)
	harness.NoError(t, errors.Join(e.Host.Run(ctx), e.Bundler.Run(ctx)))
	return harness.Must(e.owner.PublishFiles(ctx, words, p.ArtifactID, harness.Page(words), logo))(t)
}

// remove deletes an artifact as its owner does.
func (e *env) remove(t testing.TB, p contract.Published) {
	t.Helper()
	harness.DeleteArtifact(t, e.owner.Agent, p.ArtifactID)
}

// The states of a deletion that a restore meets.
var endings = map[string]func(testing.TB, *env){
	"before the purge": func(testing.TB, *env) {},
	"purged":           func(t testing.TB, e *env) { e.RunJobs(t) },
	"collected":        func(t testing.TB, e *env) { e.RunCollector(t) },
}

// wantBack checks that the owner reads the artifact with its words, that what was shared stays closed, and that all
// invariants hold, now and when everything is collected.
func (e *env) wantBack(t testing.TB, p contract.Published, words string) {
	t.Helper()
	e.wantShown(t, p, words)
	e.CheckInvariants(t)
	e.Clock.Advance(limits.BundleLease)
	e.RunCollector(t)
	e.wantShown(t, p, words)
}

// forget deletes an object with all its versions, here and in the copy.
func (e *env) forget(t testing.TB, key string) {
	t.Helper()
	harness.NoError(t, os.Remove(e.copy.file(key)))
	e.forgetVersions(t, key)
}

// forgetVersions deletes an object with all its versions.
func (e *env) forgetVersions(t testing.TB, key string) {
	t.Helper()
	out := harness.Must(e.S3.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &e.To.Bucket, Prefix: &key}))(t)
	for _, one := range out.Versions {
		harness.Must(e.S3.DeleteObject(ctx, &s3.DeleteObjectInput{
			Bucket: &e.To.Bucket, Key: &key, VersionId: one.VersionId,
		}))(t)
	}
}

// pass lets time pass and runs no jobs.
func (e *env) pass(_ context.Context, d time.Duration) error {
	e.Clock.Advance(d)
	return nil
}

// withFaults lets the calls of the restore meet faults, and nobody else's.
func (e *env) withFaults(t testing.TB) *chaos.Injector {
	t.Helper()
	faults := chaos.For(t)
	e.To.DynamoDB, e.To.S3 = e.Options.Engines.DynamoDBClient(faults.Add), e.Options.Engines.S3Client(faults.Add)
	return faults
}

// wantShown checks that the owner reads the artifact with its words.
func (e *env) wantShown(t testing.TB, p contract.Published, words string) {
	t.Helper()
	view := harness.Call[contract.AgentView](t, e.owner.Agent, 200, "GET",
		"/v1/artifacts/"+string(p.ArtifactID)+"/agent-view", nil)
	if view.RevisionID != p.RevisionID {
		t.Errorf("it shows revision %s, want %s", view.RevisionID, p.RevisionID)
	}
	e.WantContent(t, view.RevisionContentURL, harness.Page(words).Body)
	if a := e.Get(t, p.AgentViewURL, "Accept", "application/json"); a.Status != 404 {
		t.Errorf("the public view answers %d", a.Status)
	}
}

// objectOf returns the key of the object of a file.
func (e *env) objectOf(t testing.TB, p contract.Published, path string) string {
	t.Helper()
	saved := harness.Must(e.from().Read(ctx, p.ArtifactID))(t)
	f, ok := saved.Trees[p.RevisionID].Find(path)
	if !ok {
		t.Fatalf("no file %s", path)
	}
	return harness.Must(blob.Key(saved.Artifact.StorageWorkspace, f.Object))(t)
}

// overwrite replaces the bytes of an object.
func (e *env) overwrite(t testing.TB, key, words string) {
	t.Helper()
	harness.Must(e.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &e.To.Bucket, Key: &key, Body: strings.NewReader(words),
	}))(t)
}
