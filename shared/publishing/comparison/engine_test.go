package comparison_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/tables"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/comparison"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/upload"
)

// env is the service on the engines, with a member who publishes texts.
type env struct {
	*comparison.Service
	tables.Tables
	texts *edit.Service
	by    credential.Actor
}

func newEnv(t *testing.T) *env {
	t.Helper()
	s, l, rings := &env{Tables: tables.New(t, meter.Add)}, limits.Default(), keyring.New()
	e := engine.Shared(t)
	objects := blob.New(s3.NewFromConfig(e.AWS(), func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = &e.S3, true
		o.APIOptions = append(o.APIOptions, meter.Add)
	}), e.Bucket, "")
	urls := &address.URLBuilder{Origins: address.Origins{API: "https://api.test", Content: "https://content.test"}}
	var err1, err2 error
	urls.ContentToken, err1 = token.New(rings.Content, token.Content, urls.Origins.Content)
	urls.ViewToken, err2 = token.New(rings.Content, token.AgentView, urls.Origins.API)
	cursors, err3 := cursor.New(rings.Seal)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	s.Service = &comparison.Service{
		Store:   s.Stores.Artifacts,
		Bytes:   objects,
		Cursors: cursors,
		Now:     time.Now,
	}
	s.texts = &edit.Service{
		Uploads: &upload.Service{
			Store:   s.Stores.Uploads,
			Index:   s.Stores.ContentIndex,
			Objects: objects,
			Limits:  &l,
			Now:     time.Now,
		},
		Artifacts: &artifact.Service{
			Store:  s.Stores.Artifacts,
			URLs:   urls,
			Limits: &l,
			Now:    time.Now,
		},
		Store:   s.Stores.Edits,
		Objects: objects,
		Now:     time.Now,
	}
	s.by = s.Join(t, time.Now())
	s.by.Policy = l.Tiers[limits.Free]
	return s
}

func request() edit.Request {
	return edit.Request{Client: string(id.NewPublic()), Permit: func() error { return nil }}
}

// revise publishes a text as a revision of an artifact, or as a new one.
func (s *env) revise(t *testing.T, a id.Artifact, text edit.Text) contract.Published {
	t.Helper()
	var r edit.Result
	var err error
	if a == "" {
		r, err = s.texts.Publish(t.Context(), s.by, request(), "T", text)
	} else {
		r, err = s.texts.Revise(t.Context(), s.by, request(), nil, a, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Published
}

func TestRevisionsOnTheEnginesAreCompared(t *testing.T) {
	s := newEnv(t)
	first := s.revise(t, "", edit.Text{Body: "<p>one\n", Mode: media.HTML})
	named := first.ArtifactID
	second := s.revise(t, named, edit.Text{Body: "# Notes\n", Mode: media.Markdown})
	s.revise(t, named, edit.Text{Body: "<p>two\n", Mode: media.HTML})
	for name, c := range map[string]struct {
		q     comparison.Query
		diffs []string // by path
		calls int
	}{
		"the last two": {
			comparison.Query{}, []string{"--- a/index.html\n+++ b/index.html\n@@ -1 +1 @@\n-<p>one\n+<p>two\n"}, 5,
		},
		"the first": {
			comparison.Query{To: first.RevisionID}, []string{"--- /dev/null\n+++ b/index.html\n@@ -0,0 +1 @@\n+<p>one\n"}, 3,
		},
		"two": {
			comparison.Query{From: first.RevisionID, To: second.RevisionID},
			[]string{"--- /dev/null\n+++ b/index.md\n@@ -0,0 +1 @@\n+# Notes\n"}, 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := s.Stores.Artifacts.Artifact(t.Context(), named)
			if err != nil {
				t.Fatal(err)
			}
			ctx, counts := meter.With(t.Context())
			out, err := s.Compare(ctx, s.by, a, c.q)
			if err != nil {
				t.Fatal(err)
			}
			var diffs []string
			for _, f := range out.Files {
				diffs = append(diffs, f.Diff)
			}
			if !slices.Equal(diffs, c.diffs) {
				t.Errorf("%q, want %q", diffs, c.diffs)
			}
			if n := counts.Calls(); n > c.calls {
				t.Errorf("it makes %d calls, want at most %d", n, c.calls)
			}
		})
	}
	a, err := s.Stores.Artifacts.Artifact(t.Context(), named)
	if err != nil {
		t.Fatal(err)
	}
	other := s.Join(t, time.Now())
	if _, err := s.Compare(t.Context(), other, a, comparison.Query{}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("another member compares: %v", err)
	}
}
