package artifact

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

func TestAvailabilityTellsTheStateOfABundle(t *testing.T) {
	clock := newEnv(t).now
	made := time.Date(2026, 3, 14, 11, 0, 30, 0, time.UTC)
	ready := Bundle{Status: BundleReady, Size: 1234, MadeAt: made}
	pending := func(leased time.Duration) Bundle {
		return Bundle{Status: BundlePending, Leased: clock.Add(leased)}
	}
	waits := func(seconds int) Availability {
		return Availability{Status: "pending", RetryAfter: time.Duration(seconds) * time.Second}
	}
	soon := 57500 * time.Millisecond // of a minute
	disabled, failed := Availability{Status: "disabled"}, Availability{Status: "failed"}
	made1234 := Availability{Status: "ready", Size: 1234, MadeAt: made}
	for name, c := range map[string]struct {
		bundle    Bundle
		published time.Duration // ago
		every     time.Duration
		want      Availability
	}{
		"none":                               {Bundle{}, time.Hour, time.Minute, disabled},
		"pending, just published":            {Bundle{Status: BundlePending}, 0, time.Minute, waits(60)},
		"pending, made soon":                 {Bundle{Status: BundlePending}, soon, time.Minute, waits(3)},
		"pending, late from now on":          {Bundle{Status: BundlePending}, time.Minute, time.Minute, waits(5)},
		"pending, late":                      {Bundle{Status: BundlePending}, time.Hour, time.Minute, waits(5)},
		"pending, late, of a fast worker":    {Bundle{Status: BundlePending}, time.Hour, time.Second, waits(1)},
		"pending, at its function for 2 s":   {pending(358 * time.Second), time.Hour, time.Second, waits(2)},
		"pending, at its function for 2 min": {pending(240 * time.Second), time.Hour, time.Second, waits(120)},
		"pending, soon at another function":  {pending(10 * time.Second), time.Hour, time.Second, waits(10)},
		"pending, its function is over":      {pending(-time.Second), time.Hour, time.Second, waits(1)},
		"pending, turned off since":          {Bundle{Status: BundlePending}, 0, 0, disabled},
		"failed":                             {Bundle{Status: BundleFailed}, 0, time.Minute, failed},
		"ready":                              {ready, 0, time.Minute, made1234},
		"ready, turned off since":            {ready, 0, 0, made1234},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.Limits.Bundles = c.every
			r := Revision{PublishedAt: e.now.Add(-c.published), Bundle: c.bundle}
			claims := token.Claims{
				Workspace: id.NewWorkspace(),
				Artifact:  id.NewArtifact(),
				Revision:  id.NewRevision(),
				Expires:   e.now.Add(time.Hour),
			}
			got, err := r.Availability(e.URLs, e.Limits, claims, e.now)
			expect.OK(t, err)
			if signed := strings.HasPrefix(got.URL, "https://content.test/b/"); signed != (c.want.Status == "ready") {
				t.Errorf("URL %q", got.URL)
			}
			if got.URL = ""; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestPublishingAsksForABundleUnlessTheDeploymentHasNone(t *testing.T) {
	for every, want := range map[time.Duration]BundleStatus{time.Minute: "pending", 0: "disabled"} {
		e := newEnv(t)
		e.Limits.Bundles = every
		e.draft()
		out, err := e.Publish(t.Context(), e.by, e.target())
		expect.Code(t, err, "")
		committed := e.store.commits[0].(Publication)
		if out.Bundle.Status != want || committed.Bundle != (every > 0) {
			t.Errorf("every %v: %+v, asked for %t", every, out.Bundle, committed.Bundle)
		}
	}
}

func TestARepeatedPublishTellsTheBundleAsItIs(t *testing.T) {
	e := newEnv(t)
	e.store.revision.Bundle = Bundle{Status: BundleReady, Size: 1, MadeAt: e.now}
	out, err := e.Publish(t.Context(), e.by, e.target())
	expect.Code(t, err, "")
	if out.Bundle.Status != "ready" || out.Bundle.URL == "" {
		t.Errorf("%+v, want it ready, with a URL", out.Bundle)
	}
}

func TestARestoredRevisionHasABundleOfItsOwnAndInheritsTheRest(t *testing.T) {
	e := newEnv(t)
	found := lint.Report{Warnings: []lint.Warning{{Code: lint.MissingTitle, Path: "index.html"}}, More: 2}
	e.store.revision.Bundle = Bundle{Status: BundleReady, Size: 1, MadeAt: e.now}
	e.store.revision.Warnings = found
	e.store.artifact.Current = id.NewRevision()
	e.store.revision.Session = id.NewSession()
	e.store.files = tree.Tree{{Path: "a", Size: 1}, {Path: "b", Size: 1, Borrowed: true}}
	_, err := e.Restore(t.Context(), e.by, e.target(), e.store.revision.ID)
	expect.OK(t, err)
	made := e.store.commits[0].(Restoration)
	got := made.Publication.Revision
	if got.Session != "" || made.Files[0].Referrer != "" || made.Files[1].Referrer != e.store.revision.ID {
		t.Errorf("%q uploaded %+v, want the references of the old revision", got.Session, made.Files)
	}
	if got.Bundle != (Bundle{Status: BundlePending}) || !cmp.Equal(got.Warnings, found) {
		t.Errorf("%+v, %+v, want it pending, with the warnings", got.Bundle, got.Warnings)
	}
}
