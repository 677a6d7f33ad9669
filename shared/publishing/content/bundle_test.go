package content

import (
	"net/netip"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// ready is a bundle that the tests serve.
var ready = artifact.Bundle{
	Status: artifact.BundleReady,
	Size:   int64(len(text)),
	SHA256: tree.DigestOf(text),
	MadeAt: now,
}

// newBundleEnv has a revision whose bundle is ready.
func newBundleEnv(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	e.store.older = artifact.Revision{Status: artifact.Published, Bundle: ready}
	return e
}

// findBundle mints a token of the claims and finds the bundle with it.
func (e *env) findBundle(t *testing.T) (File, error) {
	t.Helper()
	text, err := e.Bundles.Mint(e.claims)
	expect.OK(t, err)
	return e.FindBundle(t.Context(), text)
}

func TestATokenOpensTheBundleOfItsRevision(t *testing.T) {
	e := newBundleEnv(t)
	f, err := e.findBundle(t)
	expect.Code(t, err, "")
	if !f.Bundle || f.Path != "bundle.zip" || f.Size != ready.Size || f.SHA256 != ready.SHA256 || f.MaxAge != 0 {
		t.Errorf("%+v, want the whole bundle, not cached", f)
	}
	body, err := e.Open(t.Context(), f, netip.Addr{}, 2, 5)
	expect.Code(t, err, "")
	defer body.Close()
	want := artifact.BundleObject{Home: "home", Artifact: e.claims.Artifact, Revision: e.claims.Revision}
	if e.bytes.bundle != want || e.bytes.offset != 2 || e.bytes.size != 5 {
		t.Errorf("%+v, want five bytes of %+v", e.bytes, want)
	}
}

func TestABundleHoldsAStreamIfItIsLarge(t *testing.T) {
	e := newBundleEnv(t)
	e.store.older.Bundle.Size = limits.StreamsAbove + 1
	f, err := e.findBundle(t)
	expect.Code(t, err, "")
	body, err := e.Open(t.Context(), f, netip.Addr{}, 0, f.Size)
	expect.Code(t, err, "")
	if len(e.streams.held) != 2 {
		t.Errorf("streams: %v", e.streams.held)
	}
	body.Close()
}

func TestT02ATokenOpensWhatItWasMintedForAlone(t *testing.T) {
	e := newBundleEnv(t)
	file, err := e.Tokens.Mint(e.claims)
	expect.OK(t, err)
	_, err = e.FindBundle(t.Context(), file)
	expect.Code(t, err, fault.NotFound)
	bundle, err := e.Bundles.Mint(e.claims)
	expect.OK(t, err)
	_, err = e.Find(t.Context(), bundle, "a/b.txt")
	expect.Code(t, err, fault.NotFound)
	if e.store.states+e.store.revisions > 0 {
		t.Error("a token for something else costs a read")
	}
}

func TestABundleIsCountedUnlessItsLinkIsRefused(t *testing.T) {
	unavailable := fault.NewCode(fault.DatabaseUnavailable)
	status := func(s artifact.BundleStatus) func(*env) { return func(e *env) { e.store.older.Bundle.Status = s } }
	for name, c := range map[string]struct {
		set     func(*env)
		counted int // against what all readers of the artifact share
		refused int // against the refused reader
		want    fault.Code
	}{
		"one that is ready is counted": {func(*env) {}, 1, 0, ""},
		"one that is pending":          {status(artifact.BundlePending), 0, 1, fault.NotFound},
		"one that failed":              {status(artifact.BundleFailed), 0, 1, fault.NotFound},
		"one that never was":           {status(artifact.NoBundle), 0, 1, fault.NotFound},
		"of a revision without files": {
			func(e *env) { e.store.older.Status = artifact.Retained }, 0, 1, fault.NotFound,
		},
		"of a deleted artifact": {func(e *env) { e.store.artifact.Status = artifact.Deleted }, 1, 0, fault.NotFound},
		"of a locked workspace": {func(e *env) { e.store.workspace.Lock = "lkd" }, 1, 0, fault.NotFound},
		"through a revoked link": {
			func(e *env) { e.store.link.RevokedAt = now }, 0, 1, fault.NotFound,
		},
		"of a public view that ended": {
			func(e *env) { e.claims.Link, e.claims.Public, e.store.artifact.LinksLockedAt = "", true, now }, 0, 1, fault.NotFound,
		},
		"of a public view that is open": {func(e *env) { e.claims.Link, e.claims.Public = "", true }, 1, 0, ""},
		"of the owner, whose public view ended": {
			func(e *env) { e.claims.Link, e.store.artifact.ViewsRevokedBefore = "", 9 }, 1, 0, "",
		},
		"that cannot be looked up": {func(e *env) { e.store.err = unavailable }, 1, 0, fault.DatabaseUnavailable},
		"above the limit":          {func(e *env) { e.counters.Full = true }, 0, 0, fault.RateLimitedArtifact},
		"pending, above the limit": {func(e *env) {
			e.counters.Full = true
			e.store.older.Bundle.Status = artifact.BundlePending
		}, 0, 0, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			e := newBundleEnv(t)
			c.set(e)
			_, err := e.findBundle(t)
			expect.Code(t, err, c.want)
			e.counters.WantSpent(t, e.Limiter, e.store.artifact.ID, c.counted, c.refused)
		})
	}
}
