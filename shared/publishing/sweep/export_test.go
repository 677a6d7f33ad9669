package sweep

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/tree"
)

// fakeExports has one export that is due, of a workspace whose files each hold their own path.
type fakeExports struct {
	*fakeStore
	due       Export
	workspace workspace.Workspace
	order     []id.Artifact
	artifacts map[id.Artifact]*artifact.Artifact
	revisions map[id.Artifact][]artifact.Revision
	trees     map[id.Revision]tree.Tree
	pages     int // of events, each of which has a thousand
	lists     map[int][]id.Artifact

	lost     bool // the export changed before it was saved
	released int
	vanish   map[string]func() // runs when the object of a path is opened, which is gone then
	archives map[int][]byte
	texts    map[tree.Object]string // of objects that do not hold their session

	treesRead int

	said  map[id.Thread][]feedback.Message // about the first artifact
	heard int                              // how often they were read; their ids tell
}

func newExporter(t *testing.T) (*Exporter, *fakeExports) {
	t.Helper()
	f := &fakeExports{
		fakeStore: newStore(),
		workspace: workspace.Workspace{ID: id.NewWorkspace(), Name: "Harbour", ClaimedAt: start},
		artifacts: map[id.Artifact]*artifact.Artifact{},
		revisions: map[id.Artifact][]artifact.Revision{},
		trees:     map[id.Revision]tree.Tree{},
		lists:     map[int][]id.Artifact{},
		vanish:    map[string]func(){},
		archives:  map[int][]byte{},
		texts:     map[tree.Object]string{{}: ""},
	}
	f.due = Export{
		Export: export.Export{
			ID:        id.NewExport(),
			Workspace: f.workspace.ID,
			Status:    export.Pending,
			CreatedAt: start,
		},
		QueueItem: QueueItem{Key: "key", Due: start},
	}
	numbers := limits.Default()
	return &Exporter{
		Store:   f,
		Bytes:   f,
		Threads: f,
		Limits:  &numbers,
		Now:     clock,
	}, f
}

// add adds an artifact with revisions that have these files.
func (f *fakeExports) add(title string, revisions ...[]string) *artifact.Artifact {
	a := &artifact.Artifact{
		ID:               id.NewArtifact(),
		Owner:            f.workspace.ID,
		StorageWorkspace: "home",
		Status:           artifact.Live,
		ExpiresAt:        start.Add(limits.Day),
		Title:            title,
	}
	for n, paths := range revisions {
		r := artifact.Revision{
			ID:          id.NewRevision(),
			Artifact:    a.ID,
			Status:      artifact.Published,
			Number:      n + 1,
			FileCount:   len(paths),
			PublishedAt: start,
		}
		for _, p := range paths {
			r.Size += int64(len(p))
			f.trees[r.ID] = append(f.trees[r.ID], tree.File{
				Path:   p,
				Size:   int64(len(p)),
				SHA256: tree.DigestOf(p),
				Object: tree.Object{Session: id.Session(p)},
			})
		}
		f.revisions[a.ID] = append(f.revisions[a.ID], r)
		a.Current = r.ID
	}
	f.artifacts[a.ID] = a
	f.order = append(f.order, a.ID)
	return a
}

func (f *fakeExports) DueExports(context.Context, time.Time, int) ([]Export, error) {
	if f.due.Status != export.Pending {
		return nil, nil
	}
	return []Export{f.due}, nil
}

func (f *fakeExports) Take(_ context.Context, e Export, _ time.Time) (Export, bool, error) {
	e.Attempts++
	return e, true, f.call("Take", func() { f.due.Attempts++ })
}

func (f *fakeExports) Release(context.Context, Export) error {
	f.released++
	return nil
}

func (f *fakeExports) Save(_ context.Context, _ Export, p export.Export) (bool, error) {
	if f.lost {
		return false, nil
	}
	return true, f.call("Save", func() {
		f.due.Export = p
		f.due.Attempts = 0
	})
}

func (f *fakeExports) SaveList(_ context.Context, _ export.Export, part int, all []id.Artifact) error {
	return f.call("SaveList", func() { f.lists[part] = all })
}

func (f *fakeExports) ReadList(_ context.Context, _ export.Export, part int) ([]id.Artifact, error) {
	return f.lists[part], nil
}

func (f *fakeExports) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return &f.workspace, nil
}

func (f *fakeExports) Artifact(_ context.Context, a id.Artifact) (*artifact.Artifact, error) {
	return f.artifacts[a], nil
}

func (f *fakeExports) Revisions(_ context.Context, a id.Artifact) ([]artifact.Revision, error) {
	return f.revisions[a], nil
}

func (f *fakeExports) Tree(_ context.Context, _ id.Artifact, r id.Revision) (tree.Tree, error) {
	f.treesRead++
	return f.trees[r], nil
}

func (f *fakeExports) LiveArtifacts(context.Context, workspace.Workspace, time.Time) ([]id.Artifact, error) {
	return f.order, nil
}

func (f *fakeExports) Members(context.Context, id.Workspace) ([]member.Member, error) {
	return []member.Member{{ID: id.NewMember(), Email: "ada@example.test"}}, nil
}

func (f *fakeExports) APIKeys(context.Context, workspace.Workspace, time.Time) ([]credential.Key, error) {
	return nil, nil
}

func (f *fakeExports) LinksTo(context.Context, id.Workspace, id.Artifact) ([]link.Link, error) {
	return nil, nil
}

func (f *fakeExports) Story(
	_ context.Context, _ id.Workspace, _ time.Time, after account.Position,
) ([]event.Event, account.Position, bool, error) {
	page := int(start.Add(time.Millisecond).Sub(after.At) / time.Second) // positions are a second apart
	if page >= f.pages {
		return nil, account.Position{}, false, nil
	}
	last := account.Position{At: start.Add(time.Millisecond - time.Duration(page+1)*time.Second), ID: id.NewEvent()}
	return make([]event.Event, 1000), last, true, nil
}

func (f *fakeExports) Open(_ context.Context, _ id.Workspace, o tree.Object, _, _ int64) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if gone := f.vanish[string(o.Session)]; gone != nil {
		gone()
		return nil, fault.NewCode(fault.NotFound)
	}
	if text, ok := f.texts[o]; ok {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	return io.NopCloser(strings.NewReader(string(o.Session))), nil
}

func (f *fakeExports) WriteExport(_ context.Context, o export.Object, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return f.call("WriteExport", func() { f.archives[o.Volume] = b.Bytes() })
}

// run does rounds until the export ends.
func (f *fakeExports) run(t *testing.T, x *Exporter) {
	t.Helper()
	for n := 0; f.due.Status == export.Pending; n++ {
		if n > 50 {
			t.Fatal("it does not end")
		}
		if _, err := x.Due(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// manifests reads those of all archives, with the paths that each adds, changes or removes.
func (f *fakeExports) manifests(t *testing.T) (all []export.Manifest, names [][]string) {
	t.Helper()
	for n := 1; n <= len(f.archives); n++ {
		files := entriesOf(t, f.archives[n])
		var m export.Manifest
		expect.OK(t, json.Unmarshal([]byte(files[export.ManifestName]), &m))
		var rest []string
		for _, a := range m.Artifacts {
			for _, r := range a.Revisions {
				for _, path := range r.Removed {
					rest = append(rest, "-"+path)
				}
				for _, file := range r.Files {
					if file.From == nil && files[file.Archive] != file.Path {
						t.Errorf("%s holds %q", file.Archive, files[file.Archive])
					}
					rest = append(rest, file.Path)
				}
			}
		}
		all, names = append(all, m), append(names, rest)
	}
	return all, names
}

func TestAnExportIsOneArchiveIfItFits(t *testing.T) {
	x, f := newExporter(t)
	f.add("One", []string{"a", "b"}, []string{"c"})
	f.add("Two", []string{"d"})
	f.run(t, x)
	e := f.due
	if e.Status != export.Ready || len(e.Volumes) != 1 || e.Artifacts != 2 || e.Next.Artifact != 2 || e.Skipped != 0 ||
		!e.EndedAt.Equal(start) || !e.ExpiresAt.Equal(start.Add(limits.ExportLife)) {
		t.Errorf("%+v, want it ready, with both artifacts", e)
	}
	all, names := f.manifests(t)
	if len(all) != 1 || !all[0].Last || all[0].Volume != 1 || len(all[0].Members) != 1 || len(names[0]) != 6 {
		t.Errorf("%+v %v, want one volume with the member, four files and two removed paths", all, names)
	}
	if size := int64(len(f.archives[1])); e.Volumes[0].Size != size ||
		e.Volumes[0].SHA256 != tree.DigestOf(string(f.archives[1])) {
		t.Errorf("%+v of %d bytes, want its size and digest", e.Volumes[0], size)
	}
}

func TestAnArchiveIsFullBeforeAnEntryThatHasNoRoom(t *testing.T) {
	long := strings.Repeat("x", 30)
	for name, c := range map[string]struct {
		bounds limits.ExportVolume
		want   string
	}{
		"entries": {
			limits.ExportVolume{Bytes: 1000, Entries: 2, Artifacts: 9}, "[[a b] [-a -b] [c d] [e " + long + "]]",
		},
		"bytes": {
			limits.ExportVolume{Bytes: 2, Entries: 100, Artifacts: 9}, "[[a b -a -b] [c d] [e] [" + long + "] []]",
		},
		"bytes, all used": {
			limits.ExportVolume{Bytes: 4, Entries: 100, Artifacts: 9}, "[[a b -a -b c d] [e] [" + long + "] []]",
		},
		"a revision that is split": {
			limits.ExportVolume{Bytes: 3, Entries: 100, Artifacts: 9}, "[[a b -a -b c] [d e] [" + long + "] []]",
		},
		"artifacts": {
			limits.ExportVolume{Bytes: 1000, Entries: 100, Artifacts: 1}, "[[a b -a -b c d] [e] [" + long + "]]",
		},
		"a file larger than an archive": {
			limits.ExportVolume{Bytes: 20, Entries: 100, Artifacts: 9}, "[[a b -a -b c d e] [" + long + "] []]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, f := newExporter(t)
			x.Limits.ExportVolume = c.bounds
			f.add("One", []string{"a", "b"}, []string{"c", "d"})
			f.add("Two", []string{"e"})
			f.add("Three", []string{long})
			f.run(t, x)
			all, names := f.manifests(t)
			if got := fmt.Sprint(names); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			for n, m := range all {
				if m.Last != (n == len(all)-1) || m.Volume != n+1 || (len(m.Members) > 0) != (n == 0) {
					t.Errorf("archive %d says %+v", n+1, m)
				}
			}
		})
	}
}

func TestWhatIsNotExportedIsSkippedWithAReason(t *testing.T) {
	x, f := newExporter(t)
	for reason, change := range map[string]func(*artifact.Artifact){
		export.WasDeleted:     func(a *artifact.Artifact) { a.Status = artifact.Deleted },
		export.HasExpired:     func(a *artifact.Artifact) { a.ExpiresAt = start },
		export.IsLocked:       func(a *artifact.Artifact) { a.Lock = "lkd" },
		export.NotPublished:   func(a *artifact.Artifact) { a.Current = "" },
		export.NotInWorkspace: func(a *artifact.Artifact) { a.Owner = "other" },
		export.FilesLetGo:     func(a *artifact.Artifact) { f.revisions[a.ID][0].Status = artifact.Retained },
	} {
		change(f.add(reason, []string{reason}))
	}
	gone := f.add("gone", []string{"gone"})
	delete(f.artifacts, gone.ID)
	f.run(t, x)
	all, names := f.manifests(t)
	if len(names[0]) > 0 || f.due.Skipped != 7 || len(all[0].Skipped) != 7 || len(all[0].Artifacts) > 0 {
		t.Errorf("%v %+v", names, all)
	}
	for _, s := range all[0].Skipped {
		if a := f.artifacts[s.Artifact]; a == nil && s.Reason != export.WasDeleted || a != nil && a.Title != s.Reason {
			t.Errorf("%+v, want its own reason", s)
		}
	}
}

func TestALongListIsReadInParts(t *testing.T) {
	x, f := newExporter(t)
	for range limits.ExportListed + 1 {
		f.add("draft")
	}
	last := f.add("last", []string{"z"})
	f.run(t, x)
	if len(f.lists) != 2 || len(f.lists[1]) != 2 || f.due.Skipped != limits.ExportListed+1 {
		t.Errorf("%d parts, %d skipped", len(f.lists), f.due.Skipped)
	}
	if all, _ := f.manifests(t); len(all[0].Artifacts) != 1 || all[0].Artifacts[0].ID != last.ID {
		t.Errorf("%+v, want the last artifact alone", all[0].Artifacts)
	}
}

func TestEventsFillFurtherArchives(t *testing.T) {
	x, f := newExporter(t)
	f.add("One", []string{"a"})
	f.pages = maxVolumeEvents/1000 + 2
	f.run(t, x)
	all, _ := f.manifests(t)
	if len(all) != 2 || all[0].Events != maxVolumeEvents || all[0].Last || all[1].Events != 2000 || !all[1].Last {
		t.Errorf("%d archives, %+v", len(all), all)
	}
	for n, m := range all {
		lines := strings.Count(entriesOf(t, f.archives[n+1])[export.EventsName], "\n")
		if lines != m.Events {
			t.Errorf("archive %d has %d lines", n+1, lines)
		}
	}
}

func TestF90AFileThatVanishesMakesTheArchiveBeginAnew(t *testing.T) {
	x, f := newExporter(t)
	f.add("stays", []string{"a"})
	goes := f.add("goes", []string{"b"})
	f.vanish["b"] = func() { goes.Status = artifact.Deleted }
	f.run(t, x)
	all, names := f.manifests(t)
	if fmt.Sprint(names) != "[[a]]" || len(all[0].Skipped) != 1 || all[0].Skipped[0].Reason != export.WasDeleted {
		t.Errorf("%v %+v", names, all[0].Skipped)
	}
	if f.count("WriteExport") != 1 || f.released > 0 {
		t.Errorf("%v, released %d times", f.calls, f.released)
	}
}

func TestAnExportIsGivenUpAfterItsAttempts(t *testing.T) {
	x, f := newExporter(t)
	f.add("damaged", []string{"a"})
	f.vanish["a"] = func() {}
	var failures int
	for f.due.Status == export.Pending {
		if _, err := x.Due(t.Context()); err != nil {
			failures++
		}
	}
	if f.due.Status != export.Failed || f.due.Reason != export.Unreadable || failures != maxExportAttempts ||
		f.released != failures {
		t.Errorf("%d failures, %+v", failures, f.due)
	}
}

func TestAnExportOfTooManyArchivesFails(t *testing.T) {
	x, f := newExporter(t)
	f.add("One", []string{"a"})
	f.due.StartedAt = start
	f.due.Artifacts = 1
	f.due.Volumes = make([]export.Volume, limits.ExportVolumes)
	f.run(t, x)
	if f.due.Status != export.Failed || f.due.Reason != export.TooLarge || len(f.archives) > 0 {
		t.Errorf("%+v, want it failed as too large", f.due.Status)
	}
}

func TestAnExportThatDeletionsOvertakeForADayFails(t *testing.T) {
	x, f := newExporter(t)
	f.add("One", []string{"a"})
	f.due.CreatedAt = x.Now().Add(-maxExportTime - time.Second)
	f.run(t, x)
	if f.due.Status != export.Failed || f.due.Reason != export.Overtaken || len(f.archives) > 0 {
		t.Errorf("%+v, want it failed as overtaken", f.due)
	}
}

func TestAnExportThatChangedMeanwhileIsLeft(t *testing.T) {
	x, f := newExporter(t)
	f.add("One", []string{"a"})
	f.lost = true
	r, err := x.Due(t.Context())
	if err != nil || r.More || len(f.rescheduled) > 0 || f.released != 1 {
		t.Errorf("%+v, %v, %v, released %d times, want it released once", r, err, f.rescheduled, f.released)
	}
}

func TestAnExportThatIsKilledAtAnyCallIsRepeated(t *testing.T) {
	undisturbed, whole := newExporter(t)
	whole.add("One", []string{"a", "b"})
	whole.run(t, undisturbed)
	for n := 1; n <= len(whole.calls); n++ {
		x, f := newExporter(t)
		f.due.ID, f.workspace = whole.due.ID, whole.workspace
		f.artifacts, f.revisions, f.trees, f.order = whole.artifacts, whole.revisions, whole.trees, whole.order
		f.failAt = n
		for f.due.Status == export.Pending {
			x.Due(t.Context()) //nolint:errcheck // the store fails once
		}
		if !bytes.Equal(stripMembers(t, f.archives[1]), stripMembers(t, whole.archives[1])) || f.due.Status != export.Ready {
			t.Errorf("killed at call %d of %v: %+v", n, whole.calls, f.due)
		}
	}
}

// entriesOf reads an archive.
func entriesOf(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	expect.OK(t, err)
	out := map[string]string{}
	for _, file := range z.File {
		r, err := file.Open()
		expect.OK(t, err)
		b, err := io.ReadAll(r)
		expect.OK(t, err)
		out[file.Name] = string(b)
	}
	return out
}

// stripMembers returns the entries of an archive as JSON, without the members, whose ids are new each time.
func stripMembers(t *testing.T, archive []byte) []byte {
	t.Helper()
	files := entriesOf(t, archive)
	var m export.Manifest
	expect.OK(t, json.Unmarshal([]byte(files[export.ManifestName]), &m))
	m.Members = nil
	files[export.ManifestName] = fmt.Sprintf("%+v", m)
	b, err := json.Marshal(files)
	expect.OK(t, err)
	return b
}
