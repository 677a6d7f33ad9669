package journey

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// logo is a file that several artifacts have.
var logo = wire.File{Path: "logo.svg", Body: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")}

// withLogo publishes an artifact of a page of its own and the logo.
func (s *jobStand) withLogo(t testing.TB, g *wire.Agent, words string) contract.Published {
	t.Helper()
	p := must(g.PublishFiles(ctx, words, "", page(words), logo))(t)
	s.works(t)
	return p
}

// borrows opens a session of an artifact that has the logo from elsewhere, and uploads the rest.
func (s *jobStand) borrows(t testing.TB, g *wire.Agent, a id.Artifact, words string) contract.Session {
	t.Helper()
	u, statuses := declares(t, g, a, page(words), logo)
	if statuses != "upload_required reused" {
		t.Fatalf("the files are %s", statuses)
	}
	must(g.Put(ctx, u.Files[0], page(words).Body))(t)
	return u
}

// hasLogo checks that a revision shows the logo.
func (s *jobStand) hasLogo(t testing.TB, p contract.Published) {
	t.Helper()
	s.reads(t, strings.TrimSuffix(p.RevisionContentURL, "index.html")+logo.Path, logo.Body)
}

func TestBytesOfAnotherArtifactAreReusedAndOutliveIt(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	if _, statuses := declares(t, m.Agent, "", page("first"), logo); statuses != "upload_required upload_required" {
		t.Errorf("before anybody brought them the files are %s", statuses)
	}
	first := s.withLogo(t, m.Agent, "first")
	u := s.borrows(t, m.Agent, "", "second")
	if again := must(m.Create(ctx, wire.NewKey(), wire.Declare("x", logo)))(t); again.Files[0].PutURL != "" {
		t.Error("a file that is reused has an upload URL")
	}
	second := finishes(t, m.Agent, u)
	s.hasLogo(t, second)
	deletes(t, m.Agent, first.ArtifactID)
	s.collects(t)
	s.hasLogo(t, second)
	s.reads(t, second.RevisionContentURL, page("second").Body)
	deletes(t, m.Agent, second.ArtifactID)
	s.collects(t)
	s.holdsNothing(t, m.Agent)
}

func TestABorrowedFileIsKeptByEachRevisionThatInheritsIt(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	second := finishes(t, m.Agent, s.borrows(t, m.Agent, "", "second"))
	r := revision(second, "partial")
	r.Files = wire.Declare("", page("third")).Files
	third := must(m.Draft(ctx, wire.NewKey(), r, page("third")))(t)
	u, statuses := declares(t, m.Agent, "", logo, wire.File{Path: "index.html"})
	if statuses != "reused reused" {
		t.Errorf("the files are %s", statuses)
	}
	deletes(t, m.Agent, first.ArtifactID)
	s.works(t)
	shown := must(m.Publish(ctx, wire.NewKey(), third.ArtifactID, third.RevisionID))(t)
	must(m.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	s.collects(t)
	s.hasLogo(t, shown)
	s.hasLogo(t, second)
}

func TestAnOlderRevisionsBytesAreFound(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	must(m.PublishFiles(ctx, "bare", first.ArtifactID, page("bare")))(t)
	s.works(t)
	back := finishes(t, m.Agent, s.borrows(t, m.Agent, first.ArtifactID, "back"))
	s.hasLogo(t, back)
	s.retire(t, first)
	s.collects(t)
	s.hasLogo(t, back)
	if left := s.objectsOf(t, m.Agent); len(left) != 3 {
		t.Errorf("%v are left, want three files", left)
	}
	deletes(t, m.Agent, first.ArtifactID)
	s.collects(t)
	s.holdsNothing(t, m.Agent)
}

func TestF69BytesOfAnotherWorkspaceAreNeverReused(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	owner := s.claimant(t)
	stranger := s.claimant(t)
	src := s.source(t)
	s.withLogo(t, owner.Agent, "owner's")
	for name, g := range map[string]*wire.Agent{"a member": stranger.Agent, "an agent": src.Agent} {
		if _, statuses := declares(t, g, "", logo, wire.File{Path: "index.html"}); statuses != "upload_required reused" {
			t.Errorf("%s is told that the files are %s", name, statuses)
		}
	}
}

func TestAClaimedArtifactFindsAndCollectsWhereItsBytesLie(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]bool{"before it is moved": false, "after it was moved": true} {
		t.Run(name, func(t *testing.T) {
			s := newJobStand(t)
			m, src := s.claimant(t), s.source(t)
			first, second := s.withLogo(t, src.Agent, "first"), published(t, src.Agent, "second")
			home := parsed(t, src.Agent).Workspace
			s.claimed(t, m, src.ClaimToken)
			if moved {
				s.moves(t, home)
				s.works(t)
			}
			u := s.borrowsAlone(t, m.Agent, second.ArtifactID)
			if _, statuses := declares(t, m.Agent, "", logo, wire.File{Path: "index.html"}); statuses != "upload_required reused" {
				t.Errorf("a new artifact lies elsewhere; its files are %s", statuses)
			}
			shown := finishes(t, m.Agent, u)
			deletes(t, m.Agent, first.ArtifactID)
			s.moves(t, home)
			s.collects(t)
			s.hasLogo(t, shown)
			if left := s.keysIn(t, home); len(left) != 2 { // the logo, and the page that it replaced
				t.Errorf("%v are left", left)
			}
			deletes(t, m.Agent, second.ArtifactID)
			s.collects(t)
			if left := s.keysIn(t, home); len(left) > 0 {
				t.Errorf("%v are left of what was claimed", left)
			}
		})
	}
}

// borrowsAlone opens a session whose only bytes are the borrowed logo.
func (s *jobStand) borrowsAlone(t testing.TB, g *wire.Agent, a id.Artifact) contract.Session {
	t.Helper()
	u, statuses := declares(t, g, a, wire.File{Path: "index.html"}, logo)
	if statuses != "reused reused" {
		t.Fatalf("the files are %s", statuses)
	}
	return u
}

func TestF44ARevisionIsNotCommittedBeforeAllItsReferencesAre(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	u := s.borrowsAlone(t, m.Agent, "")
	never := s.faults.On("BatchWriteItem").Unprocessed(1).Always()
	refused(t, tryFinalize(t, m.Agent, wire.NewKey(), u.UploadSessionID), 503, fault.DatabaseUnavailable)
	if never.Fired() < 2 || s.status(t, u.UploadSessionID) != "pending" {
		t.Errorf("tried %d times; the session is %s", never.Fired(), s.status(t, u.UploadSessionID))
	}
	s.revive()
	s.sound(t)
	late := s.faults.On("BatchWriteItem").Unprocessed(1).Times(3)
	shown := finishes(t, m.Agent, u)
	if late.Fired() != 3 {
		t.Errorf("%d writes were put off", late.Fired())
	}
	s.revive()
	deletes(t, m.Agent, first.ArtifactID)
	s.collects(t)
	s.hasLogo(t, shown)
}

func TestABorrowerThatFindsNothingSaysSoAndTheNextOneUploads(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	u := s.borrowsAlone(t, m.Agent, "")
	key := slices.DeleteFunc(s.objectsOf(t, m.Agent), func(k string) bool { return !strings.HasSuffix(k, "/001") })[0]
	s.eraseKey(t, key)
	a := tryFinalize(t, m.Agent, wire.NewKey(), u.UploadSessionID)
	refused(t, a, 409, fault.UploadIncomplete)
	if !strings.Contains(a.Message(), logo.Path) {
		t.Errorf("the refusal does not name the file: %s", a.Message())
	}
	next, statuses := declares(t, m.Agent, "", wire.File{Path: "index.html"}, logo)
	if statuses != "reused upload_required" {
		t.Fatalf("the files are %s", statuses)
	}
	if put := must(m.Put(ctx, next.Files[1], logo.Body))(t); put.Status != http.StatusOK {
		t.Error(put.Status)
	}
	s.hasLogo(t, finishes(t, m.Agent, next))
	deletes(t, m.Agent, first.ArtifactID) // which lacks its bytes
}

// TestF04ABorrowerThatDiesIsRepeatedOrForgotten dies at every call of a finalize that borrows.
func TestF04ABorrowerThatDiesIsRepeatedOrForgotten(t *testing.T) {
	t.Parallel()
	s := newJobStand(t, unlimited)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	ask := func(u contract.Session) wire.Answer { return tryFinalize(t, m.Agent, wire.NewKey(), u.UploadSessionID) }
	u := s.borrowsAlone(t, m.Agent, "")
	calls := s.calls(t, func() { ask(u) })
	for _, call := range calls {
		t.Run(call, func(t *testing.T) {
			for _, again := range []bool{true, false} {
				u := s.borrowsAlone(t, m.Agent, "")
				s.crashesAt(call)
				if a := ask(u); a.Status == http.StatusOK && call != stamp {
					t.Error("the process did not die")
				}
				s.revive()
				s.sound(t)
				if again {
					if a := ask(u); a.Status != http.StatusOK {
						t.Errorf("the repetition answers %d %s", a.Status, a.Body)
					}
				}
			}
		})
	}
	deletes(t, m.Agent, first.ArtifactID)
	s.clock.pass(sessionsEnd)
	s.collects(t)
}

func TestF04ReferencesOfARevisionThatNeverCameHoldNothing(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	second := finishes(t, m.Agent, s.borrows(t, m.Agent, "", "second"))
	r := revision(second, "never comes") // it inherits the logo, which its session does not name
	r.Files = wire.Declare("", wire.File{Path: "new.txt"}).Files
	u := must(m.Create(ctx, wire.NewKey(), r))(t)
	s.faults.On("BatchWriteItem").After(chaos.Crash)
	tryFinalize(t, m.Agent, wire.NewKey(), u.UploadSessionID)
	s.revive()
	if n := s.count(t, s.names.Core, "O#"); n != 2 {
		t.Fatalf("%d references, want one of the second artifact and one of what never comes", n)
	}
	s.clock.pass(sessionsEnd)
	s.works(t)
	deletes(t, m.Agent, first.ArtifactID)
	deletes(t, m.Agent, second.ArtifactID)
	s.collects(t)
	if left := s.objectsOf(t, m.Agent); len(left)+s.count(t, s.names.Core, "O#") > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestAHintThatComesTooLateIsNotGiven(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	u := s.uploaded(t, m.Agent, "", "gone")
	gone := finishes(t, m.Agent, u)
	deletes(t, m.Agent, gone.ArtifactID)
	s.collects(t)
	s.change(t, "U#"+string(u.UploadSessionID), "META", map[string]any{"g2p": "DUE#HINT#0", "g2s": sortKey(s.options.Now())})
	s.works(t)
	if n := s.count(t, s.names.Core, "B#"); n > 0 {
		t.Errorf("%d hints lead to what is gone", n)
	}
}
