package publish

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// manifest is the files of an artifact's newest revision, by path.
func manifest(t *testing.T, p *harness.BackendEnv, g *wire.Agent, a id.Artifact) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, f := range harness.Must(g.AgentView(ctx, a))(t).Files {
		answer := p.Get(t, f.URL)
		if answer.Status != http.StatusOK || wire.Digest(answer.Body) != f.SHA256 || int64(len(answer.Body)) != f.SizeBytes {
			t.Errorf("%s: %d with %d bytes, the view says %d", f.Path, answer.Status, len(answer.Body), f.SizeBytes)
		}
		files[f.Path] = string(answer.Body)
	}
	return files
}

func TestARevisionInheritsReplacesDeletesAndPatches(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	before := harness.Lines(2000, "line")
	after := strings.Replace(before, "line 1000\n", "another line\n", 1) + "no newline at the end"
	first := harness.Must(g.PublishFiles(ctx, "T", "", harness.Page("one"), wire.File{
		Path: "log.txt",
		Body: []byte(before),
	},
		wire.File{
			Path: "old.txt",
			Body: []byte("goes"),
		}, wire.File{Path: "kept.txt", Body: []byte("stays")}, wire.File{Path: "empty.txt"}))(t)

	r := harness.Revise(first, "T2")
	declared, diff := harness.Patch("log.txt", before, after)
	added := wire.File{Path: "new.txt", Body: []byte("comes")}
	r.Files = append([]contract.DeclaredFile{declared}, wire.Declare("", added).Files...)
	r.DeletedPaths = []string{"old.txt"}
	draft := harness.Must(g.Draft(ctx, wire.NewKey(), r, diff, added))(t)
	if draft.FileCount != 5 ||
		draft.SizeBytes != int64(len(harness.Page("one").Body)+len(after)+len("stays")+len("comes")) {
		t.Errorf("the draft has %d files with %d bytes", draft.FileCount, draft.SizeBytes)
	}
	second := harness.Must(g.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t)
	want := map[string]string{
		"index.html": string(harness.Page("one").Body),
		"log.txt":    after,
		"kept.txt":   "stays",
		"new.txt":    "comes",
		"empty.txt":  "",
	}
	if got := manifest(t, p, g, first.ArtifactID); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the revision holds %d files, want %d, or other bytes", len(got), len(want))
	}

	back := harness.Revise(first, "T3") // the first tree again, without sending a byte
	back.Files = wire.Declare("", harness.Page("one")).Files
	s := harness.Must(g.Create(ctx, wire.NewKey(), back))(t)
	if s.Files[0].Status != "reused" {
		t.Errorf("the entrypoint of the base is %s", s.Files[0].Status)
	}
	restored := harness.Must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	harness.Must(g.Publish(ctx, wire.NewKey(), restored.ArtifactID, restored.RevisionID))(t)
	if got := manifest(t, p, g, first.ArtifactID); got["old.txt"] != "goes" || got["log.txt"] != before || len(got) != 5 {
		t.Errorf("restoring gave %d files", len(got))
	}
	p.WantContent(t, second.RevisionContentURL, harness.Page("one").Body)
}

func TestABaseThatCannotServeIsRefusedInWordsThatClientsKnow(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	first := harness.Must(g.PublishFiles(ctx, "T", "", harness.Page("one"), wire.File{
		Path: "a.txt",
		Body: []byte("a\n"),
	}))(t)
	other := harness.PublishPage(t, g, "other")
	for name, tt := range map[string]struct {
		change func(*contract.CreateSession)
		want   string
	}{
		"unknown": {func(r *contract.CreateSession) {
			r.BaseRevisionID = id.NewRevision()
		}, "base_revision_not_found"},
		"of another artifact": {func(r *contract.CreateSession) {
			r.BaseRevisionID = other.RevisionID
		}, "base_revision_not_found"},
		"without artifact": {func(r *contract.CreateSession) { r.ArtifactID = "" }, "base_revision_artifact_mismatch"},
		"deleting nothing": {func(r *contract.CreateSession) {
			r.DeletedPaths = []string{"nothing"}
		}, "deleted_path_not_in_base"},
	} {
		t.Run(name, func(t *testing.T) {
			r := harness.Revise(first, "T2")
			r.Files = wire.Declare("", harness.Page("two")).Files
			tt.change(&r)
			s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
			harness.Must(g.Put(ctx, s.Files[0], harness.Page("two").Body))(t)
			a := harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID)
			if harness.WantRefused(t, a, 400, fault.InvalidRequest); !strings.Contains(a.Message(), tt.want) {
				t.Errorf("the message is %q, want %s in it", a.Message(), tt.want)
			}
		})
	}
	t.Run("deleting everything", func(t *testing.T) {
		r := harness.Revise(first, "T2")
		r.DeletedPaths = []string{"index.html", "a.txt"}
		s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
		harness.WantRefused(t, harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID), 400, fault.FileCountCapExceeded)
	})
	t.Run("deleting the entrypoint", func(t *testing.T) {
		r := harness.Revise(first, "T2")
		r.DeletedPaths = []string{"index.html"}
		s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
		harness.WantRefused(
			t, harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID), 422, fault.EntrypointNotInRevision,
		)
	})
}

func TestF66ABaseThatLosesItsBytesBeforeFinalizeIsNotInherited(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	first := harness.Must(g.PublishFiles(ctx, "T", "", harness.Page("one"), wire.File{
		Path: "a.txt",
		Body: []byte("a\n"),
	}))(t)
	harness.Must(g.PublishFiles(ctx, "T", first.ArtifactID, harness.Page("two")))(t)
	r := harness.Revise(first, "T3")
	r.DeletedPaths = []string{"a.txt"}
	s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	p.Update(t, "A#"+string(first.ArtifactID), "R#"+string(first.RevisionID), map[string]any{"status": "retained"})
	a := harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID)
	harness.WantRefused(t, a, 400, fault.InvalidRequest)
	if !strings.Contains(a.Message(), "base_revision_not_publishable") {
		t.Error(a.Message())
	}
}

func TestF65OnePatchThatDoesNotFitRefusesAllAndStoresNothing(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	files := []wire.File{harness.Page("one")}
	for n := range 9 {
		files = append(files, wire.File{
			Path: fmt.Sprintf("f%d.txt", n),
			Body: []byte(harness.Lines(20, fmt.Sprint("file ", n))),
		})
	}
	first := harness.Must(g.PublishFiles(ctx, "T", "", files...))(t)
	for why, spoil := range map[string]func(*contract.DeclaredPatch, *wire.File){
		"base_hash_mismatch":   func(d *contract.DeclaredPatch, _ *wire.File) { d.BaseSHA256 = wire.Digest([]byte("x")) },
		"result_hash_mismatch": func(d *contract.DeclaredPatch, _ *wire.File) { d.ResultSHA256 = wire.Digest([]byte("x")) },
		"parse_error": func(_ *contract.DeclaredPatch, f *wire.File) {
			f.Body = []byte(strings.Repeat("?", len(f.Body)))
		},
		"apply_failed": func(_ *contract.DeclaredPatch, f *wire.File) {
			f.Body = []byte(strings.Replace(string(f.Body), "file 7 3", "file 9 3", 1))
		},
	} {
		t.Run(why, func(t *testing.T) {
			r := harness.Revise(first, "T2")
			var diffs []wire.File
			for n := range 9 {
				before := string(files[n+1].Body)
				declared, diff := harness.Patch(files[n+1].Path, before, strings.Replace(before, " 3\n", " three\n", 1))
				if n == 7 {
					spoil(declared.Patch, &diff)
				}
				r.Files, diffs = append(r.Files, declared), append(diffs, diff)
			}
			s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
			for i, target := range s.Files {
				harness.Must(g.Put(ctx, target, diffs[i].Body))(t)
			}
			before := p.Snapshot(t)
			a := harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID)
			harness.WantRefused(t, a, 422, fault.PatchConflict)
			if a.Message() != "patch_conflict: f7.txt: "+why {
				t.Errorf("the message is %q", a.Message())
			}
			p.WantUnchanged(t, before)
			for n := range 9 {
				if storedObject(t, p, g, s.UploadSessionID, n) != "" {
					t.Errorf("the result of file %d was stored", n)
				}
			}
		})
	}
}

func TestT64APatchBombIsCappedWhileItIsApplied(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cap  func(*limits.Policy)
		want fault.Code
	}{
		"by the file":     {func(p *limits.Policy) { p.FileSize = 64 << 10 }, fault.FileSizeCapExceeded},
		"by the revision": {func(p *limits.Policy) { p.ArtifactSize = 64 << 10 }, fault.RevisionSizeCapExceeded},
		"by what others leave free": {func(p *limits.Policy) {
			p.FileSize, p.ArtifactSize = 99<<10, 99<<10
		}, fault.RevisionSizeCapExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			p := harness.NewBackendEnv(t, func(o *stack.Options) { harness.WithPolicy(tt.cap)(&o.Limits) })
			g := p.NewAgent(t)
			before := harness.Lines(3000, "line")
			first := harness.Must(g.PublishFiles(ctx, "T", "", harness.Page("one"), wire.File{
				Path: "log.txt",
				Body: []byte(before),
			}, wire.File{Path: "other", Body: harness.RandomBytes(3, 25<<10)}))(t)
			r := harness.Revise(first, "T2")
			declared, diff := harness.Patch("log.txt", before, before+harness.Lines(5000, "boom"))
			r.Files = []contract.DeclaredFile{declared}
			s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
			harness.Must(g.Put(ctx, s.Files[0], diff.Body))(t)
			harness.WantRefused(t, harness.TryFinalize(t, g, wire.NewKey(), s.UploadSessionID), 400, tt.want)
			if storedObject(t, p, g, s.UploadSessionID, 0) != "" {
				t.Error("a result above the cap was stored")
			}
		})
	}
}

func TestWhatARevisionCannotTakeIsRefusedBeforeItsBytesAreRead(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t, func(o *stack.Options) {
		harness.WithPolicy(func(p *limits.Policy) { p.ArtifactSize = 64 << 10 })(&o.Limits)
	})
	g := s.NewAgent(t)
	before := harness.Lines(2000, "line")
	first := harness.Must(g.PublishFiles(ctx, "T", "", harness.Page("one"), wire.File{
		Path: "log.txt",
		Body: []byte(before),
	}, wire.File{Path: "big", Body: harness.RandomBytes(4, 30<<10)}))(t)
	unhashed := func(name string, n int) wire.File { return wire.File{Path: name, Body: harness.RandomBytes(5, n)} }
	for name, tt := range map[string]struct {
		files   []wire.File // declared without digest
		deleted string
		want    fault.Code
	}{
		"a deleted path that the base lacks": {[]wire.File{unhashed("new", 9)}, "nothing", fault.InvalidRequest},
		"more bytes than a revision has":     {[]wire.File{unhashed("new", 35<<10)}, "", fault.RevisionSizeCapExceeded},
		"no entrypoint":                      {[]wire.File{unhashed("new", 9)}, "index.html", fault.EntrypointNotInRevision},
	} {
		t.Run(name, func(t *testing.T) {
			r := harness.Revise(first, "T2")
			declared, diff := harness.Patch("log.txt", before, strings.Replace(before, "line 7\n", "", 1))
			r.Files = append(r.Files, declared)
			if tt.deleted != "" {
				r.DeletedPaths = []string{tt.deleted}
			}
			for _, f := range tt.files {
				r.Files = append(r.Files, contract.DeclaredFile{Path: f.Path, SizeBytes: int64(len(f.Body))})
			}
			u := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
			for n, f := range append([]wire.File{diff}, tt.files...) {
				harness.Must(g.Put(ctx, u.Files[n], f.Body))(t)
			}
			read := 0
			s.Faults.On("GetObject").If(func(any) bool { read++; return false })
			a := harness.TryFinalize(t, g, wire.NewKey(), u.UploadSessionID)
			s.Revive()
			if a.Code() != tt.want || read > 0 {
				t.Errorf("%d %s after %d files were read", a.Status, a.Body, read)
			}
		})
	}
}
