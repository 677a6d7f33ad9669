package edit_test

import (
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/tree"
)

// uploads returns a request that publishes an upload of files that the artifact has already, as a host makes it.
func (s *env) uploads(t *testing.T, r contract.CreateSession) ask {
	t.Helper()
	o, err := s.Uploads.Open(t.Context(), s.by, idempotency.Command{Key: idempotency.Key{
		Actor:     s.by.Subject(),
		Operation: idempotency.CreateSession,
		Client:    newKey(),
	}}, nil, r, func() error { return nil })
	expect.OK(t, err)
	client := newKey()
	return func(t testing.TB) (edit.Result, error) {
		session, entries, err := s.Stores.Uploads.Session(t.Context(), o.ID)
		expect.OK(t, err)
		record, err := s.Stores.Edits.Record(t.Context(), idempotency.Key{
			Actor:     s.by.Subject(),
			Operation: idempotency.FinalizeSession,
			Target:    string(o.ID),
			Client:    client,
		})
		expect.OK(t, err)
		permit := func() error { return nil }
		return s.Finish(t.Context(), s.by, edit.Request{Client: client, Record: record, Permit: permit}, session, entries)
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
		t.Errorf("%+v", r)
	}
	current, do := s.seen(t, a).Current, s.uploads(t, sameUpload(a))
	for range 2 {
		if r := succeed(t, do); r.Changed || r.Stats != (edit.Stats{}) || r.Published.Revision != current {
			t.Errorf("%+v", r)
		}
	}
	s.wantNumber(t, a, 3)
	for name, change := range map[string]func(*contract.CreateSession){
		"another title": func(r *contract.CreateSession) { r.Title = "Another" },
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
				t.Errorf("%+v", got)
			}
		})
	}
	succeed(t, s.edits(a, "index.html", "page", "leaf"))
	if r := succeed(t, do); r.Changed || r.Published.Revision != current {
		t.Errorf("a repetition overwrites what came after its first answer: %+v", r)
	}
	s.wantNumber(t, a, 4)
}
