package publish

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestF15AFileWithoutBytesNeedsNoUpload(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	r := wire.Declare("Empty", harness.Page("e"), wire.File{Path: "empty.txt"}, wire.File{Path: "also.txt"})
	r.Files[2].SHA256 = ""
	s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	for _, u := range s.Files[1:] {
		if u.Status != "reused" || u.PutURL != "" {
			t.Errorf("%s: %+v", u.Path, u)
		}
	}
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("e").Body))(t)
	d := harness.Must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	for _, f := range harness.Must(g.AgentView(ctx, d.ArtifactID))(t).Files[1:] {
		if f.SHA256 != wire.Digest(nil) || f.SizeBytes != 0 {
			t.Errorf("the view says %+v", f)
		}
		p.WantContent(t, f.URL, nil)
	}
}

func TestAFileWithoutDeclaredDigestIsHashedWhenTheSessionEnds(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	files := []wire.File{harness.Page("x"), {
		Path: "large.bin",
		Body: harness.RandomBytes(9, 3<<20),
	}, {Path: "b.bin", Body: harness.RandomBytes(10, 1000)}}
	r := wire.Declare("No digests", files...)
	for i := range r.Files {
		r.Files[i].SHA256 = ""
	}
	d := harness.Must(g.Draft(ctx, wire.NewKey(), r, files...))(t)
	harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	for i, f := range harness.Must(g.AgentView(ctx, d.ArtifactID))(t).Files {
		if f.SHA256 != wire.Digest(files[i].Body) {
			t.Errorf("the view says %+v", f)
		}
		p.WantContent(t, f.URL, files[i].Body)
	}
	// What was hashed can be reused.
	again := wire.Declare("Digests", files...)
	again.ArtifactID = d.ArtifactID
	if s := harness.Must(g.Create(ctx, wire.NewKey(), again))(t); s.Files[1].Status != "reused" {
		t.Errorf("known bytes are asked for again: %s", s.Files[1].Status)
	}
}

func TestT62ObjectsThatNobodyDeclaredAreNoticed(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	for _, name := range []string{"001", "999", "1", "000x", "p000", "deep/er"} {
		s := openSession(t, g, harness.Page("x"))
		harness.Must(g.Put(ctx, s.Files[0], harness.Page("x").Body))(t)
		p.PutObject(t, g, s.UploadSessionID, name, "stranger")
		before := p.Snapshot(t)
		harness.WantRefused(t, harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID), 409, fault.UnexpectedUploadObject)
		p.WantUnchanged(t, before)
	}
	s := openSession(t, g, harness.Page("x"))
	p.PutObject(t, g, s.UploadSessionID, "000", "larger than what was declared, put by other means than the URL")
	wantIncomplete(t, p, g, s.UploadSessionID, harness.Page("x").Path)
	s = openSession(t, g, wire.File{Path: "empty.txt"})
	p.PutObject(t, g, s.UploadSessionID, "000", "bytes for an empty file")
	harness.WantRefused(t, harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID), 409, fault.UnexpectedUploadObject)
}

func TestKnownBytesAreNotAskedForAgain(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g, stranger := p.NewAgent(t), p.NewAgent(t)
	shared := wire.File{Path: "shared.bin", Body: harness.RandomBytes(11, 5000)}
	twin := wire.File{Path: "twin.bin", Body: shared.Body}
	statuses := func(s contract.Session) (out []string) {
		for _, u := range s.Files {
			out = append(out, u.Status)
		}
		return out
	}
	first := openSession(t, g, shared, twin)
	if got := statuses(first); got[0] != "upload_required" || got[1] != "reused" {
		t.Errorf("equal files of a session: %v", got)
	}
	a := harness.Must(g.PublishFiles(ctx, "first", "", shared, twin, harness.Page("first")))(t)
	moved := wire.File{Path: "moved/elsewhere.bin", Body: shared.Body}
	r := wire.Declare("second", harness.Page("second"), moved)
	r.ArtifactID = a.ArtifactID
	got := statuses(harness.Must(g.Create(ctx, wire.NewKey(), r))(t))
	if got[0] != "upload_required" || got[1] != "reused" {
		t.Errorf("a revision with known bytes: %v", got)
	}
	b := harness.Must(g.PublishFiles(ctx, "second", a.ArtifactID, harness.Page("second"), moved))(t)
	view := harness.Must(g.AgentView(ctx, b.ArtifactID))(t)
	p.WantContent(t, view.Files[1].URL, shared.Body)
	lie := wire.Declare("lie", shared)
	lie.ArtifactID, lie.Files[0].SizeBytes = a.ArtifactID, 4999 // the digest alone is not enough
	if got := statuses(harness.Must(g.Create(ctx, wire.NewKey(), lie))(t)); got[0] != "upload_required" {
		t.Errorf("known digest, other size: %v", got)
	}
	if got := statuses(openSession(t, stranger, shared)); got[0] != "upload_required" { // F69
		t.Errorf("bytes of another workspace: %v", got)
	}
}

func TestF66BytesOfARevisionThatIsGoneAreNotReused(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	a := harness.PublishPage(t, g, "kept")
	r := wire.Declare("reuses", harness.Page("kept"))
	r.ArtifactID = a.ArtifactID
	s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	if s.Files[0].Status != "reused" {
		t.Fatalf("known bytes are %s", s.Files[0].Status)
	}
	p.Update(t, "A#"+string(a.ArtifactID), "R#"+string(a.RevisionID), map[string]any{"status": "retained"})
	before := p.Snapshot(t)
	got := harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID)
	harness.WantRefused(t, got, 400, fault.InvalidRequest)
	if !strings.Contains(got.Message(), "base_revision_not_publishable") {
		t.Errorf("the message is %q", got.Message())
	}
	p.WantUnchanged(t, before)
}

func TestAHundredFilesAreOneArtifact(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	files := make([]wire.File, limits.FilesPerTree)
	for i := range files {
		files[i] = wire.File{
			Path: fmt.Sprintf("d%d/file %02d.txt", i%10, i),
			Body: bytes.Repeat([]byte{byte('a' + i%26)}, 1+i*97%4000),
		}
	}
	a := harness.Must(g.PublishFiles(ctx, "Hundred", "", files...))(t)
	view := harness.Must(g.AgentView(ctx, a.ArtifactID))(t)
	if len(view.Files) != len(files) {
		t.Fatalf("the view has %d files", len(view.Files))
	}
	for i, f := range view.Files { // in the order of the request
		if f.Path != files[i].Path || f.SHA256 != wire.Digest(files[i].Body) {
			t.Errorf("file %d is %+v", i, f)
		}
		p.WantContent(t, f.URL, files[i].Body)
	}
	more := append(files, wire.File{Path: "one more"})
	harness.WantRefused(t, harness.TryCreate(t, g, wire.NewKey(), wire.Declare("101", more...)), 400, fault.InvalidRequest)
}

func TestWhatASessionSaysFitsTheRequest(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	files := []wire.File{harness.Page("x"), {Path: "b.bin", Body: harness.RandomBytes(12, 77)}}
	s := openSession(t, g, files...)
	if _, err := s.RevisionID.Bits(); err != nil || s.Status != "pending" {
		t.Errorf("%+v", s)
	}
	for i, u := range s.Files {
		if u.Path != files[i].Path || u.RequiredHeaders["content-length"] != fmt.Sprint(len(files[i].Body)) ||
			u.RequiredHeaders["if-none-match"] != "*" {
			t.Errorf("%s wants %v", u.Path, u.RequiredHeaders)
		}
		names := slices.Sorted(maps.Keys(u.RequiredHeaders))
		signed := strings.Join(append(names[:1:1], append([]string{"host"}, names[1:]...)...), "%3B")
		if !strings.Contains(u.PutURL, "X-Amz-SignedHeaders="+signed+"&") {
			t.Errorf(
				"F14: %v are to be sent, signed is %s", names, u.PutURL[strings.Index(u.PutURL, "X-Amz-SignedHeaders"):][:100],
			)
		}
		if left := time.Until(u.ExpiresAt.Time); left > limits.PutURLLife || left < limits.PutURLLife-time.Minute {
			t.Errorf("the URL lives for %s", left)
		}
	}
	a := harness.Do(t, g, "GET", p.Origins.API+"/v1/artifacts", nil)
	if strings.Contains(string(a.Body), string(s.ArtifactID)) || a.Status != http.StatusOK {
		t.Error("an artifact is listed before its first session ended")
	}
	harness.WantRefused(
		t, harness.TryPublish(t, g, wire.NewKey(), s.ArtifactID, s.RevisionID, nil), 404, fault.ArtifactNotFound,
	)
	harness.WantRefused(t, harness.TryFinalize(t, g, wire.NewKey(), id.NewSession()), 404, fault.NotFound)
}
