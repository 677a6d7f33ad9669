package lifecycle

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// logo is a file that several artifacts have.
var logo = wire.File{Path: "logo.svg", Body: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")}

// publishWithLogo publishes an artifact of a page of its own and the logo.
func publishWithLogo(t testing.TB, s *harness.JobEnv, g *wire.Agent, words string) contract.Published {
	t.Helper()
	p := harness.Must(g.PublishFiles(ctx, words, "", harness.Page(words), logo))(t)
	s.RunJobs(t)
	return p
}

// borrowLogo opens a session of an artifact that has the logo from elsewhere, and uploads the rest.
func borrowLogo(t testing.TB, s *harness.JobEnv, g *wire.Agent, a id.Artifact, words string) contract.Session {
	t.Helper()
	u, statuses := declare(t, g, a, harness.Page(words), logo)
	if statuses != "upload_required reused" {
		t.Fatalf("the files are %s", statuses)
	}
	harness.Must(g.Put(ctx, u.Files[0], harness.Page(words).Body))(t)
	return u
}

// wantLogo checks that a revision shows the logo.
func wantLogo(t testing.TB, s *harness.JobEnv, p contract.Published) {
	t.Helper()
	s.WantContent(t, strings.TrimSuffix(p.RevisionContentURL, "index.html")+logo.Path, logo.Body)
}

func TestBytesOfAnotherArtifactAreReusedAndOutliveIt(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	if _, statuses := declare(t, m.Agent, "", harness.Page("first"), logo); statuses != "upload_required upload_required" {
		t.Errorf("before anybody brought them the files are %s", statuses)
	}
	first := publishWithLogo(t, s, m.Agent, "first")
	u := borrowLogo(t, s, m.Agent, "", "second")
	if again := harness.Must(m.Create(ctx, wire.NewKey(), wire.Declare("x", logo)))(t); again.Files[0].PutURL != "" {
		t.Error("a file that is reused has an upload URL")
	}
	second := finish(t, m.Agent, u)
	wantLogo(t, s, second)
	deleteArtifact(t, m.Agent, first.ArtifactID)
	s.RunCollector(t)
	wantLogo(t, s, second)
	s.WantContent(t, second.RevisionContentURL, harness.Page("second").Body)
	deleteArtifact(t, m.Agent, second.ArtifactID)
	s.RunCollector(t)
	wantNoObjects(t, s, m.Agent)
}

func TestABorrowedFileIsKeptByEachRevisionThatInheritsIt(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	second := finish(t, m.Agent, borrowLogo(t, s, m.Agent, "", "second"))
	r := harness.Revise(second, "partial")
	r.Files = wire.Declare("", harness.Page("third")).Files
	third := harness.Must(m.Draft(ctx, wire.NewKey(), r, harness.Page("third")))(t)
	u, statuses := declare(t, m.Agent, "", logo, wire.File{Path: "index.html"})
	if statuses != "reused reused" {
		t.Errorf("the files are %s", statuses)
	}
	deleteArtifact(t, m.Agent, first.ArtifactID)
	s.RunJobs(t)
	shown := harness.Must(m.Publish(ctx, wire.NewKey(), third.ArtifactID, third.RevisionID))(t)
	harness.Must(m.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	s.RunCollector(t)
	wantLogo(t, s, shown)
	wantLogo(t, s, second)
}

func TestAnOlderRevisionsBytesAreFound(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	harness.Must(m.PublishFiles(ctx, "bare", first.ArtifactID, harness.Page("bare")))(t)
	s.RunJobs(t)
	back := finish(t, m.Agent, borrowLogo(t, s, m.Agent, first.ArtifactID, "back"))
	wantLogo(t, s, back)
	retire(t, s, first)
	s.RunCollector(t)
	wantLogo(t, s, back)
	if left := objectsOf(t, s, m.Agent); len(left) != 3 {
		t.Errorf("%v are left, want three files", left)
	}
	deleteArtifact(t, m.Agent, first.ArtifactID)
	s.RunCollector(t)
	wantNoObjects(t, s, m.Agent)
}

func TestF69BytesOfAnotherWorkspaceAreNeverReused(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	owner := s.NewClaimant(t)
	stranger := s.NewClaimant(t)
	src := s.NewSource(t)
	publishWithLogo(t, s, owner.Agent, "owner's")
	for name, g := range map[string]*wire.Agent{"a member": stranger.Agent, "an agent": src.Agent} {
		if _, statuses := declare(t, g, "", logo, wire.File{Path: "index.html"}); statuses != "upload_required reused" {
			t.Errorf("%s is told that the files are %s", name, statuses)
		}
	}
}

func TestAClaimedArtifactFindsAndCollectsWhereItsBytesLie(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]bool{"before it is moved": false, "after it was moved": true} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewJobEnv(t)
			m, src := s.NewClaimant(t), s.NewSource(t)
			first, second := publishWithLogo(t, s, src.Agent, "first"), harness.PublishPage(t, src.Agent, "second")
			home := harness.TokenOf(t, src.Agent).Workspace
			s.MustClaim(t, m, src.ClaimToken)
			if moved {
				s.Migrate(t, home)
				s.RunJobs(t)
			}
			u := borrowOnlyLogo(t, s, m.Agent, second.ArtifactID)
			_, statuses := declare(t, m.Agent, "", logo, wire.File{Path: "index.html"})
			if statuses != "upload_required reused" {
				t.Errorf("a new artifact lies elsewhere; its files are %s", statuses)
			}
			shown := finish(t, m.Agent, u)
			deleteArtifact(t, m.Agent, first.ArtifactID)
			s.Migrate(t, home)
			s.RunCollector(t)
			wantLogo(t, s, shown)
			if left := objectKeys(t, s, home); len(left) != 2 { // the logo, and the page that it replaced
				t.Errorf("%v are left", left)
			}
			deleteArtifact(t, m.Agent, second.ArtifactID)
			s.RunCollector(t)
			if left := objectKeys(t, s, home); len(left) > 0 {
				t.Errorf("%v are left of what was claimed", left)
			}
		})
	}
}

// borrowOnlyLogo opens a session with the borrowed logo as its only bytes.
func borrowOnlyLogo(t testing.TB, s *harness.JobEnv, g *wire.Agent, a id.Artifact) contract.Session {
	t.Helper()
	u, statuses := declare(t, g, a, wire.File{Path: "index.html"}, logo)
	if statuses != "reused reused" {
		t.Fatalf("the files are %s", statuses)
	}
	return u
}

func TestF44ARevisionIsNotCommittedBeforeAllItsReferencesAre(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	u := borrowOnlyLogo(t, s, m.Agent, "")
	never := s.Faults.On("BatchWriteItem").Unprocessed(1).Always()
	harness.WantRefused(
		t, harness.TryFinalize(t, m.Agent, wire.NewKey(), u.UploadSessionID), 503, fault.DatabaseUnavailable,
	)
	if never.Fired() < 2 || s.SessionStatus(t, u.UploadSessionID) != "pending" {
		t.Errorf("tried %d times; the session is %s", never.Fired(), s.SessionStatus(t, u.UploadSessionID))
	}
	s.Revive()
	s.CheckInvariants(t)
	late := s.Faults.On("BatchWriteItem").Unprocessed(1).Times(3)
	shown := finish(t, m.Agent, u)
	if late.Fired() != 3 {
		t.Errorf("%d writes were put off", late.Fired())
	}
	s.Revive()
	deleteArtifact(t, m.Agent, first.ArtifactID)
	s.RunCollector(t)
	wantLogo(t, s, shown)
}

func TestABorrowerThatFindsNothingSaysSoAndTheNextOneUploads(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	u := borrowOnlyLogo(t, s, m.Agent, "")
	key := slices.DeleteFunc(objectsOf(t, s, m.Agent), func(k string) bool { return !strings.HasSuffix(k, "/001") })[0]
	deleteObject(t, s, key)
	a := harness.TryFinalize(t, m.Agent, wire.NewKey(), u.UploadSessionID)
	harness.WantRefused(t, a, 409, fault.UploadIncomplete)
	if !strings.Contains(a.Message(), logo.Path) {
		t.Errorf("the refusal does not name the file: %s", a.Message())
	}
	next, statuses := declare(t, m.Agent, "", wire.File{Path: "index.html"}, logo)
	if statuses != "reused upload_required" {
		t.Fatalf("the files are %s", statuses)
	}
	if put := harness.Must(m.Put(ctx, next.Files[1], logo.Body))(t); put.Status != http.StatusOK {
		t.Error(put.Status)
	}
	wantLogo(t, s, finish(t, m.Agent, next))
	deleteArtifact(t, m.Agent, first.ArtifactID) // which lacks its bytes
}

// TestF04ABorrowerThatDiesIsRepeatedOrForgotten dies at every call of a finalize that borrows.
func TestF04ABorrowerThatDiesIsRepeatedOrForgotten(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	ask := func(u contract.Session) wire.Answer {
		return harness.TryFinalize(t, m.Agent, wire.NewKey(), u.UploadSessionID)
	}
	u := borrowOnlyLogo(t, s, m.Agent, "")
	calls := s.Calls(func() { ask(u) })
	for _, call := range calls {
		t.Run(call, func(t *testing.T) {
			for _, again := range []bool{true, false} {
				u := borrowOnlyLogo(t, s, m.Agent, "")
				crashAfter(s, call)
				if a := ask(u); a.Status == http.StatusOK && call != harness.StampKey {
					t.Error("the process did not die")
				}
				s.Revive()
				s.CheckInvariants(t)
				if again {
					if a := ask(u); a.Status != http.StatusOK {
						t.Errorf("the repetition answers %d %s", a.Status, a.Body)
					}
				}
			}
		})
	}
	deleteArtifact(t, m.Agent, first.ArtifactID)
	s.Clock.Advance(sessionsEnd)
	s.RunCollector(t)
}

func TestF04ReferencesOfARevisionThatNeverCameHoldNothing(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	second := finish(t, m.Agent, borrowLogo(t, s, m.Agent, "", "second"))
	r := harness.Revise(second, "never comes") // it inherits the logo, which its session does not name
	r.Files = wire.Declare("", wire.File{Path: "new.txt"}).Files
	u := harness.Must(m.Create(ctx, wire.NewKey(), r))(t)
	s.Faults.On("BatchWriteItem").After(chaos.Crash)
	harness.TryFinalize(t, m.Agent, wire.NewKey(), u.UploadSessionID)
	s.Revive()
	if n := s.CountItems(t, s.Tables.Core, "O#"); n != 2 {
		t.Fatalf("%d references, want one of the second artifact and one of what never comes", n)
	}
	s.Clock.Advance(sessionsEnd)
	s.RunJobs(t)
	deleteArtifact(t, m.Agent, first.ArtifactID)
	deleteArtifact(t, m.Agent, second.ArtifactID)
	s.RunCollector(t)
	if left := objectsOf(t, s, m.Agent); len(left)+s.CountItems(t, s.Tables.Core, "O#") > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestAHintThatComesTooLateIsNotGiven(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	u := s.Upload(t, m.Agent, "", "gone")
	gone := finish(t, m.Agent, u)
	deleteArtifact(t, m.Agent, gone.ArtifactID)
	s.RunCollector(t)
	s.Update(t, "U#"+string(u.UploadSessionID), "META", map[string]any{
		"g2p": "DUE#HINT#0",
		"g2s": sortKey(s.Options.Now()),
	})
	s.RunJobs(t)
	if n := s.CountItems(t, s.Tables.Core, "B#"); n > 0 {
		t.Errorf("%d hints lead to what is gone", n)
	}
}
