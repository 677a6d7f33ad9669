package view

import (
	"cmp"
	"context"
	"path"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

func TestAPublicViewEndsWithTheLinksThatWereThere(t *testing.T) {
	type is = artifact.Artifact
	both := [2]bool{true, true}
	none := [2]bool{}
	second := [2]bool{false, true}
	for name, c := range map[string]struct {
		set   func(*is)
		opens [2]bool // the views of both revisions
	}{
		"nothing is closed":    {func(*is) {}, both},
		"the links are locked": {func(a *is) { a.LinksLockedAt = now }, none},
		"closed after both":    {func(a *is) { a.LinksRevokedBefore, a.ViewsRevokedBefore = now, 2 }, none},
		"closed, and a link made since": {func(a *is) {
			a.LinksRevokedBefore = now
			a.ViewsRevokedBefore = 2
			a.NewestLinkAt = now.Add(1)
		}, none},
		"closed before the second":      {func(a *is) { a.LinksRevokedBefore, a.ViewsRevokedBefore = now, 1 }, second},
		"closed by older code":          {func(a *is) { a.LinksRevokedBefore = now }, none},
		"closed by older code, between": {func(a *is) { a.LinksRevokedBefore = now.Add(-90 * time.Minute) }, second},
		"closed and locked": {func(a *is) {
			a.LinksRevokedBefore = now
			a.ViewsRevokedBefore = 1
			a.LinksLockedAt = now
		}, none},
	} {
		e := newEnv(t)
		c.set(&e.store.artifact)
		for n, text := range e.tokens {
			view, err := e.Public(t.Context(), text, cursor.Page{})
			opened, refused := view.Title == "T", fault.CodeOf(err) == fault.NotFound
			if opened != c.opens[n] || refused == opened || opened != (err == nil) {
				t.Errorf("%s: the view of revision %d: %q %v", name, n+1, view.Title, err)
			}
		}
	}
}

func TestTheBundleOfAPublicViewEndsWithIt(t *testing.T) {
	e := newEnv(t)
	e.bundle(artifact.BundleReady)
	public, err1 := e.Public(t.Context(), e.tokens[1], cursor.Page{})
	own, err2 := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
	linked, err3 := e.resolve(t)
	if err := cmp.Or(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]bool{
		public.Bundle.URL: true, own.Bundle.URL: false, linked.Bundle.URL: false,
	} {
		claims, err := e.Addresses.BundleToken.Parse(path.Base(url), now)
		if err != nil || claims.Public != want {
			t.Errorf("%s: %+v, %v", url, claims, err)
		}
	}
	if claims := e.parse(t, public.Entrypoint.Bytes, now); claims.Public {
		t.Error("files whose addresses were copied end too")
	}
}

// counting is how a read ends, and what it is counted against.
type counting struct {
	set     func(*env)
	counted int // against what all readers of the artifact share
	refused int // against the refused reader
	want    fault.Code
}

func (c counting) check(t *testing.T, read func(*env) error) {
	t.Helper()
	e := newEnv(t)
	c.set(e)
	expect.Code(t, read(e), c.want)
	e.counters.WantSpent(t, e.Limiter, e.store.artifact.ID, c.counted, c.refused)
}

func TestAPublicViewIsCountedUnlessItsTokenIsRefused(t *testing.T) {
	for name, c := range map[string]counting{
		"an open one is counted": {func(*env) {}, 1, 0, ""},
		"one of a deleted artifact is counted": {
			func(e *env) { e.store.artifact.Status = artifact.Deleted }, 1, 0, fault.NotFound,
		},
		"one of locked links is given back": {
			func(e *env) { e.store.artifact.LinksLockedAt = now }, 0, 1, fault.NotFound,
		},
		"the limit refuses":                    {func(e *env) { e.counters.Full = true }, 0, 0, fault.RateLimitedArtifact},
		"contents that are gone are not found": {func(e *env) { e.store.gone = true }, 1, 0, fault.NotFound},
		"contents that cannot be read say so": {
			func(e *env) { e.store.err = fault.NewCode(fault.DatabaseUnavailable) }, 1, 0, fault.DatabaseUnavailable,
		},
		"one without a current revision is not": {func(e *env) { e.store.artifact.Current = "" }, 0, 1, fault.NotFound},
		"the state comes before the limit": {
			func(e *env) { e.counters.Full, e.store.artifact.LinksLockedAt = true, now }, 0, 0, fault.NotFound,
		},
		"the state comes before missing contents": {
			func(e *env) { e.store.gone, e.store.workspace.Lock = true, "lkd" }, 1, 0, fault.NotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.check(t, func(e *env) error { _, err := e.Public(t.Context(), e.tokens[1], cursor.Page{}); return err })
		})
	}
}

func TestATokenThatIsNoneCostsNoRead(t *testing.T) {
	e := newEnv(t)
	e.Now = func() time.Time { return now.Add(48 * time.Hour) }
	for _, text := range []string{"", "x", e.tokens[0]} {
		_, err := e.Public(t.Context(), text, cursor.Page{})
		expect.Code(t, err, fault.NotFound)
	}
	if len(e.counters.Counted()) > 0 {
		t.Errorf("counted %v", e.counters.Counted())
	}
}

type brokenContents struct{ Store }

func (brokenContents) Contents(context.Context, id.Artifact, id.Revision) (*artifact.Contents, error) {
	panic("broken")
}

func TestAPanicBesideAViewIsItsError(t *testing.T) {
	for name, breaks := range map[string]func(*env){
		"the limiter":  func(e *env) { e.Limiter.Counters = nil },
		"the contents": func(e *env) { e.Store = brokenContents{e.store} },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			breaks(e)
			if _, err := e.Public(t.Context(), e.tokens[1], cursor.Page{}); async.StackOf(err) == nil {
				t.Error(err)
			}
		})
	}
}
