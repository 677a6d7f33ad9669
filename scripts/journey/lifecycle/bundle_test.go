package lifecycle

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// bundleOf reads the state of the bundle of an artifact's newest revision as its owner sees it.
func bundleOf(t testing.TB, s *harness.JobEnv, g *wire.Agent, a id.Artifact) contract.Bundle {
	t.Helper()
	view := harness.Call[contract.AgentView](t, g, 200, "GET", "/v1/artifacts/"+string(a)+"/agent-view", nil)
	return view.Bundle
}

// bundleThrough reads the same as who has a share link sees it.
func bundleThrough(t testing.TB, s *harness.JobEnv, url string) contract.Bundle {
	t.Helper()
	public, blob, err := wire.SplitLink(url)
	harness.NoError(t, err)
	return harness.Call[contract.Resolved](t, s.Anyone, 200, "POST", "/v1/access-links/resolve",
		contract.ResolveRequest{PublicID: public, Blob: blob}).AgentView.Bundle
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

// wantBundle checks that the bundle of an artifact is ready and holds these files, and returns its digest.
func wantBundle(t testing.TB, s *harness.JobEnv, g *wire.Agent, a id.Artifact, files ...wire.File) string {
	t.Helper()
	b := bundleOf(t, s, g, a)
	if b.Status != "ready" || b.URL == "" || b.GeneratedAt == nil {
		t.Fatalf("%+v", b)
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
	return digest.String()
}

func TestABundleIsPendingThenReadyWhereverAViewShowsIt(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	g := s.NewAgent(t)
	p := publishPair(t, g, "shown")
	if p.Bundle.Status != "pending" || p.Bundle.RetryAfterSeconds < 1 {
		t.Errorf("publish answers %+v", p.Bundle)
	}
	views := func() map[string]contract.Bundle {
		var public contract.PublicAgentView
		harness.Decode(t, s.Get(t, p.AgentViewURL), &public)
		return map[string]contract.Bundle{
			"its owner":    bundleOf(t, s, g, p.ArtifactID),
			"its URL":      public.Bundle,
			"a share link": bundleThrough(t, s, p.UnlistedURL),
		}
	}
	for who, b := range views() {
		if b.Status != "pending" || b.URL != "" {
			t.Errorf("to %s: %+v", who, b)
		}
	}
	makeBundles(t, s)
	for who, b := range views() {
		if b.Status != "ready" {
			t.Errorf("to %s: %+v", who, b)
		}
		if a := s.Get(t, b.URL); a.Status != 200 || a.Header.Get("Content-Type") != "application/zip" {
			t.Errorf("to %s: %d %v", who, a.Status, a.Header)
		}
	}
	wantBundle(t, s, g, p.ArtifactID, harness.Page("shown"), logo)
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
	archive := s.Get(t, bundleOf(t, s, m.Agent, p.ArtifactID).URL).Body
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

func TestABundleIsGoneWithItsArtifact(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	g := s.NewAgent(t)
	p := publishPair(t, g, "gone")
	makeBundles(t, s)
	b := bundleOf(t, s, g, p.ArtifactID)
	deleteArtifact(t, g, p.ArtifactID)
	if a := s.Get(t, b.URL); a.Status != 404 {
		t.Errorf("it answers %d", a.Status)
	}
	s.RunCollector(t)
	if a := s.Get(t, b.URL); a.Status != 404 {
		t.Errorf("it answers %d", a.Status)
	}
}

func TestABundleOfARevokedLinkIsClosed(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	p := publishPair(t, m.Agent, "linked")
	link := harness.CreateLink(t, m.Agent, p.ArtifactID, contract.CreateLink{Type: "share"})
	makeBundles(t, s)
	url := harness.MintLink(t, m.Agent, link.ID)
	through := bundleThrough(t, s, url)
	if a := s.Get(t, through.URL); a.Status != 200 {
		t.Fatalf("through the link: %d", a.Status)
	}
	harness.RevokeLink(t, m.Agent, link.ID)
	if a := s.Get(t, through.URL); a.Status != 404 {
		t.Errorf("through the revoked link: %d", a.Status)
	}
	wantBundle(t, s, m.Agent, p.ArtifactID, harness.Page("linked"), logo)
}

// afterLease is how long it takes until a function that died has lost its bundle.
const afterLease = limits.BundleLease + time.Second

// TestF71ABundlerThatDiesAtAnyCallLeavesTheBundleToTheNext kills it before and after each AWS call of a build.
func TestF71ABundlerThatDiesAtAnyCallLeavesTheBundleToTheNext(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	large := wire.File{Path: "large.bin", Body: harness.RandomBytes(1, 9*limits.MiB)} // an archive of two parts
	first := harness.Must(m.PublishFiles(ctx, "crashes", "", harness.Page("crashes"), large))(t)
	makeBundles(t, s)
	calls := 0
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			p := harness.Must(m.PublishFiles(ctx, "crashes", first.ArtifactID, harness.Page("crashes"), large))(t)
			process := chaos.Process(ctx)
			rule := s.JobFaults.On("").Nth(n)
			if after {
				rule.After(chaos.Crash)
			} else {
				rule.Before(chaos.Crash)
			}
			err := s.Bundler.Run(process)
			s.JobFaults.Clear()
			s.CheckInvariants(t)
			if !chaos.Died(process) {
				harness.NoError(t, err)
				calls = n - 1
				break
			}
			s.Clock.Advance(afterLease)
			makeBundles(t, s)
			wantBundle(t, s, m.Agent, p.ArtifactID, harness.Page("crashes"), large)
			if t.Failed() {
				t.Fatalf("after call %d, after: %t", n, after)
			}
		}
	}
	t.Logf("%d calls", calls)
	s.RunCollector(t)
	deleteArtifact(t, m.Agent, first.ArtifactID)
	s.RunCollector(t)
}

func TestARevisionGivesTheSameArchiveTwice(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	p := publishPair(t, m.Agent, "same")
	makeBundles(t, s)
	first := wantBundle(t, s, m.Agent, p.ArtifactID, harness.Page("same"), logo)
	s.Update(t, "A#"+string(p.ArtifactID), "R#"+string(p.RevisionID), map[string]any{
		"bstat": "pending", "g2p": "DUE#BUNDLE#0", "g2s": sortKey(s.Options.Now()),
	})
	s.Clock.Advance(time.Hour)
	makeBundles(t, s)
	if again := wantBundle(t, s, m.Agent, p.ArtifactID, harness.Page("same"), logo); again != first {
		t.Errorf("%s and %s", first, again)
	}
}

// TestF70AnArtifactThatIsDeletedWhileItsBundleIsMadeLeavesNothing deletes it before each AWS call of a build.
func TestF70AnArtifactThatIsDeletedWhileItsBundleIsMadeLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, purged := range []bool{false, true} {
		t.Run(fmt.Sprintf("and purged %t", purged), func(t *testing.T) {
			t.Parallel()
			s := harness.NewJobEnv(t, harness.Unlimited)
			g := s.NewAgent(t)
			for n := 1; ; n++ {
				p := publishPair(t, g, "deleted")
				deleted := false
				s.JobFaults.On("").Nth(n).Before(chaos.Run(func() {
					deleted = true
					deleteArtifact(t, g, p.ArtifactID)
					if purged {
						harness.NoError(t, s.Host.Run(ctx))
					}
				}))
				harness.NoError(t, s.Bundler.Run(ctx))
				s.JobFaults.Clear()
				s.CheckInvariants(t)
				if !deleted {
					wantBundle(t, s, g, p.ArtifactID, harness.Page("deleted"), logo)
					deleteArtifact(t, g, p.ArtifactID)
					t.Logf("%d calls", n-1)
					break
				}
				s.RunJobs(t)
				if t.Failed() {
					t.Fatalf("before call %d", n)
				}
			}
			s.RunCollector(t)
		})
	}
}

// TestAnArtifactThatIsClaimedWhileItsBundleIsMadeHasIt claims it before each AWS call of a build.
func TestAnArtifactThatIsClaimedWhileItsBundleIsMadeHasIt(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	for n := 1; ; n++ {
		source := s.NewSource(t)
		p := publishPair(t, source.Agent, "claimed")
		claimed := false
		s.JobFaults.On("").Nth(n).Before(chaos.Run(func() {
			claimed = true
			s.MustClaim(t, m, source.ClaimToken)
		}))
		harness.NoError(t, s.Bundler.Run(ctx))
		s.JobFaults.Clear()
		s.RunJobs(t)
		if !claimed {
			t.Logf("%d calls", n-1)
			break
		}
		wantBundle(t, s, m.Agent, p.ArtifactID, harness.Page("claimed"), logo)
		if t.Failed() {
			t.Fatalf("before call %d", n)
		}
	}
}

func TestF72ABundleThatCannotBeMadeFails(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	g := s.NewAgent(t)
	p := publishPair(t, g, "fails")
	broken := s.JobFaults.On("GetObject").Always().Before(chaos.ServerError)
	runs := 0
	for bundleOf(t, s, g, p.ArtifactID).Status == "pending" {
		if runs++; runs > 50 {
			t.Fatal("it is tried for ever")
		}
		if err := s.Bundler.Run(ctx); err == nil && runs == 1 {
			t.Error("the first run reports no failure")
		}
		s.CheckInvariants(t)
		s.Clock.Advance(limits.MaxRetry)
	}
	fired := broken.Fired()
	s.JobFaults.Clear()
	if b := bundleOf(t, s, g, p.ArtifactID); b.Status != "failed" || b.URL != "" {
		t.Errorf("%+v", b)
	}
	t.Logf("%d runs, %d reads of files", runs, fired)
	s.RunJobs(t)
	s.Clock.Advance(limits.MaxRetry)
	s.RunJobs(t)
	if b := bundleOf(t, s, g, p.ArtifactID); b.Status != "failed" {
		t.Errorf("it came back: %+v", b)
	}
}

func TestOneFunctionAtATimeMakesABundle(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	g := s.NewAgent(t)
	p := publishPair(t, g, "once")
	puts := s.JobFaults.On("PutObject").Always()
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() { errs <- s.Bundler.Run(ctx) }()
	}
	for range cap(errs) {
		harness.NoError(t, <-errs)
	}
	if puts.Fired() != 1 {
		t.Errorf("it was stored %d times", puts.Fired())
	}
	s.CheckInvariants(t)
	wantBundle(t, s, g, p.ArtifactID, harness.Page("once"), logo)
}

func TestABundleHasAHundredFiles(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	files := []wire.File{harness.Page("many")}
	for n := 1; n < limits.FilesPerTree; n++ {
		files = append(files, wire.File{Path: fmt.Sprintf("f/%02d.bin", n), Body: harness.RandomBytes(uint64(n), 25*limits.MiB/100)})
	}
	p := harness.Must(m.PublishFiles(ctx, "many", "", files...))(t)
	makeBundles(t, s)
	wantBundle(t, s, m.Agent, p.ArtifactID, files...)
}

func TestARestoredRevisionHasABundle(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	makeBundles(t, r.JobEnv)
	wantBundle(t, r.JobEnv, r.Agent, r.first.ArtifactID, harness.Page("two"))
	harness.Must(r.restore(r.first.RevisionID, wire.NewKey()))(t)
	if b := bundleOf(t, r.JobEnv, r.Agent, r.first.ArtifactID); b.Status != "pending" {
		t.Errorf("%+v", b)
	}
	makeBundles(t, r.JobEnv)
	wantBundle(t, r.JobEnv, r.Agent, r.first.ArtifactID, harness.Page("one"), wire.File{
		Path: "only-then.txt",
		Body: []byte("once"),
	})
}
