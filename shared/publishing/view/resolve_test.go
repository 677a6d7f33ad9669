package view

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/readaccess"
)

// resolve mints a URL of the link, good for an hour, and opens it.
func (e *env) resolve(t *testing.T) (View, error) {
	t.Helper()
	return e.resolveWith(t, false)
}

// resolveWith is resolve for a reader who wants scripts to run, or does not.
func (e *env) resolveWith(t *testing.T, scripts bool) (View, error) {
	t.Helper()
	a := e.store.artifact
	url, err := e.Addresses.Link(e.store.link.Public, e.store.workspace.ID, a.ID, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	_, blob, _ := strings.Cut(url, "#")
	return e.Resolve(t.Context(), contract.ResolveRequest{PublicID: e.store.link.Public, Blob: blob}, scripts)
}

// TestALinkOpensTheRevisionThatItFollows opens links to revisions of other titles.
func TestALinkOpensTheRevisionThatItFollows(t *testing.T) {
	for name, c := range map[string]struct {
		set      func(*env)
		revision int
	}{
		"a share link opens the newest":    {func(*env) {}, 1},
		"a revision link opens its own":    {func(e *env) { e.toRevision(0) }, 0},
		"a revision link opens the newest": {func(e *env) { e.toRevision(1) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(e)
			e.store.artifact.PinnedAt = now
			out, err := e.resolve(t)
			expect.Code(t, err, "")
			if out.Revision.ID != e.revisions[c.revision] {
				t.Errorf("revision %s", out.Revision.ID)
			}
			if want := []string{"Before", "T"}[c.revision]; out.Title != want {
				t.Errorf("the title is %q", out.Title)
			}
			if out.Revision.Mode != "html" || out.Artifact.PinnedAt.IsZero() {
				t.Errorf("%+v, want a pinned page", out)
			}
			if claims := e.parse(t, out.Entrypoint.Bytes, now); claims.Link != e.store.link.Public {
				t.Errorf("the content token names the link %q", claims.Link)
			}
		})
	}
}

// TestAViewerFramesTheListOfFilesIfTheRevisionOpensWithIt frames it for a link, its owner and a page that is open.
func TestAViewerFramesTheListOfFilesIfTheRevisionOpensWithIt(t *testing.T) {
	for _, listing := range []bool{false, true} {
		e := newEnv(t)
		r := e.store.revisions[e.revisions[1]]
		r.Listing = listing
		e.store.revisions[r.ID] = r
		linked, err1 := e.resolve(t)
		owned, err2 := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
		state := readaccess.State{Workspace: &e.store.workspace, Artifact: &e.store.artifact}
		pointer, err3 := e.Pointer(t.Context(), state, "")
		for _, err := range []error{err1, err2, err3} {
			expect.Code(t, err, "")
		}
		for _, got := range []string{linked.Frame, owned.Frame, pointer.IframeSrc} {
			_, token, paged := strings.Cut(got, "/r/")
			list := paged && !strings.Contains(token, "/")
			if page := strings.HasSuffix(got, "/index.html"); list != listing || page == listing {
				t.Errorf("listing %v: a viewer frames %s", listing, got)
			}
		}
	}
}

// toRevision makes the link one to a revision.
func (e *env) toRevision(n int) {
	e.store.link.Kind, e.store.link.Revision = link.Revision, e.revisions[n]
}

func TestT57ALinkIsRefusedAlikeForEveryReason(t *testing.T) {
	unavailable := fault.NewCode(fault.DatabaseUnavailable)
	retained := func(e *env) {
		e.toRevision(0)
		e.store.revisions[e.revisions[0]] = artifact.Revision{Status: artifact.Retained}
	}
	for name, c := range map[string]counting{
		"an open one is counted": {func(*env) {}, 1, 0, ""},
		"a revoked one":          {func(e *env) { e.store.link.RevokedAt = now }, 0, 1, fault.NotFound},
		"one that was closed": {
			func(e *env) { e.store.artifact.LinksRevokedBefore = now }, 0, 1, fault.NotFound,
		},
		"one while links are locked":       {func(e *env) { e.store.artifact.LinksLockedAt = now }, 0, 1, fault.NotFound},
		"one to a revision without bytes":  {retained, 0, 1, fault.NotFound},
		"one of a locked workspace":        {func(e *env) { e.store.workspace.Lock = "lkd" }, 1, 0, fault.NotFound},
		"one of contents that are missing": {func(e *env) { e.store.gone = true }, 1, 0, fault.NotFound},
		"one whose contents are away":      {func(e *env) { e.store.err = unavailable }, 1, 0, fault.DatabaseUnavailable},
		"one that is opened too often":     {func(e *env) { e.counters.Full = true }, 0, 0, fault.RateLimitedArtifact},
		"a URL that has ended": {
			func(e *env) { e.Now = func() time.Time { return now.Add(time.Hour) } }, 0, 0, fault.NotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.check(t, func(e *env) error { _, err := e.resolve(t); return err })
		})
	}
}

func TestTheTierOfTheWorkspaceThatOwnsItNowHolds(t *testing.T) {
	e := newEnv(t)
	e.store.workspace.ClaimedAt = now
	out, err := e.resolve(t)
	expect.Code(t, err, "")
	claims := e.parse(t, out.Entrypoint.Bytes, now)
	policy := limits.Default().Tiers[limits.Free]
	if claims.NoIndex != policy.NoIndex || !claims.Scripts {
		t.Errorf("%+v, want the free plan's", claims)
	}
	if out.Ephemeral {
		t.Error("a claimed workspace is shown as ephemeral")
	}
}

func TestScriptsRunAsTheTierAndTheReaderWant(t *testing.T) {
	for name, c := range map[string]struct {
		claimed bool
		policy  limits.Scripts // of unclaimed workspaces
		wanted  bool
		run     bool
	}{
		"claimed":                                 {true, limits.ScriptsAsk, false, true},
		"claimed, of a reader who wants them":     {true, limits.ScriptsOff, true, true},
		"unclaimed":                               {false, limits.ScriptsAsk, false, false},
		"unclaimed, of a reader who wants them":   {false, limits.ScriptsAsk, true, true},
		"unclaimed where they are off":            {false, limits.ScriptsOff, true, false},
		"unclaimed where they run without a wish": {false, limits.ScriptsOn, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.store.workspace.ClaimedAt = time.Time{}
			if c.claimed {
				e.store.workspace.ClaimedAt = now
			}
			numbers := limits.Default()
			policy := numbers.Tiers[limits.Ephemeral]
			policy.Scripts = c.policy
			numbers.Tiers[limits.Ephemeral] = policy
			e.Limits = &numbers
			out, err := e.resolveWith(t, c.wanted)
			expect.Code(t, err, "")
			if claims := e.parse(t, out.Entrypoint.Bytes, now); claims.Scripts != c.run {
				t.Errorf("scripts run: %t", claims.Scripts)
			}
		})
	}
}
