package edit_test

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

func TestATextIsPublishedAsANewArtifact(t *testing.T) {
	s := newEnv(t)
	for _, c := range []struct {
		mode media.Mode
		path string
	}{{media.HTML, "index.html"}, {media.Markdown, "index.md"}, {media.Text, "content.txt"}} {
		body := "<p>" + word()
		r := succeed(t, s.publishes(edit.Text{Body: body, Mode: c.mode}))
		p, size := r.Published, int64(len(body))
		s.wantFiles(t, p.Artifact, map[string]string{c.path: body})
		a := s.seen(t, p.Artifact)
		if a.Current != p.Revision || a.Title != "A report" || p.Title != a.Title || a.Entrypoint != c.path {
			t.Errorf("%+v, and the answer %+v: want both titles and the entrypoint", a, p)
		}
		if !strings.HasSuffix(p.PrivateURL, string(a.ID)) || p.ShareURL != "" {
			t.Errorf("the answer has %q and %q", p.PrivateURL, p.ShareURL)
		}
		want := edit.Stats{
			TotalFiles:    1,
			UploadedFiles: 1,
			TotalBytes:    size,
			UploadedBytes: size,
		}
		if !r.Changed || r.Stats != want {
			t.Errorf("%t %+v, want %+v", r.Changed, r.Stats, want)
		}
		c, err := s.Stores.Artifacts.Contents(t.Context(), a.ID, a.Current)
		if err != nil || c.Revision.Mode != media.ModeOf(a.Entrypoint) {
			t.Errorf("%+v %v, want the entrypoint's mode", c, err)
		}
	}
}

func TestTheResultSaysWhatIsWrongWithThePages(t *testing.T) {
	s := newEnv(t)
	publishes := s.publishes(html("<img src=gone.png alt=''>"))
	var r edit.Result
	for _, name := range []string{"first", "again"} {
		r = succeed(t, publishes)
		if len(r.Warnings.Warnings) != 1 || r.Warnings.Warnings[0].Code != lint.MissingFile {
			t.Errorf("%s: %+v", name, r.Warnings)
		}
	}
	r = succeed(t, s.edits(r.Published.Artifact, "index.html", "gone.png", "index.html"))
	if len(r.Warnings.Warnings) > 0 {
		t.Errorf("once mended: %+v", r.Warnings)
	}
}

func TestBytesThatTheWorkspaceHasAreNotStoredAgain(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one")
	succeed(t, s.revises(a, html("<p>two")))
	r := succeed(t, s.edits(a, "index.html", "two", "one"))
	if r.Stats.ReusedFiles != 0 || r.Stats.UploadedFiles != 1 { // only what the base has is known before the jobs run
		t.Errorf("%+v, want one file uploaded", r.Stats)
	}
	s.wantFiles(t, a, map[string]string{"index.html": "<p>one"})
	puts := 0
	for _, call := range s.calls(func() { r = succeed(t, s.revises(a, edit.Text{Body: "<p>one", Mode: media.Text})) }) {
		if call == "PutObject" {
			puts++
		}
	}
	want := edit.Stats{
		TotalFiles:  2,
		ReusedFiles: 2,
		TotalBytes:  12,
		ReusedBytes: 12,
	}
	if puts != 0 || r.Stats != want {
		t.Errorf("%d objects are stored: %+v, want %+v", puts, r.Stats, want)
	}
}

func TestARevisionKeepsTitleAndOtherFiles(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>page")
	if _, err := s.artifacts.Rename(t.Context(), s.by, s.seen(t, a), "Another title"); err != nil {
		t.Fatal(err)
	}
	r := succeed(t, s.revises(a, edit.Text{Body: "# Notes", Mode: media.Markdown}))
	s.wantFiles(t, a, map[string]string{"index.html": "<p>page", "index.md": "# Notes"})
	seen := s.seen(t, a)
	if seen.Entrypoint != "index.md" || seen.Title != "Another title" || r.Published.Title != seen.Title {
		t.Errorf("%+v, want the new entrypoint and its title", seen)
	}
	want := edit.Stats{
		TotalFiles:    2,
		UploadedFiles: 1,
		ReusedFiles:   1,
		TotalBytes:    14,
		UploadedBytes: 7,
		ReusedBytes:   7,
	}
	if r.Stats != want {
		t.Errorf("%+v, want %+v", r.Stats, want)
	}
	succeed(t, s.edits(a, "index.html", "page", "leaf"))
	s.wantFiles(t, a, map[string]string{"index.html": "<p>leaf", "index.md": "# Notes"})
	c, err := s.Stores.Artifacts.Contents(t.Context(), a, s.seen(t, a).Current)
	if err != nil || c.Revision.Entrypoint != "index.md" || c.Revision.Mode != media.Markdown {
		t.Errorf("an edit of another file changes what is shown: %+v %v", c, err)
	}
	succeed(t, s.revises(a, html("")))
	s.wantFiles(t, a, map[string]string{"index.html": "", "index.md": "# Notes"})
	s.wantNumber(t, a, 4)
}

func TestTheSameBytesMakeNoRevision(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>same")
	current := s.seen(t, a).Current
	revises, edits := s.revises(a, html("<p>same")), s.edits(a, "index.html", "same", "same")
	for name, do := range map[string]ask{"a text": revises, "an edit": edits} {
		for range 2 {
			r := succeed(t, do)
			if r.Changed || r.Stats != (edit.Stats{}) || r.Published.Revision != current || r.Published.PrivateURL == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	s.wantNumber(t, a, 1)
	succeed(t, s.revises(a, html("<p>other")))
	if r := succeed(t, revises); r.Changed || r.Published.Revision != current {
		t.Errorf("a repetition overwrites what came after its first answer: %+v", r)
	}
	s.wantFiles(t, a, map[string]string{"index.html": "<p>other"})
}

func TestWhatCannotBeChangedIsRefusedWithoutAWrite(t *testing.T) {
	s := newEnv(t)
	a, gone := s.artifact(t, "<p>one one"), s.artifact(t, "<p>gone")
	s.delete(t, gone)
	foreign, by := s.artifact(t, "<p>foreign"), s.by
	s.by = s.join(t)
	own := s.artifact(t, "<p>own")
	s.by = by
	binary := s.withFile(t, "data.bin", "\xff\xfe")
	large := s.withFile(t, "large.txt", strings.Repeat("a", limits.Text+1))
	tests := map[string]struct {
		ask     ask
		want    fault.Code
		message string
	}{
		"a file that is not there": {s.edits(a, "no.html", "a", "b"), fault.InvalidRequest, "path_not_in_base"},
		"a file that is no text":   {s.edits(binary, "data.bin", "a", "b"), fault.InvalidRequest, "base_not_text"},
		"a part that is not there": {s.edits(a, "index.html", "two", "b"), fault.InvalidRequest, "not_found (edit 0)"},
		"a part that is there twice": {
			s.edits(a, "index.html", "one", "b"), fault.InvalidRequest, "not_unique (edit 0)",
		},
		"a file that is too long":       {s.edits(large, "large.txt", "a", "b"), fault.FileSizeCapExceeded, ""},
		"an artifact of another member": {s.edits(own, "index.html", "own", "b"), fault.ArtifactNotFound, ""},
		"one that is deleted":           {s.edits(gone, "index.html", "gone", "b"), fault.ArtifactNotFound, ""},
		"one that never was":            {s.edits(id.NewArtifact(), "index.html", "a", "b"), fault.ArtifactNotFound, ""},
		"no id":                         {s.revises("nonsense", html("b")), fault.ArtifactNotFound, ""},
		"a text for a deleted one":      {s.revises(gone, html("b")), fault.ArtifactNotFound, ""},
		"a mode that is none of texts":  {s.revises(a, edit.Text{Body: "b", Mode: media.Video}), fault.InvalidRequest, ""},
		"a new text that is too long": {
			s.publishes(html(strings.Repeat("a", limits.Text+1))), fault.FileSizeCapExceeded, "",
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			var err error
			for _, call := range s.calls(func() { _, err = c.ask(t) }) {
				if call != "GetItem" && call != "BatchGetItem" && call != "GetObject" {
					t.Errorf("it calls %s", call)
				}
			}
			wantCode(t, name, err, c.want)
			if c.message != "" && !strings.HasPrefix(fault.Of(err).Message, c.message+": ") {
				t.Errorf("%q, want %q", fault.Of(err).Message, c.message)
			}
		})
	}
	s.wantFiles(t, foreign, map[string]string{"index.html": "<p>foreign"})
}

func TestARateLimitStopsBeforeBytesAreReadOrAnythingIsWritten(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one")
	s.refuses = fault.NewCode(fault.RateLimitedActor)
	for name, do := range map[string]ask{
		"publish":           s.publishes(html("<p>new")),
		"revise":            s.revises(a, html("<p>two")),
		"edit":              s.edits(a, "index.html", "one", "two"),
		"what is there yet": s.revises(a, html("<p>one")),
	} {
		var err error
		s.permits.Store(0)
		for _, call := range s.calls(func() { _, err = do(t) }) {
			if call != "GetItem" && call != "BatchGetItem" {
				t.Errorf("%s calls %s", name, call)
			}
		}
		wantCode(t, name, err, fault.RateLimitedActor)
		if n := s.permits.Load(); n != 1 {
			t.Errorf("%s asks the limits %d times", name, n)
		}
	}
	s.wantNumber(t, a, 1)
}

// TestARequestMakesFewerCallsThanItsRoutes counts the AWS calls after the credential was read. Over HTTP the same takes
// what the routes take without credentials and counters: create 2, or 5 for a revision, PUT 1, finalize 5 or 6, one of
// which reads the page for its warnings, publish 1, agent view 1, file content 1 or 2. Finalize and publish have the
// state that they need from reading the credential; one call here reads it for publish.
func TestARequestMakesFewerCallsThanItsRoutes(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one")
	for _, c := range []struct {
		name string
		most int
		ask  ask
	}{
		{"publish", 9, s.publishes(html("<p>new"))},
		{"revise", 14, s.revises(a, html("<p>two"))},
		{"edit", 15, s.edits(a, "index.html", "two", "three")},
		{"edit, nothing changes", 3, s.edits(a, "index.html", "three", "three")},
	} {
		calls := s.calls(func() { succeed(t, c.ask) })
		t.Log(c.name, len(calls), calls)
		if len(calls) > c.most {
			t.Errorf("%s makes %d calls, at most %d are planned: %v", c.name, len(calls), c.most, calls)
		}
		again := s.calls(func() { succeed(t, c.ask) })
		t.Log(c.name, "again", again)
		if len(again) > 1 {
			t.Errorf("the repetition of %s makes %d calls: %v", c.name, len(again), again)
		}
	}
}

// TestAnEqualRequestOfALaterSessionHasEffect makes each request twice, before and after another one changed what it
// had made.
func TestAnEqualRequestOfALaterSessionHasEffect(t *testing.T) {
	s := newEnv(t)
	s.derived = true
	a := s.artifact(t, "<p>first")
	for _, c := range []struct {
		name string
		do   ask
		made int // revisions in the end, with those of others
	}{
		{"a text that is there", s.revises(a, html("<p>first")), 6},
		{"another text", s.revises(a, html("<p>mine")), 12},
		{"an edit", s.edits(a, "index.html", "<p>", "<p>a "), 18},
	} {
		for range 3 {
			r := succeed(t, c.do)
			if again := succeed(t, c.do); again.Published.Revision != r.Published.Revision || again.Stats != r.Stats {
				t.Errorf("%s: its repetition answers %+v, the first time was %+v", c.name, again, r)
			}
			if now := s.seen(t, a); now.Current != r.Published.Revision {
				t.Errorf("%s: it answers %s, and the newest is %s", c.name, r.Published.Revision, now.Current)
			}
			succeed(t, s.revises(a, html("<p>theirs "+word())))
		}
		s.wantNumber(t, a, c.made)
	}
}

func TestATextIsPublishedAgainOnceItsArtifactIsGone(t *testing.T) {
	s := newEnv(t)
	s.derived = true
	do := s.publishes(html("<p>first"))
	first := succeed(t, do).Published
	if again := succeed(t, do).Published; again.Revision != first.Revision {
		t.Errorf("the repetition makes %s beside %s", again.Artifact, first.Artifact)
	}
	s.delete(t, first.Artifact)
	second := succeed(t, do).Published
	if second.Artifact == first.Artifact {
		t.Error("it answers an artifact that is deleted")
	}
	if again := succeed(t, do).Published; again.Revision != second.Revision {
		t.Errorf("the repetition makes %s beside %s", again.Artifact, second.Artifact)
	}
}

func TestADerivedKeyIsUsedUpInTheEnd(t *testing.T) {
	s := newEnv(t)
	s.derived = true
	do := s.publishes(html("<p>first"))
	for range 50 {
		s.delete(t, succeed(t, do).Published.Artifact)
	}
	_, err := do(t)
	wantCode(t, "the next one", err, fault.InvalidIdempotencyKey)
}

// uploads returns a request that publishes an upload of files that the artifact has already, as a host makes it.
func (e *env) uploads(t *testing.T, r contract.CreateSession) ask {
	t.Helper()
	o, err := e.Uploads.Open(t.Context(), e.by, idempotency.Command{Key: idempotency.Key{
		Actor:     e.by.Subject(),
		Operation: idempotency.CreateSession,
		Client:    newKey(),
	}}, nil, r, func() error { return nil })
	expect.OK(t, err)
	client := newKey()
	return func(t testing.TB) (edit.Result, error) {
		session, entries, err := e.Stores.Uploads.Session(t.Context(), o.ID)
		expect.OK(t, err)
		record, err := e.Stores.Edits.Record(t.Context(), idempotency.Key{
			Actor:     e.by.Subject(),
			Operation: idempotency.FinalizeSession,
			Target:    string(o.ID),
			Client:    client,
		})
		expect.OK(t, err)
		permit := func() error { return nil }
		return e.Finish(t.Context(), e.by, edit.Request{Client: client, Record: record, Permit: permit}, session, entries)
	}
}

// sameUpload declares the files that an artifact of one page and its notes has.
func sameUpload(a id.Artifact) contract.CreateSession {
	file := func(path, body string) contract.DeclaredFile {
		return contract.DeclaredFile{Path: path, SizeBytes: int64(len(body)), SHA256: tree.DigestOf(body).String()}
	}
	return contract.CreateSession{
		ArtifactID: a,
		Title:      "A report",
		Entrypoint: "index.html",
		Files:      []contract.DeclaredFile{file("index.html", "<p>page"), file("index.md", "# Notes")},
	}
}

func TestAnUnchangedUploadMakesNoRevision(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>page")
	succeed(t, s.revises(a, edit.Text{Body: "# Notes", Mode: "markdown"}))
	if r := succeed(t, s.uploads(t, sameUpload(a))); !r.Changed { // the entrypoint is another one
		t.Errorf("%+v, want a change", r)
	}
	current, do := s.seen(t, a).Current, s.uploads(t, sameUpload(a))
	for range 2 {
		if r := succeed(t, do); r.Changed || r.Stats != (edit.Stats{}) || r.Published.Revision != current {
			t.Errorf("%+v, want no change", r)
		}
	}
	s.wantNumber(t, a, 3)
	for name, change := range map[string]func(*contract.CreateSession){
		"another title": func(r *contract.CreateSession) { r.Title = "Another" },
		"the list":      func(r *contract.CreateSession) { r.Listing = true },
		"a file less":   func(r *contract.CreateSession) { r.Files = r.Files[:1] },
		"another name":  func(r *contract.CreateSession) { r.Files[1].Path = "notes.md" },
		"other bytes":   func(r *contract.CreateSession) { r.Files[1] = r.Files[0]; r.Files[1].Path = "index.md" },
	} {
		t.Run(name, func(t *testing.T) {
			a := s.artifact(t, "<p>page")
			succeed(t, s.revises(a, edit.Text{Body: "# Notes", Mode: "markdown"}))
			succeed(t, s.uploads(t, sameUpload(a)))
			r := sameUpload(a)
			change(&r)
			if got := succeed(t, s.uploads(t, r)); !got.Changed {
				t.Errorf("%+v, want a change", got)
			}
		})
	}
	succeed(t, s.edits(a, "index.html", "page", "leaf"))
	if r := succeed(t, do); r.Changed || r.Published.Revision != current {
		t.Errorf("a repetition overwrites what came after its first answer: %+v", r)
	}
	s.wantNumber(t, a, 4)
}
