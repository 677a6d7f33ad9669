package edit_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/clock"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/tables"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// env is the service on tables of its own, with a member whose calls of AWS go through faults. What the test itself
// reads and writes does not.
type env struct {
	*edit.Service
	tables.Tables
	faults    *chaos.Injector
	calm      *edit.Service     // past the faults
	artifacts *artifact.Service // likewise
	objects   *blob.Store       // likewise
	limits    limits.Limits
	clock     *clock.Clock
	by        credential.Actor
	refuses   error // of the rate limits
	permits   atomic.Int64
	derived   bool // keys of requests are derived from messages
}

func newEnv(t testing.TB) *env {
	t.Helper()
	s := &env{
		Tables: tables.New(t),
		faults: chaos.For(t),
		limits: limits.Default(),
		clock:  clock.New(time.Now().UTC().Truncate(time.Millisecond)),
	}
	e := engine.Shared(t)
	bucket := func(add ...func(*s3.Options)) *s3.Client {
		return s3.NewFromConfig(e.AWS(), append(add, func(o *s3.Options) {
			o.BaseEndpoint, o.UsePathStyle = &e.S3, true
		})...)
	}
	s.objects = blob.New(bucket(), e.Bucket, "")
	objects := blob.New(bucket(func(o *s3.Options) { o.APIOptions = append(o.APIOptions, s.faults.Add) }), e.Bucket, "")
	stores := dynamo.New(dynamodb.New(s.DB.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(slices.Clone(o.APIOptions), s.faults.Add)
	}), s.Names)
	s.artifacts = s.publisher(t, s.Stores)
	s.calm = s.service(s.Stores, s.objects, s.artifacts)
	s.Service = s.service(stores, objects, s.publisher(t, stores))
	s.by = s.join(t)
	t.Cleanup(func() {
		ctx := context.Background()
		for _, breach := range invariant.Check(ctx, invariant.Deployment{
			DynamoDB: s.DB,
			Tables:   s.Names,
			S3:       bucket(),
			Bucket:   e.Bucket,
			Limits:   s.limits,
		}) {
			if !ofMembers(breach) {
				t.Error(breach)
			}
		}
	})
	return s
}

// ofMembers reports whether a breach is only that the workspace of a member was not made for an agent.
func ofMembers(breach error) bool {
	return slices.ContainsFunc([]string{" ephemeral.workspace.provisioned ", " workspace.created ", " keys and "},
		func(s string) bool { return strings.Contains(breach.Error(), s) })
}

func (e *env) service(stores dynamo.Stores, objects *blob.Store, artifacts *artifact.Service) *edit.Service {
	return &edit.Service{
		Uploads: &upload.Service{
			Store:   stores.Uploads,
			Index:   stores.ContentIndex,
			Objects: objects,
			Limits:  &e.limits,
			Now:     e.clock.Now,
		},
		Artifacts: artifacts,
		Store:     stores.Edits,
		Objects:   objects,
		Now:       e.clock.Now,
	}
}

func (e *env) publisher(t testing.TB, stores dynamo.Stores) *artifact.Service {
	t.Helper()
	return &artifact.Service{
		Store:  stores.Artifacts,
		URLs:   addresses.New(t),
		Limits: &e.limits,
		Now:    e.clock.Now,
	}
}

// join creates a member with a workspace.
func (e *env) join(t testing.TB) credential.Actor {
	t.Helper()
	by := e.Join(t, e.clock.Now())
	by.Policy = e.limits.Tiers[limits.Free]
	return by
}

// request is what a host knows of a request with a key when it has read the credential. The arguments are part of it.
func (e *env) request(t testing.TB, key, arguments string) edit.Request {
	t.Helper()
	record, err := e.Stores.Edits.Record(t.Context(), idempotency.Key{
		Actor:     e.by.Subject(),
		Operation: idempotency.CreateSession,
		Client:    key,
	})
	expect.OK(t, err)
	return edit.Request{
		Client:      key,
		Derived:     e.derived,
		Fingerprint: idempotency.FingerprintOf("tool", "", []byte(arguments)),
		Record:      record,
		Permit:      func() error { e.permits.Add(1); return e.refuses },
	}
}

func newKey() string { return "key-" + string(id.NewPublic()) }

func html(body string) edit.Text { return edit.Text{Body: body, Mode: media.HTML} }

// ask makes a request, which may be a repetition.
type ask func(t testing.TB) (edit.Result, error)

// publishes returns a request that publishes a text.
func (e *env) publishes(text edit.Text) ask {
	key := newKey()
	return func(t testing.TB) (edit.Result, error) {
		return e.Publish(t.Context(), e.by, e.request(t, key, `"`+text.Body+`"`), "A report", text)
	}
}

// revises returns a request that revises an artifact.
func (e *env) revises(a id.Artifact, text edit.Text) ask {
	key := newKey()
	return func(t testing.TB) (edit.Result, error) {
		return e.Revise(t.Context(), e.by, e.request(t, key, `"`+text.Body+`"`), e.seen(t, a), a, text)
	}
}

// edits returns a request that replaces a part of a file of an artifact.
func (e *env) edits(a id.Artifact, path, old, fresh string) ask {
	key := newKey()
	return func(t testing.TB) (edit.Result, error) {
		r := e.request(t, key, `["`+old+`","`+fresh+`"]`)
		return e.Edit(t.Context(), e.by, r, e.seen(t, a), a, path, []edit.Replacement{{Old: old, New: fresh}})
	}
}

// seen reads an artifact as a host does with the credential; nil if the member has none.
func (e *env) seen(t testing.TB, named id.Artifact) *artifact.Artifact {
	t.Helper()
	a, err := e.Stores.Artifacts.Artifact(t.Context(), named)
	expect.OK(t, err)
	return a
}

// artifact publishes a page and returns its artifact.
func (e *env) artifact(t testing.TB, body string) id.Artifact {
	t.Helper()
	return succeed(t, e.publishes(html(body))).Published.Artifact
}

func succeed(t testing.TB, a ask) edit.Result {
	t.Helper()
	r, err := a(t)
	expect.OK(t, err)
	return r
}

func wantCode(t testing.TB, what string, err error, want fault.Code) {
	t.Helper()
	if err == nil || fault.CodeOf(err) != want {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// files returns the current files of an artifact by path.
func (e *env) files(t testing.TB, named id.Artifact) map[string]string {
	t.Helper()
	a := e.seen(t, named)
	c, err := e.Stores.Artifacts.Contents(t.Context(), named, a.Current)
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	out := map[string]string{}
	for _, f := range c.Tree {
		body, err := e.objects.Open(t.Context(), a.StorageWorkspace, f.Object, 0, f.Size)
		if err == nil {
			out[f.Path], err = f.ReadAll(body)
		}
		expect.OK(t, err)
	}
	return out
}

func (e *env) wantFiles(t testing.TB, a id.Artifact, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, e.files(t, a)); diff != "" {
		t.Errorf("the artifact's files (-want +got):\n%s", diff)
	}
}

func (e *env) wantNumber(t testing.TB, a id.Artifact, want int) {
	t.Helper()
	if n := e.seen(t, a).Number; n != want {
		t.Errorf("the artifact has %d revisions, want %d", n, want)
	}
}

// calls returns the AWS calls that do makes, in their order.
func (e *env) calls(do func()) (names []string) {
	for _, c := range e.faults.Record(do) {
		names = append(names, c.Operation)
	}
	return names
}

// overtakes changes the page of an artifact by another request, past the faults.
func (e *env) overtakes(t testing.TB, a id.Artifact, old, fresh string) func() {
	return func() {
		edits := []edit.Replacement{{Old: old, New: fresh}}
		if _, err := e.calm.Edit(t.Context(), e.by, e.request(t, newKey(), ""), nil, a, "index.html", edits); err != nil {
			t.Error(err)
		}
	}
}

// word is a text that no other test has.
func word() string { return strings.ToLower(string(id.NewPublic())) }

// withFile publishes an artifact of one file, which need not be text, as a client does that uploads it.
func (e *env) withFile(t testing.TB, path, body string) id.Artifact {
	t.Helper()
	c := func(o idempotency.Operation, target string) idempotency.Command {
		return idempotency.Command{Key: idempotency.Key{
			Actor:     e.by.Subject(),
			Operation: o,
			Target:    target,
			Client:    newKey(),
		}}
	}
	digest := tree.DigestOf(body)
	o, err := e.Uploads.Open(t.Context(), e.by, c(idempotency.CreateSession, ""), nil, contract.CreateSession{
		Title:      "A file",
		Entrypoint: path,
		Files:      []contract.DeclaredFile{{Path: path, SizeBytes: int64(len(body)), SHA256: digest.String()}},
	}, func() error { return nil })
	if err == nil {
		err = e.objects.Put(t.Context(), o.Session.Home, o.Entries[0].Object, []byte(body), digest)
	}
	if err == nil {
		_, err = e.Uploads.Finalize(t.Context(), e.by, upload.Attempt{
			Command: c(idempotency.FinalizeSession, string(o.ID)),
			Session: o.Session,
			Entries: o.Entries,
		})
	}
	expect.OK(t, err)
	a, r, err := e.Stores.Artifacts.Draft(t.Context(), o.Artifact, o.Revision)
	if err == nil {
		_, err = e.artifacts.Publish(t.Context(), e.by, artifact.Target{
			Command:     c(idempotency.PublishRevision, string(o.Revision)),
			RequestedID: o.Artifact,
			Artifact:    a,
			Revision:    r,
		})
	}
	expect.OK(t, err)
	return o.Artifact
}

// delete ends an artifact.
func (e *env) delete(t testing.TB, a id.Artifact) {
	t.Helper()
	_, err := e.artifacts.Delete(t.Context(), e.by, artifact.Target{
		Command: idempotency.Command{Key: idempotency.Key{
			Actor:     e.by.Subject(),
			Operation: idempotency.DeleteArtifact,
			Target:    string(a),
			Client:    newKey(),
		}},
		RequestedID: a,
		Artifact:    e.seen(t, a),
	})
	expect.OK(t, err)
}
