package dynamo

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// brought makes the files that a session uploads.
func brought(u upload.Session, n int) (files tree.Tree) {
	for entry := range n {
		files = append(files, tree.File{
			Path:   fmt.Sprintf("file-%d.txt", entry),
			Size:   3,
			SHA256: tree.DigestOf(fmt.Sprint(entry)),
			Object: tree.Object{Session: u.ID, Entry: entry},
		})
	}
	return files
}

// shapes are numbers of files whose list is in its neighbour's item, and in an item of its own.
var shapes = map[string]struct {
	files, items int
}{
	"together": {3, 1},
	"apart":    {40, 2},
}

// drafted finalizes a session with this many files.
func drafted(t *testing.T, s Stores, n int) (credential.Key, upload.Session, upload.Finalization) {
	t.Helper()
	w, k := tenant(t, s)
	u, entries := openSession(t, s, w, k, "")
	f := finalization(t, s, k, u, entries)
	f.Tree = brought(u, n)
	noError(t, s.Uploads.Finalize(ctx, f))
	return k, u, f
}

// itemsOf are the items of a partition but its metadata.
func itemsOf(t *testing.T, s Stores, pk string) (out []item) {
	t.Helper()
	noError(t, s.Garbage.partition(ctx, pk, func(i item) error {
		if i.key().sk != metaSort {
			out = append(out, i)
		}
		return nil
	}))
	return out
}

// remainsOf are the revisions that a purge has to deal with, with their files.
func remainsOf(s Stores, p sweep.Purge) (all []artifact.Contents, err error) {
	err = s.Garbage.Remains(ctx, p, func(_ *artifact.Artifact, revisions []sweep.StoredRevision) error {
		for _, r := range revisions {
			files, err := r.Files()
			if err != nil {
				return err
			}
			all = append(all, artifact.Contents{Revision: r.Revision, Tree: files})
		}
		return nil
	})
	return all, err
}

func TestFilesAreReadFromEitherPlace(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			k, u, f := drafted(t, s, shape.files)
			a, r := f.Artifact.ID, f.Revision.ID
			if n := len(itemsOf(t, s, artifactKey(a).pk)); n != shape.items {
				t.Errorf("the revision is in %d items", n)
			}
			files, err := s.Artifacts.Tree(ctx, a, r)
			wantSame(t, "the tree", files, f.Tree, err)
			contents, err := s.Artifacts.Contents(ctx, a, r)
			wantSame(t, "the contents", contents, &artifact.Contents{Revision: f.Revision, Tree: f.Tree}, err)
			files, err = s.ContentIndex.NewObjects(ctx, u)
			wantSame(t, "what the session brought", files, f.Tree, err)
			for _, one := range []id.Revision{"", r} {
				all, err := remainsOf(s, sweep.Purge{Artifact: a, Revision: one})
				wantSame(t, "what a purge sees", all, []artifact.Contents{*contents}, err)
			}
			noError(t, s.Artifacts.Publish(ctx, publication(k, f.Revision, 1)))
			for _, i := range itemsOf(t, s, artifactKey(a).pk) {
				if shape.items == 1 && i.size() > writeUnit {
					t.Errorf("the published revision takes %d bytes", i.size())
				}
			}
			listed, err := s.Artifacts.Revisions(ctx, a)
			if err != nil || len(listed) != 1 || listed[0].Number != 1 {
				t.Errorf("%+v %v, want the one revision", listed, err)
			}
		})
	}
}

func TestAReferenceHoldsUntilTheFilesGoFromEitherPlace(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, _, f := drafted(t, s, shape.files)
			a, r := f.Artifact.ID, f.Revision.ID
			lent := tree.Object{Session: id.NewSession(), Entry: 1}
			noError(t, s.ContentIndex.AddReference(ctx, a, r, []tree.Object{lent}))
			held, dead, err := s.Garbage.ReferencesTo(ctx, lent)
			if err != nil || !held || dead != nil {
				t.Errorf("held: %t, dead: %v, %v", held, dead, err)
			}
			for range 2 { // a purge that died is repeated
				noError(t, s.Garbage.DeleteFileList(ctx, artifact.Revision{ID: r, Artifact: a}))
			}
			held, dead, err = s.Garbage.ReferencesTo(ctx, lent)
			if err != nil || held || !slices.Equal(dead, []id.Revision{r}) {
				t.Errorf("held: %t, dead: %v, %v", held, dead, err)
			}
			files, err := s.Artifacts.Tree(ctx, a, r)
			wantSame(t, "the tree", files, nil, err)
			for _, one := range []id.Revision{"", r} {
				all, err := remainsOf(s, sweep.Purge{Artifact: a, Revision: one})
				wantSame(t, "what a purge sees", all, nil, err)
			}
			left, err := s.Artifacts.Revision(ctx, a, r)
			if err != nil || left == nil || left.Status != artifact.Retained {
				t.Errorf("%+v %v, want it retained", left, err)
			}
		})
	}
}

func TestADraftThatIsDiscardedKeepsItsFilesForThePurge(t *testing.T) {
	s := newStore(t)
	_, _, f := drafted(t, s, 3)
	at := f.At
	due := sweep.Artifact{Artifact: f.Artifact, Version: 1}
	noError(t, s.Queue.Discard(ctx, due, at, record(f.Artifact.Owner, at)))
	all, err := remainsOf(s, sweep.Purge{Artifact: f.Artifact.ID, Revision: f.Revision.ID})
	if err != nil || len(all) != 1 || len(all[0].Tree) != 3 {
		t.Fatalf("%+v %v, want one revision of three files", all, err)
	}
	purges, err := s.Garbage.DuePurges(ctx, at, 10)
	if err != nil || len(purges) != 1 || purges[0].Revision != f.Revision.ID {
		t.Errorf("%+v %v, want a purge of the revision", purges, err)
	}
	for _, i := range itemsOf(t, s, artifactKey(f.Artifact.ID).pk) {
		if i.size() > writeUnit {
			t.Errorf("the discarded draft takes %d bytes", i.size())
		}
	}
}

func TestEntriesAreReadFromEitherPlace(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			w, k := tenant(t, s)
			c := creation(w, k, "")
			c.Entries = nil
			for _, f := range brought(c.Session, shape.files) {
				c.Entries = append(c.Entries, upload.Entry{
					Path:   f.Path,
					Size:   f.Size,
					SHA256: &f.SHA256,
					Object: f.Object,
				})
			}
			noError(t, s.Uploads.Create(ctx, c))
			if n := len(itemsOf(t, s, uploadKey(c.Session.ID).pk)); n != shape.items-1 {
				t.Errorf("the entries are in %d items of their own", n)
			}
			u, entries, err := s.Uploads.Session(ctx, c.Session.ID)
			wantSame(t, "the session", u, &c.Session, err)
			wantSame(t, "its entries", entries, c.Entries, nil)
			f := finalization(t, s, k, c.Session, c.Entries)
			noError(t, s.Uploads.Finalize(ctx, f))
			u, entries, err = s.Uploads.Session(ctx, c.Session.ID)
			if err != nil || u.Status != upload.Finalized || len(entries) != shape.files {
				t.Errorf("%+v, %d entries, %v, want it finalized with all files", u, len(entries), err)
			}
			for range 2 { // a job that died is repeated
				noError(t, s.Queue.ForgetSession(ctx, *u))
			}
			gate, err := s.get(ctx, uploadKey(c.Session.ID))
			if err != nil || gate.getStr("g2p") != "" || gate["ttl"] != nil {
				t.Errorf("the gate of the session says %v, %v", gate, err)
			}
			for _, i := range itemsOf(t, s, uploadKey(c.Session.ID).pk) {
				if i["ttl"] == nil {
					t.Error("its entries never end")
				}
			}
		})
	}
}

func TestASessionThatIsFinalizedSoonKeepsItsPlaceInTheQueue(t *testing.T) {
	soon, late := time.Second, limits.UploadPatience
	for name, c := range map[string]struct {
		diffs    bool
		waits    bool // the jobs met the session while it was pending
		after    time.Duration
		new, end string // its queue when it is new, and when it is finalized
	}{
		"soon":                     {false, false, soon, uploadDue, uploadDue},
		"late":                     {false, false, late, uploadDue, indexDue},
		"late, as the jobs saw":    {false, true, late, uploadDue, indexDue},
		"soon by a slow clock":     {false, true, soon, uploadDue, uploadDue},
		"a session with diffs":     {true, false, soon, sessionDue, indexDue},
		"with diffs, after a look": {true, true, late, sessionDue, indexDue},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			w, k := tenant(t, s)
			one := creation(w, k, "")
			one.Session.Diffs = c.diffs
			noError(t, s.Uploads.Create(ctx, one))
			u := one.Session
			wantQueue := func(kind string) {
				t.Helper()
				i, err := s.get(ctx, uploadKey(u.ID))
				if err != nil || i.getStr("g2p") != queueOf(kind, string(u.ID)) {
					t.Errorf("it is in %s, want %s; %v", i.getStr("g2p"), kind, err)
				}
			}
			wantQueue(c.new)
			young, err := s.ContentIndex.DueUploads(ctx, u.CreatedAt.Add(soon), 10)
			if err != nil || len(young) > 0 {
				t.Errorf("the jobs disturb a new session: %v, %v", young, err)
			}
			old, err := s.ContentIndex.DueUploads(ctx, u.CreatedAt.Add(late), 10)
			if err != nil || (len(old) == 1) == c.diffs {
				t.Errorf("the jobs find %v, %v", old, err)
			}
			if c.waits {
				awaitEnd(t, s, u)
				wantQueue(sessionDue)
			}
			f := finalization(t, s, k, u, one.Entries)
			f.At = u.CreatedAt.Add(c.after)
			noError(t, s.Uploads.Finalize(ctx, f))
			wantQueue(c.end)
			awaitEnd(t, s, u) // by a job that read it before
			wantQueue(c.end)
			found, err := s.ContentIndex.DueUploads(ctx, u.CreatedAt.Add(late), 10)
			if err != nil || len(found) != 1 || found[0].Status != upload.Finalized {
				t.Errorf("its files are not indexed: %v, %v", found, err)
			}
		})
	}
}

func awaitEnd(t *testing.T, s Stores, u upload.Session) {
	t.Helper()
	noError(t, s.ContentIndex.AwaitEnd(ctx, u))
}

func TestEntriesOfASessionThatBringsNothingEndByThemselves(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	c := creation(w, k, "")
	c.Entries[0].Reused = true
	noError(t, s.Uploads.Create(ctx, c))
	if n := len(itemsOf(t, s, uploadKey(c.Session.ID).pk)); n != 1 {
		t.Errorf("the entries are in %d items of their own", n)
	}
}

func TestObjectsOfASessionAreOneDeletion(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	u, _ := openSession(t, s, w, k, "")
	files := brought(u, 3)
	for n := range files {
		files[n].Path = ""
	}
	due := func(minutes int) time.Time { return goldenAt(minutes) }
	candidate := sweep.GarbageCandidate{Home: w.ID, Session: u.ID, Objects: files[:2]}
	candidate.Due = due(1)
	mark := func() {
		t.Helper()
		noError(t, s.Garbage.Mark(ctx, candidate))
	}
	read := func(at time.Time) []sweep.GarbageCandidate {
		t.Helper()
		found := must(s.Garbage.DueGarbage(ctx, at, 10))(t)
		return found
	}
	mark()
	mark() // a purge that died is repeated
	first := read(due(1))
	if len(first) != 1 || !cmp.Equal(first[0].Objects, []tree.File(files[:2])) || first[0].Home != w.ID {
		t.Fatalf("%+v, want the first two objects", first)
	}
	candidate.Objects, candidate.Due = files[2:], due(2)
	mark()
	if early := read(due(1)); len(early) != 0 {
		t.Errorf("what was marked again falls due as before: %+v", early)
	}
	noError(t, s.Garbage.Unmark(ctx, first[0])) // by a collector that read it before
	second := read(due(2))
	if len(second) != 1 || !cmp.Equal(second[0].Objects, []tree.File(files)) {
		t.Fatalf("%+v, want all three objects", second)
	}
	noError(t, s.Garbage.Reschedule(ctx, second[0].QueueItem, due(3), 1))
	third := read(due(3))
	if len(third) != 1 || third[0].Failures != 1 || len(third[0].Objects) != 3 {
		t.Fatalf("%+v, want all three objects after one failure", third)
	}
	noError(t, s.Garbage.Unmark(ctx, third[0]))
	if left := read(due(9)); len(left) != 0 {
		t.Errorf("%+v is left", left)
	}
	gate, err := s.get(ctx, uploadKey(u.ID))
	if err != nil || gate["files"] != nil || gate.getStr("art") == "" {
		t.Errorf("the session without objects says %v, %v", gate, err)
	}
}

func TestTheIndexTellsWhichObjectsItNames(t *testing.T) {
	s := newStore(t)
	home, u := id.NewWorkspace(), upload.Session{ID: id.NewSession()}
	files := brought(u, 3)
	twin := files[0] // the same content in another object
	twin.Object.Entry = 9
	noError(t, s.ContentIndex.Add(ctx, home, files[0]))
	noError(t, s.ContentIndex.Add(ctx, home, files[2]))
	named, err := s.ContentIndex.Indexed(ctx, home, append(files, twin))
	wantSame(t, "what is indexed", named, []tree.File{files[0], files[2]}, err)
	named, err = s.ContentIndex.Indexed(ctx, id.NewWorkspace(), files)
	wantSame(t, "what is indexed elsewhere", named, nil, err)
}

func TestAnItemOfOneObjectIsDeletedByItself(t *testing.T) {
	s := goldenStores(t)
	found, err := s.Garbage.DueGarbage(ctx, goldenAt(2), 10)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	again := sweep.GarbageCandidate{Home: goldenHome, Session: found[0].Session, Objects: found[0].Objects}
	again.Due = goldenAt(2)
	noError(t, s.Garbage.Mark(ctx, again))
	noError(t, s.Garbage.Unmark(ctx, found[0]))
	left, err := s.Garbage.DueGarbage(ctx, goldenAt(2), 10)
	if err != nil || len(left) != 1 || !left[0].Due.Equal(goldenAt(2)) {
		t.Errorf("%+v %v, want the later mark", left, err)
	}
}

func TestAnEventKeepsTheRevisionThatCameWithItsTarget(t *testing.T) {
	s := newStore(t)
	_, _, f := drafted(t, s, 1)
	e := record(f.Artifact.Owner, f.At.Add(time.Second))
	e.Revision = f.Revision.ID
	tx := s.Events.begin()
	tx.record(e)
	noError(t, s.Events.commit(ctx, tx))
	found, _, _, err := s.Events.List(ctx, account.Filter{Workspace: e.Workspace}, e.At, account.Position{}, 1)
	wantSame(t, "the event", found, []event.Event{e}, err)
}

// unexported lets values be compared whose unexported fields cmp would refuse, as attributes of the SDK.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

func wantSame[T any](t *testing.T, what string, got, want T, err error) {
	t.Helper()
	if diff := cmp.Diff(want, got, unexported); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got)\n%s", what, err, diff)
	}
}
