package upload

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

// finalizer is a service and an attempt to finalize a session with two uploaded files.
type finalizer struct {
	*Service
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
		Service: &Service{
			Store:   f,
			Index:   f,
			Objects: f,
			Now:     func() time.Time { return now },
		},
		store: f,
		by: credential.Actor{
			Workspace: workspace.Workspace{ID: "ws"},
			Policy:    limits.Policy{FileCount: 5, FileSize: 30, ArtifactSize: 60},
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

func (f *finalizer) finalize(t *testing.T) (Draft, error) {
	t.Helper()
	return f.Finalize(t.Context(), f.by, f.attempt)
}

func (f *finalizer) object(entry int) tree.Object {
	return tree.Object{Session: f.attempt.Session.ID, Entry: entry}
}

func TestADraftHasTheFilesThatWereUploaded(t *testing.T) {
	f := newFinalizer()
	out, err := f.finalize(t)
	expect.Code(t, err, "")
	if out.FileCount != 2 || out.Size != 8 || out.Revision != f.attempt.Session.Revision {
		t.Errorf("%+v, want the session's revision of 8 bytes", out)
	}
	done := f.store.done[0]
	for n, body := range []string{"page", "body"} {
		if done.Tree[n].SHA256 != tree.DigestOf(body) {
			t.Errorf("%+v, want the digest of %q", done.Tree[n], body)
		}
	}
	a, r := done.Artifact, done.Revision
	ends := f.attempt.Session.CreatedAt.Add(24 * time.Hour)
	if a.StorageWorkspace != "home" || a.Owner != "ws" || a.Draft != r.ID || !a.ExpiresAt.Equal(ends) {
		t.Errorf("%+v, want a draft for a day", a)
	}
	if r.Status != artifact.Draft || r.Mode != "html" || !r.EntrypointExists || r.Number != 0 {
		t.Errorf("%+v, want a draft of a page", r)
	}
}

func TestADraftOfALifeWithoutAnEndHasNone(t *testing.T) {
	f := newFinalizer()
	f.attempt.Session.Life = limits.Forever
	_, err := f.finalize(t)
	expect.Code(t, err, "")
	if got := f.store.done[0].Artifact.ExpiresAt; !got.Equal(limits.Never) {
		t.Errorf("it ends at %s, want never", got)
	}
}

func TestADraftIsRecordedOnceWithTheArtifactThatItMakes(t *testing.T) {
	for _, isNew := range []bool{true, false} {
		f := newFinalizer()
		f.attempt.Session.New = isNew
		_, err := f.finalize(t)
		expect.Code(t, err, "")
		session, got := f.attempt.Session, f.store.done[0].Event
		action, on := event.DraftCreated, event.Target{Type: event.OnRevision, ID: string(session.Revision)}
		revision := id.Revision("")
		if isNew {
			action, on = event.ArtifactCreated, event.Target{Type: event.OnArtifact, ID: string(session.Artifact)}
			revision = session.Revision
		}
		if got.Action != action || got.Target != on || got.Revision != revision || got.Detail != session.Title {
			t.Errorf("new %t: %+v", isNew, got)
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
		"a file whose name is not ASCII is missing": {func(f *finalizer) {
			f.attempt.Entries[1].Path = "dir/späť.txt"
			delete(f.store.objects, f.object(1))
		}, fault.UploadIncomplete},
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
		"a finalized one of another workspace": {func(f *finalizer) {
			f.attempt.Session.Workspace, f.attempt.Session.Status = "other", Finalized
		}, fault.NotFound},
		"there is no session": {func(f *finalizer) { f.attempt.Session = nil }, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinalizer()
			c.set(f)
			_, err := f.finalize(t)
			expect.Code(t, err, c.want)
			if (len(f.store.done) == 1) != (c.want == "") {
				t.Errorf("%d commits", len(f.store.done))
			}
			if c.want != "" && len(f.store.calls) > 0 {
				t.Errorf("a refusal has called %v", f.store.calls)
			}
			if c.want == fault.UploadIncomplete && fault.Of(err).Message != f.attempt.Entries[1].Path {
				t.Errorf("%v is not the path of the file", err)
			}
		})
	}
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
			f.borrows(lent)
			c.set(f.store)
			_, err := f.finalize(t)
			expect.Code(t, err, c.want)
			if (len(f.store.unindexed) == 1) != c.unindexed || (len(f.store.done) == 1) != c.commits {
				t.Errorf("unindexed %v, %d commits", f.store.unindexed, len(f.store.done))
			}
			if want := []string{"AddReference", "Head", "Finalize"}; c.commits && !slices.Equal(f.store.calls, want) {
				t.Errorf("%v", f.store.calls)
			}
		})
	}
}

// borrows makes the second file one whose bytes another session uploaded.
func (f *finalizer) borrows(lent tree.Object) *Entry {
	e := &f.attempt.Entries[1]
	e.Reused, e.Borrowed = true, true
	f.store.objects[lent] = "body"
	delete(f.store.objects, e.Object)
	e.Object = lent
	return e
}

func TestWhatIsInheritedHasTheReferencesOfAnEarlierRevision(t *testing.T) {
	f, lent := newFinalizer(), tree.Object{Session: "lender"}
	f.borrows(lent).Referrer = "earlier"
	delete(f.store.objects, lent) // the reference of the earlier revision vouches for it
	if _, err := f.finalize(t); err != nil || !slices.Equal(f.store.calls, []string{"Finalize"}) {
		t.Errorf("%v, %v, want no reference", f.store.calls, err)
	}
	if file := f.store.done[0].Tree[1]; !file.Borrowed || file.Referrer != "earlier" {
		t.Errorf("%+v, want the revision that wrote the reference", file)
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
			expect.Code(t, err, c.want)
			size := map[int]int64{2: 8, 9: 90}[c.files]
			if out.FileCount != c.files || out.Size != size || f.store.released != c.released {
				t.Errorf("%+v, released %d times, want %d", out, f.store.released, c.files)
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
	expect.Code(t, err, fault.UploadIncomplete)
	if f.store.released != 1 || len(f.store.owners) != 2 || f.store.owners[0] != f.store.owners[1] {
		t.Errorf("owners %q", f.store.owners)
	}
	first := f.store.owners[0]
	f.store.objects[f.object(1)] = "body"
	f.store.owners = nil
	_, err = f.finalize(t)
	expect.Code(t, err, "")
	if f.store.owners[0] == first || f.store.owners[0] != f.store.owners[1] {
		t.Error("two attempts have one owner, or one has two")
	}
}

func TestALeaseLastsAsLongAsItIsTold(t *testing.T) {
	for told, want := range map[time.Duration]time.Duration{0: limits.FinalizeLease, time.Second: time.Second} {
		f := newFinalizer()
		f.Lease = told
		_, err := f.finalize(t)
		expect.Code(t, err, "")
		if !f.store.lease.Equal(now.Add(want)) {
			t.Errorf("told %s, it lasts until %s", told, f.store.lease)
		}
	}
}

func TestF08ASessionThatIsSettledAnswersAgain(t *testing.T) {
	for name, c := range map[string]struct{ sameKey, expired bool }{ // it was finalized before
		"by another key":                         {false, false},
		"by the same key":                        {true, false},
		"by another key, and has expired since":  {false, true},
		"by the same key, and has expired since": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinalizer()
			first, err := f.finalize(t)
			expect.Code(t, err, "")
			done := f.store.done[0]
			done.Session.Status = Finalized
			if c.expired {
				done.Session.ExpiresAt = now
			}
			f.attempt.Session = &done.Session
			f.store.owners, f.store.calls = nil, nil
			if c.sameKey {
				f.attempt.Record = &idempotency.Record{
					Fingerprint: done.Command.Fingerprint,
					Done:        true,
					Expires:     now.Add(time.Hour),
					Result:      done.Result,
				}
			}
			out, err := f.finalize(t)
			expect.Code(t, err, "")
			if !cmp.Equal(out, first) || len(f.store.owners)+len(f.store.calls) > 0 {
				t.Errorf("%+v, first %+v; it called %v", out, first, f.store.calls)
			}
		})
	}
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
			settled.Status = c.status
			settled.FileCount, settled.Size = 7, 70
			f.store.finalizes = &Settled{settled}
			out, err := f.finalize(t)
			expect.Code(t, err, c.want)
			if c.want == "" && !cmp.Equal(out, draftOf(settled, lint.Report{})) || f.store.released != 1 {
				t.Errorf("%+v, released %d times, want the settled draft", out, f.store.released)
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
	expect.Code(t, err, "")
	if out.FileCount != 7 || out.Size != 70 {
		t.Errorf("%+v, want 7 files of 70 bytes", out)
	}
}

type brokenClaims struct{ Store }

func (brokenClaims) Claim(context.Context, idempotency.Command, string, time.Time, time.Time) error {
	panic("broken")
}

type brokenObjects struct{ Objects }

func (brokenObjects) List(context.Context, id.Workspace, id.Session, bool) (map[int]int64, error) {
	panic("broken")
}

func TestAPanicBesideFinalizeIsItsError(t *testing.T) {
	for name, breaks := range map[string]func(*finalizer){
		"the command": func(f *finalizer) { f.Store = brokenClaims{f.store} },
		"the objects": func(f *finalizer) { f.Objects = brokenObjects{f.store} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFinalizer()
			breaks(f)
			_, err := f.Finalize(t.Context(), f.by, f.attempt)
			if async.StackOf(err) == nil || len(f.store.done) > 0 {
				t.Error(err)
			}
		})
	}
}

func TestASessionOfALargerPlanIsHeldToTheCapsOfNow(t *testing.T) {
	for code, now := range map[fault.Code]limits.Policy{
		fault.FileCountCapExceeded:    {FileCount: 1, FileSize: 20, ArtifactSize: 30},
		fault.FileSizeCapExceeded:     {FileCount: 5, FileSize: 3, ArtifactSize: 30},
		fault.RevisionSizeCapExceeded: {FileCount: 5, FileSize: 20, ArtifactSize: 7},
	} {
		f := newFinalizer()
		f.by.Policy = now
		_, err := f.Finalize(t.Context(), f.by, f.attempt)
		if fault.CodeOf(err) != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
}
