package view

import (
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// hot returns an environment with both revisions in memory.
func hot(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	e.Cache = cache.New(e.Limits.Cache)
	for _, token := range e.tokens {
		_, err := e.Public(t.Context(), token, cursor.Page{})
		expect.Code(t, err, "")
	}
	return e
}

func TestAPublishedRevisionIsReadOnceForAllViews(t *testing.T) {
	e := hot(t)
	read := e.store.read
	for range 2 {
		_, err1 := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
		_, err2 := e.Public(t.Context(), e.tokens[0], cursor.Page{})
		_, err3 := e.resolve(t)
		for _, err := range []error{err1, err2, err3} {
			expect.Code(t, err, "")
		}
	}
	if read != 2 || e.store.read != read {
		t.Errorf("revisions are read %d times and %d times again", read, e.store.read-read)
	}
}

func TestWhatMayChangeOrIsNotThereIsReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		set   func(*env)
		reads int // of two
	}{
		"a draft":           {func(e *env) { e.status(artifact.Draft) }, 2},
		"a retained one":    {func(e *env) { e.status(artifact.Retained) }, 2},
		"a pending bundle":  {func(e *env) { e.bundle(artifact.BundlePending) }, 2},
		"a bundle":          {func(e *env) { e.bundle(artifact.BundleReady) }, 1},
		"a failed bundle":   {func(e *env) { e.bundle(artifact.BundleFailed) }, 1},
		"no bundle":         {func(e *env) { e.bundle(artifact.NoBundle) }, 1},
		"none":              {func(e *env) { e.store.gone = true }, 2},
		"an unreadable one": {func(e *env) { e.store.err = fault.NewCode(fault.DatabaseUnavailable) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.Cache = cache.New(e.Limits.Cache)
			c.set(e)
			for range 2 {
				e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
			}
			if e.store.read != c.reads {
				t.Errorf("it is read %d times", e.store.read)
			}
		})
	}
}

// status changes the state of the newest revision.
func (e *env) status(s artifact.RevisionStatus) {
	r := e.store.revisions[e.revisions[1]]
	r.Status = s
	e.store.revisions[r.ID] = r
}

// bundle changes the state of the bundle of the newest revision.
func (e *env) bundle(s artifact.BundleStatus) {
	r := e.store.revisions[e.revisions[1]]
	r.Bundle.Status = s
	e.store.revisions[r.ID] = r
}

// TestT57AHotViewIsClosedByItsStateAlone closes views whose revisions are in memory.
func TestT57AHotViewIsClosedByItsStateAlone(t *testing.T) {
	type closed struct{ owner, public, link bool }
	for name, c := range map[string]struct {
		shut func(*env)
		want closed
	}{
		"nothing":                 {func(*env) {}, closed{}},
		"deleted":                 {func(e *env) { e.store.artifact.Status = artifact.Deleted }, closed{true, true, true}},
		"expired":                 {func(e *env) { e.store.artifact.ExpiresAt = now }, closed{true, true, true}},
		"locked":                  {func(e *env) { e.store.artifact.Lock = "lkd" }, closed{true, true, true}},
		"the workspace is locked": {func(e *env) { e.store.workspace.Lock = "lkd" }, closed{false, true, true}},
		"the links are locked":    {func(e *env) { e.store.artifact.LinksLockedAt = now }, closed{false, true, true}},
		"made private": {func(e *env) {
			e.store.artifact.LinksRevokedBefore, e.store.artifact.ViewsRevokedBefore = now, 2
		}, closed{false, true, true}},
		"the link is revoked": {func(e *env) { e.store.link.RevokedAt = now }, closed{false, false, true}},
		"claimed by another":  {func(e *env) { e.store.artifact.Owner = id.NewWorkspace() }, closed{true, true, true}},
		"the caller is another one": {func(e *env) {
			e.owner = credential.Actor{Workspace: workspace.Workspace{ID: id.NewWorkspace()}}
		}, closed{true, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			e := hot(t)
			c.shut(e)
			_, err1 := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
			_, err2 := e.Public(t.Context(), e.tokens[1], cursor.Page{})
			_, err3 := e.resolve(t)
			if got := (closed{err1 != nil, err2 != nil, err3 != nil}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			for _, err := range []error{err1, err2, err3} {
				if err != nil {
					expect.Code(t, err, fault.NotFound)
				}
			}
		})
	}
}

func TestAHotRevisionThatIsRetainedIsNotFound(t *testing.T) {
	e := hot(t)
	r := e.store.revisions[e.revisions[0]]
	r.Status = artifact.Retained
	e.store.revisions[r.ID] = r
	_, err := e.Public(t.Context(), e.tokens[0], cursor.Page{})
	expect.Code(t, err, fault.NotFound)
	_, err = e.Pinned(t.Context(), e.owner, &e.store.artifact, &r, cursor.Page{})
	expect.Code(t, err, fault.RevisionRetained)
	_, err = e.File(t.Context(), e.owner, &e.store.artifact, r.ID, "index.html")
	expect.Code(t, err, fault.NotFound)
}

// TestAViewThatIsChangedChangesNoOther overwrites what a view lists.
func TestAViewThatIsChangedChangesNoOther(t *testing.T) {
	e := hot(t)
	first, err := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
	expect.Code(t, err, "")
	for n := range first.Files {
		first.Files[n] = File{File: tree.File{Path: "changed"}}
	}
	second, err := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
	expect.Code(t, err, "")
	for n, f := range second.Files {
		if want := e.store.tree[n]; f.File != want {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}
