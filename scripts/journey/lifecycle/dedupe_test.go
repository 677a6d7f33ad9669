package lifecycle

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// logo is a file that several artifacts have.
var logo = wire.File{Path: "logo.svg", Body: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")}

// publishWithLogo publishes an artifact of a page of its own and the logo.
func publishWithLogo(t testing.TB, s *harness.JobEnv, g *wire.Agent, words string) contract.Published {
	t.Helper()
	p := publishPair(t, g, words)
	s.RunJobs(t)
	return p
}

// borrowLogo opens a session of an artifact that has the logo from elsewhere, and uploads the rest.
func borrowLogo(t testing.TB, g *wire.Agent, a id.Artifact, words string) contract.Session {
	t.Helper()
	u, statuses := declare(t, g, a, harness.Page(words), logo)
	if statuses != "upload_required reused" {
		t.Fatalf("the files are %s", statuses)
	}
	harness.Must(g.Put(ctx, u.Files[0], harness.Page(words).Body))(t)
	return u
}

// borrowOnlyLogo opens a session with the borrowed logo as its only bytes.
func borrowOnlyLogo(t testing.TB, g *wire.Agent, a id.Artifact) contract.Session {
	t.Helper()
	u, statuses := declare(t, g, a, wire.File{Path: "index.html"}, logo)
	if statuses != "reused reused" {
		t.Fatalf("the files are %s", statuses)
	}
	return u
}

// wantNoLogo checks that a new session of an agent has to upload the logo.
func wantNoLogo(t testing.TB, g *wire.Agent, when string) {
	t.Helper()
	if _, statuses := declare(t, g, "", logo, wire.File{Path: "index.html"}); statuses != "upload_required reused" {
		t.Errorf("%s the files are %s", when, statuses)
	}
}

// newLogoEnv is a deployment in which a member has published the logo.
func newLogoEnv(t testing.TB) (*harness.JobEnv, *harness.Claimant, contract.Published) {
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	return s, m, publishWithLogo(t, s, m.Agent, "first")
}

// wantLogo checks that a revision shows the logo.
func wantLogo(t testing.TB, s *harness.JobEnv, p contract.Published) {
	t.Helper()
	s.WantContent(t, strings.TrimSuffix(p.RevisionContentURL, "index.html")+logo.Path, logo.Body)
}

// TestBytesOfAnotherArtifactAreReusedAndOutliveIt borrows them for an artifact, and inherits them in its next revision.
func TestBytesOfAnotherArtifactAreReusedAndOutliveIt(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	wantNoLogo(t, m.Agent, "before anybody brought them")
	first := publishWithLogo(t, s, m.Agent, "first")
	u := borrowLogo(t, m.Agent, "", "second")
	if u.Files[1].PutURL != "" {
		t.Error("a file that is reused has an upload URL")
	}
	second := finish(t, m.Agent, u)
	r := harness.Revise(second, "partial")
	r.Files = wire.Declare("", harness.Page("third")).Files
	draft := harness.Must(m.Draft(ctx, wire.NewKey(), r, harness.Page("third")))(t)
	deleteArtifacts(t, m.Agent, first)
	s.RunJobs(t)
	third := harness.Must(m.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t)
	s.RunCollector(t)
	wantLogo(t, s, second)
	wantLogo(t, s, third)
	s.WantContent(t, second.RevisionContentURL, harness.Page("second").Body)
	deleteArtifacts(t, m.Agent, second)
	s.RunCollector(t)
	wantObjects(t, s, m.Agent, 0)
}

// TestBytesOfADiscardedDraftAreFoundAndOutliveIt lets the jobs die between the end of a draft and its purge. A revision
// finds the logo by its content then, and has a reference. One that builds on the draft is refused.
func TestBytesOfADiscardedDraftAreFoundAndOutliveIt(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := harness.PublishPage(t, m.Agent, "first")
	r := harness.Revise(first, "discarded")
	r.Files = wire.Declare("", harness.Page("draft"), logo).Files
	draft := harness.Must(m.Draft(ctx, wire.NewKey(), r, harness.Page("draft"), logo))(t)
	s.RunJobs(t)
	s.Clock.Advance(limits.DraftLife)
	discards := s.JobFaults.On("TransactWriteItems").After(chaos.Crash)
	s.Host.Run(chaos.Process(ctx))
	s.JobFaults.Clear()
	item := s.GetItem(t, "A#"+string(draft.ArtifactID), "R#"+string(draft.RevisionID))
	if discards.Fired() != 1 || harness.Text(item["status"]) != "retained" || item["files"] == nil {
		t.Fatalf("the draft is %v", item)
	}
	r.BaseRevisionID = draft.RevisionID
	on := harness.Must(m.Create(ctx, wire.NewKey(), r))(t)
	harness.WantRefused(t, harness.Must(harness.Finalize(m.Agent, wire.NewKey(), on.UploadSessionID))(t), 400,
		fault.InvalidRequest)
	back := finish(t, m.Agent, borrowLogo(t, m.Agent, first.ArtifactID, "back"))
	if n := s.CountItems(t, s.Tables.Core, "O#"); n != 1 {
		t.Errorf("%d references, want that of the revision that borrows the logo", n)
	}
	s.RunCollector(t)
	wantLogo(t, s, back)
	wantObjects(t, s, m.Agent, 3) // both pages that were published and the logo
	deleteArtifacts(t, m.Agent, first)
	s.RunCollector(t)
	wantObjects(t, s, m.Agent, 0)
}

func TestF69BytesOfAnotherWorkspaceAreNeverReused(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	publishWithLogo(t, s, s.NewClaimant(t).Agent, "owner's")
	wantNoLogo(t, s.NewClaimant(t).Agent, "to another member")
	wantNoLogo(t, s.NewAgent(t), "to an agent")
}

func TestAClaimedArtifactFindsAndCollectsWhereItsBytesLie(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]bool{"before it is moved": false, "after it was moved": true} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewJobEnv(t)
			m, src := s.NewClaimant(t), s.NewSource(t)
			first, second := publishWithLogo(t, s, src.Agent, "first"), harness.PublishPage(t, src.Agent, "second")
			s.MustClaim(t, m, src.ClaimToken)
			if moved {
				s.Migrate(t, src.WorkspaceID)
				s.RunJobs(t)
			}
			u := borrowOnlyLogo(t, m.Agent, second.ArtifactID)
			wantNoLogo(t, m.Agent, "for a new artifact, which lies elsewhere,")
			shown := finish(t, m.Agent, u)
			deleteArtifacts(t, m.Agent, first)
			s.Migrate(t, src.WorkspaceID)
			s.RunCollector(t)
			wantLogo(t, s, shown)
			if left := objectKeys(t, s, src.WorkspaceID); len(left) != 2 { // the logo, and the page that it replaced
				t.Errorf("%v are left", left)
			}
			deleteArtifacts(t, m.Agent, second)
			s.RunCollector(t)
			if left := objectKeys(t, s, src.WorkspaceID); len(left) > 0 {
				t.Errorf("%v are left of what was claimed", left)
			}
		})
	}
}

func TestF44ARevisionIsNotCommittedBeforeAllItsReferencesAre(t *testing.T) {
	t.Parallel()
	s, m, first := newLogoEnv(t)
	u := borrowOnlyLogo(t, m.Agent, "")
	never := s.Faults.On("BatchWriteItem").Unprocessed(1).Always()
	harness.WantRefused(
		t, harness.Must(harness.Finalize(m.Agent, wire.NewKey(), u.UploadSessionID))(t), 503, fault.DatabaseUnavailable,
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
	deleteArtifacts(t, m.Agent, first)
	s.RunCollector(t)
	wantLogo(t, s, shown)
}

// TestF04ABorrowerThatDiesIsRepeatedOrForgotten dies when its references are written, before its revision is.
func TestF04ABorrowerThatDiesIsRepeatedOrForgotten(t *testing.T) {
	t.Parallel()
	s, m, first := newLogoEnv(t)
	dies := func(u contract.Session) {
		s.Faults.On("BatchWriteItem").After(chaos.Crash)
		harness.Must(harness.Finalize(m.Agent, wire.NewKey(), u.UploadSessionID))(t)
		s.Revive()
		s.CheckInvariants(t)
	}
	u := borrowLogo(t, m.Agent, "", "second")
	dies(u)
	second := finish(t, m.Agent, u)
	dies(borrowOnlyLogo(t, m.Agent, "")) // it never comes
	r := harness.Revise(second, "inherits the logo")
	r.Files = wire.Declare("", wire.File{Path: "new.txt"}).Files
	finish(t, m.Agent, harness.Must(m.Create(ctx, wire.NewKey(), r))(t))
	if n := s.CountItems(t, s.Tables.Core, "O#"); n != 2 {
		t.Fatalf("%d references, want one of the second artifact and one of what never comes", n)
	}
	s.Clock.Advance(sessionsEnd)
	s.RunJobs(t)
	deleteArtifacts(t, m.Agent, first)
	s.RunJobs(t)
	wantLogo(t, s, second)
	deleteArtifacts(t, m.Agent, second)
	s.RunCollector(t)
	wantObjects(t, s, m.Agent, 0)
	if n := s.CountItems(t, s.Tables.Core, "O#"); n > 0 {
		t.Errorf("%d references are left", n)
	}
}

func TestAHintThatComesTooLateIsNotGiven(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	u := s.Upload(t, m.Agent, "", "gone")
	deleteArtifacts(t, m.Agent, finish(t, m.Agent, u))
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
