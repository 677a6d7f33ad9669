package journey

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
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestF15AFileWithoutBytesNeedsNoUpload(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	r := wire.Declare("Empty", page("e"), wire.File{Path: "empty.txt"}, wire.File{Path: "also.txt"})
	r.Files[2].SHA256 = ""
	s := must(g.Create(ctx, wire.NewKey(), r))(t)
	for _, u := range s.Files[1:] {
		if u.Status != "reused" || u.PutURL != "" {
			t.Errorf("%s: %+v", u.Path, u)
		}
	}
	must(g.Put(ctx, s.Files[0], page("e").Body))(t)
	d := must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	for _, f := range must(g.AgentView(ctx, d.ArtifactID))(t).Files[1:] {
		if f.SHA256 != wire.Digest(nil) || f.SizeBytes != 0 {
			t.Errorf("the view says %+v", f)
		}
		p.reads(t, f.URL, nil)
	}
}

func TestAFileWithoutDeclaredDigestIsHashedWhenTheSessionEnds(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	files := []wire.File{page("x"), {Path: "large.bin", Body: noise(9, 3<<20)}, {Path: "b.bin", Body: noise(10, 1000)}}
	r := wire.Declare("No digests", files...)
	for i := range r.Files {
		r.Files[i].SHA256 = ""
	}
	d := must(g.Draft(ctx, wire.NewKey(), r, files...))(t)
	must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	for i, f := range must(g.AgentView(ctx, d.ArtifactID))(t).Files {
		if f.SHA256 != wire.Digest(files[i].Body) {
			t.Errorf("the view says %+v", f)
		}
		p.reads(t, f.URL, files[i].Body)
	}
	// What was hashed can be reused.
	again := wire.Declare("Digests", files...)
	again.ArtifactID = d.ArtifactID
	if s := must(g.Create(ctx, wire.NewKey(), again))(t); s.Files[1].Status != "reused" {
		t.Errorf("known bytes are asked for again: %s", s.Files[1].Status)
	}
}

func TestAMissingFileIsNamedAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	files := []wire.File{page("a"), {Path: "dir/späť.txt", Body: []byte("late")}}
	s := opened(t, g, files...)
	must(g.Put(ctx, s.Files[0], files[0].Body))(t)
	key := wire.NewKey()
	a := tryFinalize(t, g, key, s.UploadSessionID)
	if refused(t, a, 409, fault.UploadIncomplete); a.Message() != files[1].Path {
		t.Errorf("the message is %q", a.Message())
	}
	p.incomplete(t, g, s.UploadSessionID, files[1].Path)
	must(g.Put(ctx, s.Files[1], files[1].Body))(t)
	d := must(g.Finalize(ctx, key, s.UploadSessionID))(t)
	if d.FileCount != 2 || d.SizeBytes != int64(len(files[0].Body)+4) || d.Status != "draft" {
		t.Errorf("finalized as %+v", d)
	}
}

func TestT62ObjectsThatNobodyDeclaredAreNoticed(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	for _, name := range []string{"001", "999", "1", "000x", "p000", "deep/er"} {
		s := opened(t, g, page("x"))
		must(g.Put(ctx, s.Files[0], page("x").Body))(t)
		p.smuggle(t, g, s.UploadSessionID, name, "stranger")
		before := p.state(t)
		refused(t, tryFinalize(t, g, wire.NewKey(), s.UploadSessionID), 409, fault.UnexpectedUploadObject)
		p.unchanged(t, before)
	}
	s := opened(t, g, page("x"))
	p.smuggle(t, g, s.UploadSessionID, "000", "larger than what was declared, put by other means than the URL")
	p.incomplete(t, g, s.UploadSessionID, page("x").Path)
	s = opened(t, g, wire.File{Path: "empty.txt"})
	p.smuggle(t, g, s.UploadSessionID, "000", "bytes for an empty file")
	refused(t, tryFinalize(t, g, wire.NewKey(), s.UploadSessionID), 409, fault.UnexpectedUploadObject)
}

func TestASessionThatEndedCannotBeFinalized(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	p := pry(t, now.rule)
	g := p.agent(t)
	late := opened(t, g, page("late"))
	key, request := wire.NewKey(), wire.Declare("Done", page("done"))
	done := must(g.Draft(ctx, key, request, page("done")))(t)
	must(g.Put(ctx, late.Files[0], page("late").Body))(t)
	if left := time.Until(late.ExpiresAt.Time); left < limits.SessionLife-time.Minute || left > limits.SessionLife {
		t.Errorf("the session lives for %s", left)
	}
	now.pass(limits.SessionLife)
	before := p.state(t)
	refused(t, tryFinalize(t, g, wire.NewKey(), late.UploadSessionID), 409, fault.UploadSessionExpired)
	p.unchanged(t, before)
	if again := must(g.Finalize(ctx, key, done.UploadSessionID))(t); again != done {
		t.Errorf("the replay of a finished session answers %+v", again)
	}
}

// TestARepeatedCreateAfterTheSessionEndedSaysSo moves the end of the session instead of the clock: signatures know only the
// real time.
func TestARepeatedCreateAfterTheSessionEndedSaysSo(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	key, r := wire.NewKey(), wire.Declare("Late", page("late"))
	s := must(g.Create(ctx, key, r))(t)
	p.change(t, "U#"+string(s.UploadSessionID), "META", map[string]any{"exp": time.Now().Add(-time.Hour)})
	refused(t, tryCreate(t, g, key, r), 409, fault.UploadSessionExpired)
	if fresh := must(g.Create(ctx, wire.NewKey(), r))(t); fresh.UploadSessionID == s.UploadSessionID {
		t.Error("another key gives the ended session")
	}
}

func TestF08FinalizingAgainAnswersTheSameWhateverTheKey(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	s := opened(t, g, page("twice"))
	must(g.Put(ctx, s.Files[0], page("twice").Body))(t)
	key := wire.NewKey()
	first := must(g.Finalize(ctx, key, s.UploadSessionID))(t)
	before := p.state(t)
	for _, k := range []string{key, wire.NewKey()} {
		if again := must(g.Finalize(ctx, k, s.UploadSessionID))(t); again != first {
			t.Errorf("again it answers %+v", again)
		}
	}
	must(g.Publish(ctx, wire.NewKey(), first.ArtifactID, first.RevisionID))(t)
	if again := must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t); again != first {
		t.Errorf("after the publish it answers %+v", again)
	}
	if len(before) == len(p.state(t)) {
		t.Error("the publish stored nothing") // else the comparison above proves nothing
	}
	refused(t, tryFinalize(t, p.agent(t), key, s.UploadSessionID), 404, fault.NotFound)
}

func TestF23ThereIsOneDraftAtATime(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	a := published(t, g, "first")
	open := func(words string) contract.Session {
		r := wire.Declare(words, page(words))
		r.ArtifactID = a.ArtifactID
		s := must(g.Create(ctx, wire.NewKey(), r))(t)
		must(g.Put(ctx, s.Files[0], page(words).Body))(t)
		return s
	}
	one, two := open("one"), open("two")
	d := must(g.Finalize(ctx, wire.NewKey(), one.UploadSessionID))(t)
	key := wire.NewKey()
	before := p.state(t)
	refused(t, tryFinalize(t, g, key, two.UploadSessionID), 409, fault.DraftRevisionConflict)
	p.unchanged(t, before)
	must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	second := must(g.Finalize(ctx, key, two.UploadSessionID))(t)
	p.reads(t, must(g.Publish(ctx, wire.NewKey(), second.ArtifactID, second.RevisionID))(t).RevisionContentURL, page("two").Body)
}

func TestKnownBytesAreNotAskedForAgain(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g, stranger := p.agent(t), p.agent(t)
	shared := wire.File{Path: "shared.bin", Body: noise(11, 5000)}
	twin := wire.File{Path: "twin.bin", Body: shared.Body}
	statuses := func(s contract.Session) (out []string) {
		for _, u := range s.Files {
			out = append(out, u.Status)
		}
		return out
	}
	first := opened(t, g, shared, twin)
	if got := statuses(first); got[0] != "upload_required" || got[1] != "reused" {
		t.Errorf("equal files of a session: %v", got)
	}
	a := must(g.PublishFiles(ctx, "first", "", shared, twin, page("first")))(t)
	moved := wire.File{Path: "moved/elsewhere.bin", Body: shared.Body}
	r := wire.Declare("second", page("second"), moved)
	r.ArtifactID = a.ArtifactID
	if got := statuses(must(g.Create(ctx, wire.NewKey(), r))(t)); got[0] != "upload_required" || got[1] != "reused" {
		t.Errorf("a revision with known bytes: %v", got)
	}
	b := must(g.PublishFiles(ctx, "second", a.ArtifactID, page("second"), moved))(t)
	view := must(g.AgentView(ctx, b.ArtifactID))(t)
	p.reads(t, view.Files[1].URL, shared.Body)
	lie := wire.Declare("lie", shared)
	lie.ArtifactID, lie.Files[0].SizeBytes = a.ArtifactID, 4999 // the digest alone is not enough
	if got := statuses(must(g.Create(ctx, wire.NewKey(), lie))(t)); got[0] != "upload_required" {
		t.Errorf("known digest, other size: %v", got)
	}
	if got := statuses(opened(t, stranger, shared)); got[0] != "upload_required" { // F69
		t.Errorf("bytes of another workspace: %v", got)
	}
}

func TestF66BytesOfARevisionThatIsGoneAreNotReused(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	a := published(t, g, "kept")
	r := wire.Declare("reuses", page("kept"))
	r.ArtifactID = a.ArtifactID
	s := must(g.Create(ctx, wire.NewKey(), r))(t)
	if s.Files[0].Status != "reused" {
		t.Fatalf("known bytes are %s", s.Files[0].Status)
	}
	p.change(t, "A#"+string(a.ArtifactID), "R#"+string(a.RevisionID), map[string]any{"status": "retained"})
	before := p.state(t)
	got := tryFinalize(t, g, wire.NewKey(), s.UploadSessionID)
	if refused(t, got, 400, fault.InvalidRequest); !strings.Contains(got.Message(), "base_revision_not_publishable") {
		t.Errorf("the message is %q", got.Message())
	}
	p.unchanged(t, before)
}

func TestCapsHoldExactlyAndInOrder(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited, func(o *stack.Options) {
		tier(func(p *limits.Policy) {
			p.FileCount = 3
			p.FileSize = 100
			p.ArtifactSize = 250
		})(&o.Limits)
	})
	g := p.agent(t)
	sized := func(sizes ...int) (files []wire.File) {
		for i, n := range sizes {
			files = append(files, wire.File{Path: fmt.Sprint("f", i), Body: noise(uint64(i), n)})
		}
		return files
	}
	declared := func(entry string, sizes ...int) contract.CreateSession {
		r := wire.Declare("Caps", sized(sizes...)...)
		r.Entrypoint = entry
		return r
	}
	before := p.state(t)
	refused(t, tryCreate(t, g, wire.NewKey(), declared("none", 1, 1, 101, 250)), 400, fault.FileCountCapExceeded)
	refused(t, tryCreate(t, g, wire.NewKey(), declared("none", 1, 101, 200)), 400, fault.FileSizeCapExceeded)
	refused(t, tryCreate(t, g, wire.NewKey(), declared("none", 100, 100, 51)), 400, fault.RevisionSizeCapExceeded)
	refused(t, tryCreate(t, g, wire.NewKey(), declared("none", 100, 100, 50)), 422, fault.EntrypointNotInRevision)
	refused(t, tryCreate(t, g, wire.NewKey(), declared("../f0", 1)), 400, fault.InvalidRequest)
	p.unchanged(t, before)
	must(g.PublishFiles(ctx, "At the caps", "", sized(100, 100, 50)...))(t)
}

func TestAHundredFilesAreOneArtifact(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	files := make([]wire.File, limits.FilesPerTree)
	for i := range files {
		files[i] = wire.File{Path: fmt.Sprintf("d%d/file %02d.txt", i%10, i), Body: bytes.Repeat([]byte{byte('a' + i%26)}, 1+i*97%4000)}
	}
	a := must(g.PublishFiles(ctx, "Hundred", "", files...))(t)
	view := must(g.AgentView(ctx, a.ArtifactID))(t)
	if len(view.Files) != len(files) {
		t.Fatalf("the view has %d files", len(view.Files))
	}
	for i, f := range view.Files { // in the order of the request
		if f.Path != files[i].Path || f.SHA256 != wire.Digest(files[i].Body) {
			t.Errorf("file %d is %+v", i, f)
		}
		p.reads(t, f.URL, files[i].Body)
	}
	more := append(files, wire.File{Path: "one more"})
	refused(t, tryCreate(t, g, wire.NewKey(), wire.Declare("101", more...)), 400, fault.InvalidRequest)
}

func TestWhatASessionSaysFitsTheRequest(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	files := []wire.File{page("x"), {Path: "b.bin", Body: noise(12, 77)}}
	s := opened(t, g, files...)
	if _, err := s.RevisionID.Bits(); err != nil || s.Status != "pending" {
		t.Errorf("%+v", s)
	}
	for i, u := range s.Files {
		if u.Path != files[i].Path || u.RequiredHeaders["content-length"] != fmt.Sprint(len(files[i].Body)) || u.RequiredHeaders["if-none-match"] != "*" {
			t.Errorf("%s wants %v", u.Path, u.RequiredHeaders)
		}
		names := slices.Sorted(maps.Keys(u.RequiredHeaders))
		if signed := strings.Join(append(names[:1:1], append([]string{"host"}, names[1:]...)...), "%3B"); !strings.Contains(u.PutURL, "X-Amz-SignedHeaders="+signed+"&") {
			t.Errorf("F14: %v are to be sent, signed is %s", names, u.PutURL[strings.Index(u.PutURL, "X-Amz-SignedHeaders"):][:100])
		}
		if left := time.Until(u.ExpiresAt.Time); left > limits.PutURLLife || left < limits.PutURLLife-time.Minute {
			t.Errorf("the URL lives for %s", left)
		}
	}
	a := do(t, g, "GET", p.Origins.API+"/v1/artifacts", nil)
	if strings.Contains(string(a.Body), string(s.ArtifactID)) || a.Status != http.StatusOK {
		t.Error("an artifact is listed before its first session ended")
	}
	refused(t, tryPublish(t, g, wire.NewKey(), s.ArtifactID, s.RevisionID, nil), 404, fault.ArtifactNotFound)
	refused(t, tryFinalize(t, g, wire.NewKey(), id.NewSession()), 404, fault.NotFound)
}
