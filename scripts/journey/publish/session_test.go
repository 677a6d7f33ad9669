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

	"vitrine/scripts/internal/local/stack"
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

func TestAMissingFileIsNamedAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	files := []wire.File{harness.Page("a"), {Path: "dir/späť.txt", Body: []byte("late")}}
	s := openSession(t, g, files...)
	harness.Must(g.Put(ctx, s.Files[0], files[0].Body))(t)
	key := wire.NewKey()
	a := harness.TryFinalize(t, g, key, s.UploadSessionID)
	if harness.WantRefused(t, a, 409, fault.UploadIncomplete); a.Message() != files[1].Path {
		t.Errorf("the message is %q", a.Message())
	}
	wantIncomplete(t, p, g, s.UploadSessionID, files[1].Path)
	harness.Must(g.Put(ctx, s.Files[1], files[1].Body))(t)
	d := harness.Must(g.Finalize(ctx, key, s.UploadSessionID))(t)
	if d.FileCount != 2 || d.SizeBytes != int64(len(files[0].Body)+4) || d.Status != "draft" {
		t.Errorf("finalized as %+v", d)
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

func TestASessionThatEndedCannotBeFinalized(t *testing.T) {
	t.Parallel()
	now := &harness.Clock{Now: time.Now()}
	p := harness.NewBackendEnv(t, now.Use)
	g := p.NewAgent(t)
	late := openSession(t, g, harness.Page("late"))
	key, request := wire.NewKey(), wire.Declare("Done", harness.Page("done"))
	done := harness.Must(g.Draft(ctx, key, request, harness.Page("done")))(t)
	harness.Must(g.Put(ctx, late.Files[0], harness.Page("late").Body))(t)
	if left := time.Until(late.ExpiresAt.Time); left < limits.SessionLife-time.Minute || left > limits.SessionLife {
		t.Errorf("the session lives for %s", left)
	}
	now.Advance(limits.SessionLife)
	before := p.Snapshot(t)
	harness.WantRefused(t, harness.TryFinalize(t, g, wire.NewKey(), late.UploadSessionID), 409, fault.UploadSessionExpired)
	p.WantUnchanged(t, before)
	if again := harness.Must(g.Finalize(ctx, key, done.UploadSessionID))(t); again != done {
		t.Errorf("the replay of a finished session answers %+v", again)
	}
}

// TestARepeatedCreateAfterTheSessionEndedSaysSo moves the end of the session instead of the clock: signatures know only
// the real time.
func TestARepeatedCreateAfterTheSessionEndedSaysSo(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	key, r := wire.NewKey(), wire.Declare("Late", harness.Page("late"))
	s := harness.Must(g.Create(ctx, key, r))(t)
	p.Update(t, "U#"+string(s.UploadSessionID), "META", map[string]any{"exp": time.Now().Add(-time.Hour)})
	harness.WantRefused(t, harness.TryCreate(t, g, key, r), 409, fault.UploadSessionExpired)
	if fresh := harness.Must(g.Create(ctx, wire.NewKey(), r))(t); fresh.UploadSessionID == s.UploadSessionID {
		t.Error("another key gives the ended session")
	}
}

func TestF08FinalizingAgainAnswersTheSameWhateverTheKey(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	s := openSession(t, g, harness.Page("twice"))
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("twice").Body))(t)
	key := wire.NewKey()
	first := harness.Must(g.Finalize(ctx, key, s.UploadSessionID))(t)
	before := p.Snapshot(t)
	for _, k := range []string{key, wire.NewKey()} {
		if again := harness.Must(g.Finalize(ctx, k, s.UploadSessionID))(t); again != first {
			t.Errorf("again it answers %+v", again)
		}
	}
	harness.Must(g.Publish(ctx, wire.NewKey(), first.ArtifactID, first.RevisionID))(t)
	if again := harness.Must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t); again != first {
		t.Errorf("after the publish it answers %+v", again)
	}
	if len(before) == len(p.Snapshot(t)) {
		t.Error("the publish stored nothing") // else the comparison above proves nothing
	}
	harness.WantRefused(t, harness.TryFinalize(t, p.NewAgent(t), key, s.UploadSessionID), 404, fault.NotFound)
}

func TestF23ThereIsOneDraftAtATime(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	a := harness.PublishPage(t, g, "first")
	open := func(words string) contract.Session {
		r := wire.Declare(words, harness.Page(words))
		r.ArtifactID = a.ArtifactID
		s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
		harness.Must(g.Put(ctx, s.Files[0], harness.Page(words).Body))(t)
		return s
	}
	one, two := open("one"), open("two")
	d := harness.Must(g.Finalize(ctx, wire.NewKey(), one.UploadSessionID))(t)
	key := wire.NewKey()
	before := p.Snapshot(t)
	harness.WantRefused(t, harness.TryFinalize(t, g, key, two.UploadSessionID), 409, fault.DraftRevisionConflict)
	p.WantUnchanged(t, before)
	harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	second := harness.Must(g.Finalize(ctx, key, two.UploadSessionID))(t)
	p.WantContent(
		t,
		harness.Must(g.Publish(ctx, wire.NewKey(), second.ArtifactID, second.RevisionID))(t).RevisionContentURL,
		harness.Page("two").Body,
	)
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

func TestCapsHoldExactlyAndInOrder(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited, func(o *stack.Options) {
		harness.WithPolicy(func(p *limits.Policy) {
			p.FileCount = 3
			p.FileSize = 100
			p.ArtifactSize = 250
		})(&o.Limits)
	})
	g := p.NewAgent(t)
	sized := func(sizes ...int) (files []wire.File) {
		for i, n := range sizes {
			files = append(files, wire.File{Path: fmt.Sprint("f", i), Body: harness.RandomBytes(uint64(i), n)})
		}
		return files
	}
	declared := func(entry string, sizes ...int) contract.CreateSession {
		r := wire.Declare("Caps", sized(sizes...)...)
		r.Entrypoint = entry
		return r
	}
	before := p.Snapshot(t)
	harness.WantRefused(
		t, harness.TryCreate(t, g, wire.NewKey(), declared("none", 1, 1, 101, 250)), 400, fault.FileCountCapExceeded,
	)
	harness.WantRefused(
		t, harness.TryCreate(t, g, wire.NewKey(), declared("none", 1, 101, 200)), 400, fault.FileSizeCapExceeded,
	)
	harness.WantRefused(
		t, harness.TryCreate(t, g, wire.NewKey(), declared("none", 100, 100, 51)), 400, fault.RevisionSizeCapExceeded,
	)
	harness.WantRefused(
		t, harness.TryCreate(t, g, wire.NewKey(), declared("none", 100, 100, 50)), 422, fault.EntrypointNotInRevision,
	)
	harness.WantRefused(t, harness.TryCreate(t, g, wire.NewKey(), declared("../f0", 1)), 400, fault.InvalidRequest)
	p.WantUnchanged(t, before)
	harness.Must(g.PublishFiles(ctx, "At the caps", "", sized(100, 100, 50)...))(t)
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
