package lifecycle

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// bundleOf reads the state of the bundle of an artifact's newest revision as its owner sees it.
func bundleOf(t testing.TB, g *wire.Agent, a id.Artifact) contract.Bundle {
	t.Helper()
	return harness.Must(g.AgentView(ctx, a))(t).Bundle
}

// publishPair publishes two files, of which no bundle is made yet.
func publishPair(t testing.TB, g *wire.Agent, words string) contract.Published {
	t.Helper()
	return harness.Must(g.PublishFiles(ctx, words, "", harness.Page(words), logo))(t)
}

// makeBundles runs the function that makes bundles, and checks the invariants.
func makeBundles(t testing.TB, s *harness.JobEnv) {
	t.Helper()
	harness.NoError(t, s.Bundler.Run(ctx))
	s.CheckInvariants(t)
}

// unpack reads an archive.
func unpack(t testing.TB, archive []byte) map[string]string {
	t.Helper()
	z := harness.Must(zip.NewReader(bytes.NewReader(archive), int64(len(archive))))(t)
	out := map[string]string{}
	for _, f := range z.File {
		r := harness.Must(f.Open())(t)
		out[f.Name] = string(harness.Must(io.ReadAll(r))(t))
		r.Close()
	}
	return out
}

// wantBundle checks that the bundle of an artifact is ready and holds these files.
func wantBundle(t testing.TB, s *harness.JobEnv, g *wire.Agent, a id.Artifact, files ...wire.File) {
	t.Helper()
	b := bundleOf(t, g, a)
	if b.Status != "ready" || b.URL == "" || b.GeneratedAt == nil {
		t.Fatalf("%+v, want it ready, with a URL", b)
	}
	answer := s.Get(t, b.URL)
	if answer.Status != 200 || int64(len(answer.Body)) != b.SizeBytes {
		t.Fatalf("%d, %d bytes of %d", answer.Status, len(answer.Body), b.SizeBytes)
	}
	digest := tree.DigestOf(string(answer.Body))
	if want := "sha-256=:" + base64.StdEncoding.EncodeToString(digest[:]) + ":"; answer.Header.Get("Repr-Digest") != want {
		t.Errorf("digest %q, want %q", answer.Header.Get("Repr-Digest"), want)
	}
	want := map[string]string{}
	for _, f := range files {
		want[f.Path] = string(f.Body)
	}
	if got := unpack(t, answer.Body); !maps.Equal(got, want) {
		t.Errorf("the archive holds %q", slices.Sorted(maps.Keys(got)))
	}
}

// TestABundleIsReadWhereverAViewShowsItUntilThatEnds makes a bundle, reads it through a share link, which ends, and
// deletes its artifact.
func TestABundleIsReadWhereverAViewShowsItUntilThatEnds(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	p := publishPair(t, m.Agent, "shown")
	if p.Bundle.Status != "pending" || p.Bundle.RetryAfterSeconds < 1 {
		t.Errorf("publish answers %+v", p.Bundle)
	}
	link := harness.CreateLink(t, m.Agent, p.ArtifactID, contract.CreateLink{Type: "share"})
	url := harness.MintLink(t, m.Agent, link.ID)
	views := func() map[string]contract.Bundle {
		var public contract.PublicAgentView
		harness.Decode(t, s.Get(t, p.AgentViewURL), &public)
		return map[string]contract.Bundle{
			"its owner": bundleOf(t, m.Agent, p.ArtifactID),
			"its URL":   public.Bundle,
			"a link":    harness.Must(s.Anyone.Resolve(ctx, url))(t).AgentView.Bundle,
		}
	}
	for who, b := range views() {
		if b.Status != "pending" || b.URL != "" {
			t.Errorf("to %s: %+v", who, b)
		}
	}
	makeBundles(t, s)
	ready := views()
	for who, b := range ready {
		if a := s.Get(t, b.URL); a.Status != 200 || a.Header.Get("Content-Type") != "application/zip" {
			t.Errorf("to %s: %d %v", who, a.Status, a.Header)
		}
	}
	harness.RevokeLink(t, m.Agent, link.ID)
	s.WantGone(t, ready["a link"].URL)
	wantBundle(t, s, m.Agent, p.ArtifactID, harness.Page("shown"), logo)
	deleteArtifacts(t, m.Agent, p)
	s.WantGone(t, ready["its owner"].URL)
	s.RunCollector(t)
	s.WantGone(t, ready["its owner"].URL)
}

func TestUnzipTakesABundle(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	files := []wire.File{harness.Page("page"), {Path: "empty"}, {Path: "ünï/日 本.md", Body: []byte("text")}, {Path: "why?.txt"}}
	p := harness.Must(m.PublishFiles(ctx, "unzipped", "", files...))(t)
	makeBundles(t, s)
	folder := t.TempDir()
	name := filepath.Join(folder, "bundle.zip")
	archive := s.Get(t, bundleOf(t, m.Agent, p.ArtifactID).URL).Body
	harness.NoError(t, os.WriteFile(name, archive, 0o600))
	for _, args := range [][]string{{"-t", name}, {"-d", folder, name}} {
		if out, err := exec.Command("unzip", args...).CombinedOutput(); err != nil {
			t.Fatalf("unzip %s: %v\n%s", args[0], err, out)
		}
	}
	files[3].Path = "why_.txt"
	for _, f := range files {
		if got := harness.Must(os.ReadFile(filepath.Join(folder, f.Path)))(t); !bytes.Equal(got, f.Body) {
			t.Errorf("%s holds %q", f.Path, got)
		}
	}
}

// beforeEachCall runs the bundler again and again, the n-th time with an event before its n-th call. begin makes the
// work. check looks at what became of it, and is told in the end that nothing happened.
func beforeEachCall(
	t *testing.T, s *harness.JobEnv, begin func(), event func(n int), check func(happened bool),
) {
	t.Helper()
	for n, happened := 1, true; happened; n++ {
		begin()
		happened = false
		s.JobFaults.On("").Nth(n).Before(chaos.Run(func() { happened = true; event(n) }))
		harness.NoError(t, s.Bundler.Run(ctx))
		s.JobFaults.Clear()
		s.CheckInvariants(t)
		if check(happened); t.Failed() {
			t.Fatalf("before call %d", n)
		}
	}
}

func TestF70AnArtifactThatIsDeletedWhileItsBundleIsMadeLeavesNothing(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	g := s.NewAgent(t)
	for _, purged := range []bool{false, true} {
		var p contract.Published
		beforeEachCall(t, s, func() { p = publishPair(t, g, "deleted") }, func(int) {
			deleteArtifacts(t, g, p)
			if purged {
				harness.NoError(t, s.Host.Run(ctx))
			}
		}, func(deleted bool) {
			if !deleted {
				wantBundle(t, s, g, p.ArtifactID, harness.Page("deleted"), logo)
				deleteArtifacts(t, g, p)
			}
		})
	}
	s.Clock.Advance(limits.BundleLease)
	s.RunJobs(t)
	s.RunCollector(t)
}

func TestAnArtifactThatIsClaimedWhileItsBundleIsMadeHasIt(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	var source harness.Source
	var p contract.Published
	beforeEachCall(t, s, func() {
		source = s.NewSource(t)
		p = publishPair(t, source.Agent, "claimed")
	}, func(int) { s.MustClaim(t, m, source.ClaimToken) }, func(claimed bool) {
		s.Clock.Advance(limits.UploadPatience)
		if makeBundles(t, s); claimed {
			wantBundle(t, s, m.Agent, p.ArtifactID, harness.Page("claimed"), logo)
		}
	})
}
