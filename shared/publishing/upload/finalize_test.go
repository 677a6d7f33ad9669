package upload

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// finalizer is a service and an attempt to finalize a session with two uploaded files.
type finalizer struct {
	*Finalizer
	store   *fakeStore
	by      credential.Actor
	attempt Attempt
}

func newFinalizer() *finalizer {
	s := &Session{
		ID:         id.NewSession(),
		Workspace:  "ws",
		Home:       "home",
		Artifact:   id.NewArtifact(),
		Revision:   id.NewRevision(),
		New:        true,
		Status:     Pending,
		CreatedAt:  now.Add(-time.Minute),
		ExpiresAt:  now.Add(time.Hour),
		Life:       24 * time.Hour,
		Title:      "T",
		Entrypoint: "index.html",
	}
	digest := tree.DigestOf("body")
	page, text := tree.Object{Session: s.ID, Entry: 0}, tree.Object{Session: s.ID, Entry: 1}
	f := &fakeStore{objects: map[tree.Object]string{page: "page", text: "body"}}
	return &finalizer{
		Finalizer: &Finalizer{
			Store:   f,
			Index:   f,
			Objects: f,
			Now:     func() time.Time { return now },
		},
		store: f,
		by: credential.Actor{
			Workspace: workspace.Workspace{ID: "ws"},
			Policy:    limits.Policy{FileCount: 5, FileSize: 20, ArtifactSize: 30},
		},
		attempt: Attempt{
			Command: idempotency.Command{Fingerprint: idempotency.FingerprintOf("POST", "/finalize", nil)},
			Session: s,
			Entries: []Entry{
				{Path: "index.html", Size: 4, Object: page},
				{
					Path:   "a.txt",
					Size:   4,
					SHA256: &digest,
					Object: text,
				},
			},
		},
	}
}

func (f *finalizer) finalize(t *testing.T) (contract.Finalized, error) {
	t.Helper()
	return f.Finalize(t.Context(), f.by, f.attempt)
}

func (f *finalizer) object(entry int) tree.Object {
	return tree.Object{Session: f.attempt.Session.ID, Entry: entry}
}

func TestADraftHasTheFilesThatWereUploaded(t *testing.T) {
	f := newFinalizer()
	out, err := f.finalize(t)
	wantCode(t, err, "")
	if out.Status != "draft" || out.FileCount != 2 || out.SizeBytes != 8 || out.RevisionID != f.attempt.Session.Revision {
		t.Errorf("%+v", out)
	}
	done := f.store.done[0]
	for n, body := range []string{"page", "body"} {
		if done.Tree[n].SHA256 != tree.DigestOf(body) {
			t.Errorf("%+v", done.Tree[n])
		}
	}
	a, r := done.Artifact, done.Revision
	ends := f.attempt.Session.CreatedAt.Add(24 * time.Hour)
	if a.StorageWorkspace != "home" || a.Owner != "ws" || a.Draft != r.ID || !a.ExpiresAt.Equal(ends) {
		t.Errorf("%+v", a)
	}
	if r.Status != artifact.Draft || r.Mode != "html" || !r.EntrypointExists || r.Number != 0 {
		t.Errorf("%+v", r)
	}
}

func TestADraftOfANewArtifactIsRecordedTwice(t *testing.T) {
	for isNew, want := range map[bool][]event.Action{
		true:  {event.DraftCreated, event.ArtifactCreated},
		false: {event.DraftCreated},
	} {
		f := newFinalizer()
		f.attempt.Session.New = isNew
		_, err := f.finalize(t)
		wantCode(t, err, "")
		var got []event.Action
		for _, e := range f.store.done[0].Events {
			got = append(got, e.Action)
		}
		if len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("new %t: %v", isNew, got)
		}
	}
}

func TestT62ExactlyTheDeclaredFilesAreUploaded(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*finalizer)
		want fault.Code
	}{
		"all files are there": {func(*finalizer) {}, ""},
		"a file is missing": {
			func(f *finalizer) { delete(f.store.objects, f.object(1)) }, fault.UploadIncomplete,
		},
		"a file is shorter": {
			func(f *finalizer) { f.store.objects[f.object(1)] = "bod" }, fault.UploadIncomplete,
		},
		"a file was not declared": {
			func(f *finalizer) { f.store.objects[f.object(2)] = "x" }, fault.UnexpectedUploadObject,
		},
		"an object is no entry": {
			func(f *finalizer) { f.store.objects[f.object(-1)] = "x" }, fault.UnexpectedUploadObject,
		},
		"a file that is reused was brought": {
			func(f *finalizer) { f.attempt.Entries[1].Reused = true }, fault.UnexpectedUploadObject,
		},
		"a reused file needs no upload": {func(f *finalizer) {
			f.attempt.Entries[1].Reused = true
			delete(f.store.objects, f.object(1))
		}, ""},
		"the session expires now": {func(f *finalizer) { f.attempt.Session.ExpiresAt = now }, fault.UploadSessionExpired},
		"the session was ended":   {func(f *finalizer) { f.attempt.Session.Status = Expired }, fault.UploadSessionExpired},
		"a file is missing of an expired session": {func(f *finalizer) {
			f.attempt.Session.ExpiresAt = now
			delete(f.store.objects, f.object(1))
		}, fault.UploadIncomplete},
		"the session is another workspace's": {func(f *finalizer) { f.attempt.Session.Workspace = "other" }, fault.NotFound},
		"there is no session":                {func(f *finalizer) { f.attempt.Session = nil }, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinalizer()
			c.set(f)
			_, err := f.finalize(t)
			wantCode(t, err, c.want)
			if (len(f.store.done) == 1) != (c.want == "") {
				t.Errorf("%d commits", len(f.store.done))
			}
			if c.want == fault.UploadIncomplete && !strings.Contains(fault.Of(err).Message, "a.txt") {
				t.Errorf("%v does not name the file", err)
			}
		})
	}
}

func TestF66ABaseServesIfItIsPublished(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*finalizer)
		want string // in the refusal
	}{
		"a published one does": {func(*finalizer) {}, ""},
		"a draft does not": {
			func(f *finalizer) { f.store.base.Revision.Status = artifact.Draft }, "base_revision_not_publishable",
		},
		"one without bytes does not": {
			func(f *finalizer) { f.store.base.Revision.Status = artifact.Retained }, "base_revision_not_publishable",
		},
		"a missing one does not": {func(f *finalizer) { f.store.base = nil }, "base_revision_not_found"},
		"one without an artifact": {
			func(f *finalizer) { f.attempt.Session.New = true }, "base_revision_artifact_mismatch",
		},
		"a path that it lacks": {func(f *finalizer) { f.attempt.Entries[2].Path = "x" }, "deleted_path_not_in_base"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPartial()
			c.set(f)
			_, err := f.finalize(t)
			if c.want == "" {
				wantCode(t, err, "")
				return
			}
			wantCode(t, err, fault.InvalidRequest)
			if !strings.HasPrefix(fault.Of(err).Message, c.want) {
				t.Error(err)
			}
		})
	}
}

// newPartial has a base of three files, of which the session replaces one, patches one and deletes one.
func newPartial() *finalizer {
	f := newFinalizer()
	s := f.attempt.Session
	s.New, s.Base = false, "base"
	old := func(n int) tree.Object { return tree.Object{Session: "old", Entry: n} }
	f.store.base = &artifact.Contents{
		Revision: artifact.Revision{Status: artifact.Published, Mode: "markdown"},
		Tree: tree.Tree{
			{
				Path:   "index.html",
				Size:   3,
				SHA256: tree.DigestOf("old"),
				Object: old(0),
			},
			{
				Path:   "a.txt",
				Size:   4,
				SHA256: tree.DigestOf("one\n"),
				Object: old(1),
			},
			{
				Path:   "gone.txt",
				Size:   4,
				SHA256: tree.DigestOf("gone"),
				Object: old(2),
			},
			{
				Path:     "kept.txt",
				Size:     4,
				SHA256:   tree.DigestOf("kept"),
				Object:   old(3),
				Borrowed: true,
			},
		},
	}
	const diff = "@@ -1 +1 @@\n-one\n+two\n"
	f.attempt.Entries[1] = Entry{
		Path:   "a.txt",
		Size:   int64(len(diff)),
		Object: f.object(1),
		Patch:  &Patch{Base: tree.DigestOf("one\n"), Result: tree.DigestOf("two\n")},
	}
	f.attempt.Entries = append(f.attempt.Entries, Entry{Path: "gone.txt", Deleted: true})
	delete(f.store.objects, f.object(1))
	f.store.objects[tree.Object{Session: s.ID, Entry: 1, Diff: true}] = diff
	f.store.objects[old(1)] = "one\n"
	return f
}

func TestAPartialManifestIsMergedIntoItsBase(t *testing.T) {
	f := newPartial()
	out, err := f.finalize(t)
	wantCode(t, err, "")
	done := f.store.done[0]
	if out.FileCount != 3 || out.SizeBytes != 12 || done.Revision.Mode != "markdown" {
		t.Errorf("%+v, mode %s", out, done.Revision.Mode)
	}
	for path, body := range map[string]string{"index.html": "page", "a.txt": "two\n", "kept.txt": "kept"} {
		if file, ok := done.Tree.Find(path); !ok || file.SHA256 != tree.DigestOf(body) {
			t.Errorf("%s: %+v", path, file)
		}
	}
	if f.store.objects[f.object(1)] != "two\n" {
		t.Error("the result of the patch is not stored")
	}
	if len(f.store.referred) != 1 || f.store.referred[0].Entry != 3 {
		t.Errorf("referred to %v", f.store.referred)
	}
}

func TestF65T64APatchAppliesExactlyAndWithinTheCaps(t *testing.T) {
	const byPatch = "the result of the patch"
	patch := func(f *finalizer) *Patch { return f.attempt.Entries[1].Patch }
	diff := func(text string) func(*finalizer) {
		return func(f *finalizer) {
			f.store.objects[tree.Object{Session: f.attempt.Session.ID, Entry: 1, Diff: true}] = text
			f.attempt.Entries[1].Size = int64(len(text))
		}
	}
	for name, c := range map[string]struct {
		set    func(*finalizer)
		code   fault.Code
		reason string
	}{
		"another base": {func(f *finalizer) { patch(f).Base[0]++ }, fault.PatchConflict, "base_hash_mismatch"},
		"a path not in it": {
			func(f *finalizer) { f.attempt.Entries[1].Path = "b.txt" }, fault.PatchConflict, "base_hash_mismatch",
		},
		"another result":     {func(f *finalizer) { patch(f).Result[0]++ }, fault.PatchConflict, "result_hash_mismatch"},
		"no diff":            {diff("no diff"), fault.PatchConflict, "parse_error"},
		"a hunk of others":   {diff("@@ -1 +1 @@\n-six\n+two\n"), fault.PatchConflict, "apply_failed"},
		"too much of a file": {func(f *finalizer) { f.by.Policy.FileSize = 3 }, fault.FileSizeCapExceeded, "index.html"},
		"too much together":  {func(f *finalizer) { f.by.Policy.ArtifactSize = 11 }, fault.RevisionSizeCapExceeded, byPatch},
		"too much of a result": {
			func(f *finalizer) { f.patchesPage(); f.by.Policy.FileSize = 11 }, fault.FileSizeCapExceeded, byPatch,
		},
		"too much of two results": {
			func(f *finalizer) { f.patchesPage(); f.by.Policy.ArtifactSize = 19 }, fault.RevisionSizeCapExceeded, byPatch,
		},
		"too many files": {func(f *finalizer) { f.by.Policy.FileCount = 2 }, fault.FileCountCapExceeded, ""},
		"a base that is gone": {
			func(f *finalizer) { delete(f.store.objects, tree.Object{Session: "old", Entry: 1}) },
			fault.UploadIncomplete, "a.txt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPartial()
			c.set(f)
			_, err := f.finalize(t)
			wantCode(t, err, c.code)
			if !strings.Contains(fault.Of(err).Message, c.reason) {
				t.Errorf("%v, want %s", err, c.reason)
			}
			if len(f.store.calls) > 0 {
				t.Errorf("a refusal has called %v", f.store.calls)
			}
		})
	}
	f := newPartial()
	f.by.Policy.ArtifactSize = 12
	_, err := f.finalize(t)
	wantCode(t, err, "")
}

func TestWhatARevisionCannotTakeIsRefusedBeforeItsBytesAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*finalizer)
		want fault.Code
	}{
		"a path that the base lacks": {func(f *finalizer) { f.attempt.Entries[2].Path = "x" }, fault.InvalidRequest},
		"too many bytes":             {func(f *finalizer) { f.by.Policy.ArtifactSize = 7 }, fault.RevisionSizeCapExceeded},
		"too large a file":           {func(f *finalizer) { f.by.Policy.FileSize = 3 }, fault.FileSizeCapExceeded},
		"no entrypoint": {
			func(f *finalizer) { f.attempt.Session.Entrypoint = "x" }, fault.EntrypointNotInRevision,
		},
		"a file is missing": {func(f *finalizer) { delete(f.store.objects, f.object(0)) }, fault.UploadIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPartial()
			c.set(f)
			_, err := f.finalize(t)
			wantCode(t, err, c.want)
			if f.store.opened > 0 {
				t.Errorf("%d objects were read", f.store.opened)
			}
		})
	}
}

// patchesPage makes the page a diff too, with a result of twelve bytes.
func (f *finalizer) patchesPage() {
	const diff = "@@ -1 +1,2 @@\n-old\n\\ No newline at end of file\n+a longer\n+one\n\\ No newline at end of file\n"
	delete(f.store.objects, f.object(0))
	f.store.objects[tree.Object{Session: f.attempt.Session.ID, Entry: 0, Diff: true}] = diff
	f.store.objects[tree.Object{Session: "old", Entry: 0}] = "old"
	e := &f.attempt.Entries[0]
	e.Size = int64(len(diff))
	e.Patch = &Patch{Base: tree.DigestOf("old"), Result: tree.DigestOf("a longer\none")}
}

func TestBorrowedBytesAreReferredToBeforeTheyAreCheckedAndCommitted(t *testing.T) {
	lent := tree.Object{Session: "lender", Entry: 7}
	for name, c := range map[string]struct {
		set       func(*fakeStore)
		want      fault.Code
		unindexed bool
		commits   bool
	}{
		"they are there": {func(*fakeStore) {}, "", false, true},
		"they are gone":  {func(f *fakeStore) { delete(f.objects, lent) }, fault.UploadIncomplete, true, false},
		"they are others": {
			func(f *fakeStore) { f.objects[lent] = "longer" }, fault.UploadIncomplete, true, false,
		},
		"their store is out of reach": {
			func(f *fakeStore) { f.heads = fault.NewCode(fault.StorageUnavailable) },
			fault.StorageUnavailable, false, false,
		},
		"they cannot be referenced": {
			func(f *fakeStore) { f.references = fault.NewCode(fault.DatabaseUnavailable) },
			fault.DatabaseUnavailable, false, false,
		},
		"the commit loses afterwards": {
			func(f *fakeStore) { f.finalizes = fault.NewCode(fault.DraftRevisionConflict) },
			fault.DraftRevisionConflict, false, true,
		},
		"another file lacks its bytes": {func(f *fakeStore) { clear(f.objects) }, fault.UploadIncomplete, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinalizer()
			e := &f.attempt.Entries[1]
			e.Reused, e.Borrowed = true, true
			delete(f.store.objects, e.Object)
			e.Object = lent
			f.store.objects[lent] = "body"
			c.set(f.store)
			_, err := f.finalize(t)
			wantCode(t, err, c.want)
			if (len(f.store.unindexed) == 1) != c.unindexed || (len(f.store.done) == 1) != c.commits {
				t.Errorf("unindexed %v, %d commits", f.store.unindexed, len(f.store.done))
			}
			if want := []string{"AddReference", "Head", "Finalize"}; c.commits && !slices.Equal(f.store.calls, want) {
				t.Errorf("%v", f.store.calls)
			}
		})
	}
}

func TestOneAttemptAtATimeHoldsTheCommand(t *testing.T) {
	running := idempotency.Record{Fingerprint: newFinalizer().attempt.Command.Fingerprint, Expires: now.Add(time.Hour)}
	done, other := running, running
	done.Done, other.Done = true, true
	done.Result = []byte(`{"n":9,"b":90}`)
	other.Fingerprint[0]++
	for name, c := range map[string]struct {
		record   *idempotency.Record // that was read with the request
		claims   *idempotency.Record // that the claim met
		commits  *idempotency.Record // that the commit met
		files    int
		released int
		want     fault.Code
	}{
		"it holds it": {nil, nil, nil, 2, 0, ""},
		"another one finished before the request": {&done, nil, nil, 9, 0, ""},
		"another one finished meanwhile":          {nil, &done, nil, 9, 0, ""},
		"another one holds it":                    {nil, &running, nil, 0, 0, fault.IdempotencyInFlight},
		"another one had another body":            {&other, nil, nil, 0, 0, fault.InvalidIdempotencyKey},
		"another one took it over":                {nil, nil, &running, 0, 0, fault.IdempotencyInFlight},
		"another one took it over and finished":   {nil, nil, &done, 9, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinalizer()
			f.attempt.Record = c.record
			if c.claims != nil {
				f.store.claims = &idempotency.AlreadyDone{Record: *c.claims}
			}
			if c.commits != nil {
				f.store.finalizes = &idempotency.AlreadyDone{Record: *c.commits}
			}
			out, err := f.finalize(t)
			wantCode(t, err, c.want)
			if out.FileCount != c.files || f.store.released != c.released {
				t.Errorf("%+v, released %d times", out, f.store.released)
			}
			if c.record != nil && len(f.store.owners) > 0 {
				t.Error("a repetition takes the command")
			}
		})
	}
}

func TestAFailedAttemptGivesTheCommandBack(t *testing.T) {
	f := newFinalizer()
	delete(f.store.objects, f.object(1))
	_, err := f.finalize(t)
	wantCode(t, err, fault.UploadIncomplete)
	if f.store.released != 1 || len(f.store.owners) != 2 || f.store.owners[0] != f.store.owners[1] {
		t.Errorf("owners %q", f.store.owners)
	}
	first := f.store.owners[0]
	f.store.objects[f.object(1)] = "body"
	f.store.owners = nil
	_, err = f.finalize(t)
	wantCode(t, err, "")
	if f.store.owners[0] == first || f.store.owners[0] != f.store.owners[1] {
		t.Error("two attempts have one owner, or one has two")
	}
}

func TestALeaseLastsAsLongAsItIsTold(t *testing.T) {
	for told, want := range map[time.Duration]time.Duration{0: limits.FinalizeLease, time.Second: time.Second} {
		f := newFinalizer()
		f.Lease = told
		_, err := f.finalize(t)
		wantCode(t, err, "")
		if !f.store.lease.Equal(now.Add(want)) {
			t.Errorf("told %s, it lasts until %s", told, f.store.lease)
		}
	}
}

func TestF08ASessionThatIsSettledAnswersAgain(t *testing.T) {
	t.Run("it was finalized before", func(t *testing.T) {
		f := newFinalizer()
		f.attempt.Session.Status = Finalized
		f.attempt.Session.FileCount = 7
		out, err := f.finalize(t)
		wantCode(t, err, "")
		if out.FileCount != 7 || len(f.store.owners) > 0 {
			t.Errorf("%+v, %d calls", out, len(f.store.owners))
		}
	})
	for name, c := range map[string]struct {
		status Status
		want   fault.Code
	}{
		"it was finalized meanwhile, by another key": {Finalized, ""},
		"it was ended meanwhile":                     {Expired, fault.UploadSessionExpired},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinalizer()
			settled := *f.attempt.Session
			settled.Status, settled.FileCount = c.status, 7
			f.store.finalizes = &Settled{settled}
			out, err := f.finalize(t)
			wantCode(t, err, c.want)
			if c.want == "" && out.FileCount != 7 || f.store.released != 1 {
				t.Errorf("%+v, released %d times", out, f.store.released)
			}
		})
	}
}

func TestAnOldRecordLeavesTheTotalsToTheSession(t *testing.T) {
	f := newFinalizer()
	f.attempt.Session.FileCount, f.attempt.Session.Size = 7, 70
	f.attempt.Record = &idempotency.Record{
		Fingerprint: f.attempt.Command.Fingerprint,
		Done:        true,
		Expires:     now.Add(time.Hour),
		Result:      []byte(`{}`),
	}
	out, err := f.finalize(t)
	wantCode(t, err, "")
	if out.FileCount != 7 || out.SizeBytes != 70 {
		t.Errorf("%+v", out)
	}
}
