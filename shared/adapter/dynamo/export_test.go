package dynamo

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

// exportEnv is a workspace with a key on tables of its own.
type exportEnv struct {
	Stores
	t  *testing.T
	w  workspace.Workspace
	k  credential.Key
	at time.Time
}

func newExportEnv(t *testing.T) *exportEnv {
	t.Helper()
	e := &exportEnv{Stores: newStore(t), t: t, at: now()}
	e.w, e.k = tenant(t, e.Stores)
	return e
}

// creation is a new export that replaces another one, if any.
func (e *exportEnv) creation(replaces *export.Export) export.Creation {
	made := export.Export{
		ID:        id.NewExport(),
		Workspace: e.w.ID,
		Status:    export.Pending,
		Member:    id.NewMember(),
		CreatedAt: e.at,
	}
	return export.Creation{
		Command:  command(e.k, idempotency.CreateExport),
		Result:   []byte(`{}`),
		Export:   made,
		Replaces: replaces,
		At:       e.at,
		Event: event.Event{
			ID:        id.NewEvent(),
			Workspace: e.w.ID,
			At:        e.at,
			Action:    event.ExportCreated,
			Actor:     event.ByMember(made.Member),
			Target:    event.Target{Type: event.OnExport, ID: string(made.ID)},
		},
	}
}

// create stores a new export.
func (e *exportEnv) create(replaces *export.Export) export.Export {
	e.t.Helper()
	c := e.creation(replaces)
	noError(e.t, e.Exports.Create(ctx, c))
	return c.Export
}

// stored reads the export as members see it.
func (e *exportEnv) stored() export.Export {
	e.t.Helper()
	got, err := e.Exports.Export(ctx, e.w.ID)
	if err != nil || got == nil {
		e.t.Fatal(got, err)
	}
	return *got
}

// due returns the export that is to be made.
func (e *exportEnv) due(at time.Time) sweep.Export {
	e.t.Helper()
	all, err := e.Exports.DueExports(ctx, at, 10)
	if err != nil || len(all) != 1 {
		e.t.Fatalf("%d exports are due: %v", len(all), err)
	}
	return all[0]
}

// take begins an attempt.
func (e *exportEnv) take() sweep.Export {
	e.t.Helper()
	got, ok, err := e.Exports.Take(ctx, e.due(e.at), e.at.Add(limits.ExportLease))
	if err != nil || !ok {
		e.t.Fatal(ok, err)
	}
	return got
}

// save stores progress.
func (e *exportEnv) save(was sweep.Export, change func(*export.Export)) export.Export {
	e.t.Helper()
	p := was.Export
	change(&p)
	if ok, err := e.Exports.Save(ctx, was, p); err != nil || !ok {
		e.t.Fatal(ok, err)
	}
	return e.stored()
}

// stale returns the exports whose archives are to be deleted at an instant.
func (e *exportEnv) stale(at time.Time) []sweep.StaleExport {
	e.t.Helper()
	all := must(e.Exports.DueStaleExports(ctx, at, 10))(e.t)
	return all
}

var volumes = []export.Volume{{Size: 5, SHA256: tree.DigestOf("one")}, {Size: 1 << 40, SHA256: tree.DigestOf("two")}}

func ready(at time.Time) func(*export.Export) {
	return func(p *export.Export) {
		p.Status = export.Ready
		p.EndedAt = at
		p.ExpiresAt = at.Add(limits.ExportLife)
		p.Volumes = volumes
	}
}

func TestTheProgressOfAnExportIsStored(t *testing.T) {
	e := newExportEnv(t)
	made := e.create(nil)
	if diff := cmp.Diff(made, e.stored()); diff != "" {
		t.Errorf("what is stored (-want +got):\n%s", diff)
	}
	got := e.save(e.take(), func(p *export.Export) { p.StartedAt, p.Artifacts = e.at, 250 })
	if got.Attempts != 0 || got.Artifacts != 250 || !got.StartedAt.Equal(e.at) || got.Status != export.Pending {
		t.Errorf("%+v, want it pending, with 250 artifacts", got)
	}
	got = e.save(e.take(), func(p *export.Export) {
		p.Next = export.Position{
			Artifact: 120,
			Revision: 3,
			Changes:  44,
			Events:   "17 evt_x",
		}
		p.Volumes = volumes
		p.Skipped = 2
	})
	want := export.Position{
		Artifact: 120,
		Revision: 3,
		Changes:  44,
		Events:   "17 evt_x",
	}
	if got.Next != want || got.Skipped != 2 ||
		!slices.Equal(got.Volumes, volumes) || !got.StartedAt.Equal(e.at) {
		t.Errorf("%+v, want the position and the volumes that were saved", got)
	}
	got = e.save(e.take(), ready(e.at))
	if got.Status != export.Ready || !got.ExpiresAt.Equal(e.at.Add(limits.ExportLife)) || got.Size() != 5+1<<40 {
		t.Errorf("%+v, want it ready for its whole life", got)
	}
	if all, err := e.Exports.DueExports(ctx, e.at.Add(limits.Day), 10); err != nil || len(all) > 0 {
		t.Errorf("one that is ready is to be made: %v, %v", all, err)
	}
}

// TestProgressWithinARevisionEndsWithWhatItBelongsTo has older code go on, which does not know that progress.
func TestProgressWithinARevisionEndsWithWhatItBelongsTo(t *testing.T) {
	e := newExportEnv(t)
	e.create(nil)
	e.save(e.take(), func(p *export.Export) { p.StartedAt = e.at })
	e.save(e.take(), func(p *export.Export) { p.Volumes, p.Next.Changes = volumes[:1], 3 })
	for name, older := range map[string]struct {
		set   string
		value any
	}{
		"begins anew":             {"SET #started = :v", e.at.Add(time.Second)},
		"makes the next archive":  {"SET #vols = :v", packVolumes(volumes)},
		"has lost what were made": {"SET #vols = :v", packVolumes(nil)},
	} {
		if got := e.stored(); got.Next.Changes != 3 {
			t.Fatalf("%+v, want the progress that was saved", got.Next)
		}
		k := exportKey(e.w.ID)
		change := func(set string, v values) {
			if _, ok, err := e.Exports.change(ctx, k, set, "attribute_exists(#id)", v); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		change(older.set, values{"v": older.value})
		if got := e.stored(); got.Next.Changes != 0 {
			t.Errorf("it %s: %+v, want nothing of it done", name, got.Next)
		}
		change("SET #started = :s, #vols = :v", values{"s": e.at, "v": packVolumes(volumes[:1])})
	}
	e.save(e.take(), func(p *export.Export) { p.Next.Changes, p.Next.Revision = 0, 1 })
	if got := e.stored(); got.Next != (export.Position{Revision: 1}) {
		t.Errorf("%+v, want the next revision", got.Next)
	}
}

func TestAnExportHasAsManyArchivesAsItMayHave(t *testing.T) {
	e := newExportEnv(t)
	e.create(nil)
	e.save(e.take(), func(p *export.Export) { p.StartedAt, p.Artifacts = e.at, 1_000_000 })
	many := make([]export.Volume, limits.ExportVolumes)
	for n := range many {
		many[n] = export.Volume{Size: 1 << 40, SHA256: tree.DigestOf(string(rune(n)))}
	}
	got := e.save(e.take(), func(p *export.Export) {
		p.Next = export.Position{
			Artifact: 999_999,
			Revision: 1000,
			Changes:  2000,
			Events:   "1795000000000 " + string(id.NewEvent()),
		}
		p.Volumes, p.Most = many, len(many)
	})
	if !slices.Equal(got.Volumes, many) || got.Most != len(many) || got.Next.Changes != 2000 {
		t.Errorf("%d archives, %d at most, %+v", len(got.Volumes), got.Most, got.Next)
	}
	e.save(e.take(), func(p *export.Export) {
		p.Status = export.Failed
		p.Reason = export.TooLarge
		p.EndedAt = e.at
	})
	if left := e.stale(e.at.Add(limits.ExportLease)); len(left) != 1 || left[0].Most != len(many) {
		t.Errorf("%d exports to delete, want one with all archives", len(left))
	}
}

func TestAtMostOneFunctionMakesAnExport(t *testing.T) {
	e := newExportEnv(t)
	e.create(nil)
	due := e.due(e.at)
	first := e.take()
	if _, ok, err := e.Exports.Take(ctx, due, e.at); ok || err != nil {
		t.Error("another function took it", err)
	}
	if all, err := e.Exports.DueExports(ctx, e.at, 10); err != nil || len(all) > 0 {
		t.Errorf("it is due while it is made: %v %v", all, err)
	}
	noError(t, e.Exports.Release(ctx, first))
	second := e.take()
	if second.Attempts != 2 {
		t.Errorf("%d attempts", second.Attempts)
	}
	if ok, err := e.Exports.Save(ctx, first, first.Export); ok || err != nil {
		t.Error("an attempt that ended saves", err)
	}
	noError(t, e.Exports.Release(ctx, first))
	if all, err := e.Exports.DueExports(ctx, e.at, 10); err != nil || len(all) > 0 {
		t.Error("an attempt that ended releases another one", err)
	}
	e.due(e.at.Add(limits.ExportLease)) // a function that died
}

func TestAnExportIsCreatedOnceAndReplacesTheOneThatWasSeen(t *testing.T) {
	e := newExportEnv(t)
	first := e.create(nil)
	for name, replaces := range map[string]*export.Export{"none was seen": nil, "a pending one was seen": &first} {
		c := e.creation(replaces)
		if replaces != nil {
			ended := *replaces
			ended.Status = export.Ready
			c.Replaces = &ended
		}
		if err := e.Exports.Create(ctx, c); !errors.Is(err, export.ErrMoved) {
			t.Errorf("%s: %v", name, err)
		}
	}
	noop := e.creation(nil)
	noop.Export = first
	noError(t, e.Exports.RecordNoop(ctx, noop))
	var already *idempotency.AlreadyDone
	if err := e.Exports.RecordNoop(ctx, noop); !errors.As(err, &already) {
		t.Errorf("recorded twice: %v", err)
	}
	done := e.save(e.take(), ready(e.at))
	late := e.creation(nil)
	late.Export = first
	if err := e.Exports.RecordNoop(ctx, late); !errors.Is(err, export.ErrMoved) {
		t.Errorf("of one that is ready: %v", err)
	}
	next := e.create(&done)
	if got := e.stored(); got.ID != next.ID {
		t.Errorf("%+v, want the next export", got)
	}
	left := e.stale(e.at)
	if len(left) != 1 || left[0].ID != done.ID || !slices.Equal(left[0].Volumes, volumes) {
		t.Fatalf("%+v, want the one before, with its volumes", left)
	}
	noError(t, e.Exports.Forget(ctx, left[0]))
	if left := e.stale(e.at.Add(limits.Day)); len(left) > 0 || e.stored().ID != next.ID {
		t.Errorf("%+v, want nothing left of it", left)
	}
}

func TestTheArchivesOfAnExportAreDeletedWhenItEnds(t *testing.T) {
	e := newExportEnv(t)
	e.create(nil)
	e.save(e.take(), ready(e.at))
	if left := e.stale(e.at.Add(limits.ExportLife - time.Second)); len(left) > 0 {
		t.Errorf("too soon: %+v", left)
	}
	left := e.stale(e.at.Add(limits.ExportLife))
	if len(left) != 1 || len(left[0].Volumes) != 2 {
		t.Fatalf("%+v, want one, with two volumes", left)
	}
	for range 2 {
		noError(t, e.Exports.Forget(ctx, left[0]))
	}
	got := e.stored()
	if got.Status != export.Expired || len(got.Volumes) > 0 || len(e.stale(e.at.Add(limits.Day*100))) > 0 {
		t.Errorf("%+v, want it expired, and nothing left", got)
	}
	e.create(&got)
	if err := e.Exports.Forget(ctx, left[0]); err != nil || e.stored().Status != export.Pending {
		t.Errorf("a repetition that is late ends the next one: %v", err)
	}
	failed := e.save(e.take(), func(p *export.Export) {
		p.Status = export.Failed
		p.Reason = export.Unreadable
		p.EndedAt = e.at
	})
	if failed.Reason != export.Unreadable || !failed.StartedAt.IsZero() || len(e.stale(e.at)) > 0 {
		t.Errorf("%+v, want it failed, and nothing left yet", failed)
	}
	left = e.stale(e.at.Add(limits.ExportLease))
	if len(left) != 1 {
		t.Fatalf("%+v, want one", left)
	}
	if err := e.Exports.Forget(ctx, left[0]); err != nil || e.stored().Status != export.Failed {
		t.Errorf("%+v, %v, want it failed", e.stored(), err)
	}
}

func TestTheListOfAnExportIsReadAsItWasStored(t *testing.T) {
	e := newExportEnv(t)
	made := e.create(nil)
	var list []id.Artifact
	for range limits.ExportListed {
		list = append(list, id.NewArtifact())
	}
	for _, some := range [][]id.Artifact{list[:3], list} {
		noError(t, e.Exports.SaveList(ctx, made, 1, some))
	}
	got, err := e.Exports.ReadList(ctx, made, 1)
	if err != nil || !slices.Equal(got, list) {
		t.Errorf("%d artifacts, %v", len(got), err)
	}
	if got, err := e.Exports.ReadList(ctx, made, 0); err != nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	if err := e.Exports.SaveList(ctx, made, 1, []id.Artifact{"art_x"}); err == nil {
		t.Error("a malformed id is stored")
	}
}

func TestAnExportListsWhatAWorkspaceHas(t *testing.T) {
	e := newExportEnv(t)
	k, _, f := drafted(t, e.Stores, 1)
	all, err := e.Exports.LiveArtifacts(ctx, workspace.Workspace{ID: k.Workspace}, now())
	if err != nil || len(all) != 1 || all[0] != f.Revision.Artifact {
		t.Errorf("%v, %v", all, err)
	}
	keys, err := e.Exports.APIKeys(ctx, e.w, now())
	if err != nil || len(keys) != 1 || keys[0].ID != e.k.ID {
		t.Errorf("%v, %v", keys, err)
	}
	m := member.Member{ID: id.NewMember(), Workspace: e.w.ID, Email: "ada@example.test"}
	must(e.putNew(ctx, e.tables.Core, memberItem(m)))(t)
	members, err := e.Exports.Members(ctx, e.w.ID)
	if err != nil || len(members) != 1 || members[0].ID != m.ID || members[0].Email != m.Email {
		t.Errorf("%v, %v", members, err)
	}
}
