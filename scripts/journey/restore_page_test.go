package journey

import (
	"net/http"
	"net/url"
	"sync"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// restorer is a member with an artifact of two revisions.
type restorer struct {
	*jobStand
	*claimant
	first, now contract.Published
}

// few lets an artifact have as many revisions.
func few(n int) func(*stack.Options) {
	return func(o *stack.Options) {
		free := o.Limits.Tiers[limits.Free]
		free.Revisions = n
		o.Limits.Tiers = map[limits.Tier]limits.Policy{
			limits.Ephemeral: o.Limits.Tiers[limits.Ephemeral], limits.Free: free, limits.Pro: o.Limits.Tiers[limits.Pro],
		}
	}
}

func newRestorer(t testing.TB, change ...func(*stack.Options)) *restorer {
	t.Helper()
	s := newJobStand(t, append([]func(*stack.Options){unlimited}, change...)...)
	r := &restorer{jobStand: s, claimant: s.claimant(t)}
	r.first = must(r.PublishFiles(ctx, "First title", "", page("one"), wire.File{Path: "only-then.txt", Body: []byte("once")}))(t)
	r.now = must(r.PublishFiles(ctx, "Second title", r.first.ArtifactID, page("two")))(t)
	return r
}

// restores publishes a revision of the artifact again, as a command with this name.
func (r *restorer) restores(revision id.Revision, name string) (id.Revision, error) {
	artifacts, _ := r.services.Artifacts() // without the rings of jobs it signs nothing, and restoring signs nothing
	return artifacts.Restore(ctx, r.actor, artifact.Target{
		RequestedID: r.first.ArtifactID,
		Command: idempotency.Command{
			Key: idempotency.Key{
				Actor:     r.actor.Subject(),
				Operation: idempotency.RestoreRevision,
				Target:    string(r.first.ArtifactID+"/") + string(revision),
				Client:    name,
			},
			Fingerprint: idempotency.FingerprintOf("POST", "restore", nil),
		},
	}, revision)
}

func (r *restorer) revisions(t testing.TB) []contract.RevisionSummary {
	t.Helper()
	return answered[contract.RevisionList](t, r.Agent, 200, "GET", "/v1/artifacts/"+string(r.first.ArtifactID)+"/revisions", nil).Items
}

// refuses checks why a revision is not restored.
func (r *restorer) refuses(t testing.TB, revision id.Revision, code fault.Code) {
	t.Helper()
	if _, err := r.restores(revision, wire.NewKey()); fault.CodeOf(err) != code {
		t.Errorf("restoring %s says %v, want %s", revision, err, code)
	}
}

func TestAnOlderRevisionIsRestoredAsANewOne(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	before, name := must(r.AgentView(ctx, r.first.ArtifactID))(t), wire.NewKey()
	third := must(r.restores(r.first.RevisionID, name))(t)
	if again := must(r.restores(r.first.RevisionID, name))(t); again != third {
		t.Errorf("the same command makes %s and %s", third, again)
	}
	list := r.revisions(t)
	if len(list) != 3 || *list[0].RevisionNumber != 3 || list[0].Status != "published" || list[0].FileCount != 2 || list[0].RevisionID != third {
		t.Fatalf("the revisions are %+v", list)
	}
	view := must(r.AgentView(ctx, r.first.ArtifactID))(t)
	if view.RevisionID != third || view.Title != "Second title" || len(view.Files) != 2 || !view.ExpiresAt.Equal(before.ExpiresAt.Time) {
		t.Errorf("shown is %+v", view)
	}
	for _, f := range view.Files {
		if a := must(r.anyone.Do(ctx, "GET", f.URL, nil))(t); a.Status != 200 {
			t.Errorf("%s answers %d", f.Path, a.Status)
		}
	}
	// What follows builds on it as on any other, and a restored revision is restored again.
	must(r.PublishFiles(ctx, "Third title", r.first.ArtifactID, page("three")))(t)
	fifth := must(r.restores(third, wire.NewKey()))(t)
	if now := must(r.AgentView(ctx, r.first.ArtifactID))(t); now.RevisionID != fifth || now.Title != "Third title" || len(now.Files) != 2 {
		t.Errorf("shown is %+v", now)
	}
	if same := must(r.restores(fifth, wire.NewKey()))(t); same != fifth || len(r.revisions(t)) != 5 {
		t.Errorf("restoring the newest makes %s, %d revisions", same, len(r.revisions(t)))
	}
	r.sound(t)
}

func TestARestoredRevisionRefersToWhatItBorrows(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	lender := r.withLogo(t, r.Agent, "lends")
	r.first = finishes(t, r.Agent, r.borrows(t, r.Agent, "", "borrows"))
	must(r.PublishFiles(ctx, "x", r.first.ArtifactID, page("without")))(t)
	must(r.restores(r.first.RevisionID, wire.NewKey()))(t)
	deletes(t, r.Agent, lender.ArtifactID)
	r.collects(t)
	view := must(r.AgentView(ctx, r.first.ArtifactID))(t)
	r.hasLogo(t, contract.Published{RevisionContentURL: view.RevisionContentURL})
	deletes(t, r.Agent, r.first.ArtifactID)
	deletes(t, r.Agent, r.now.ArtifactID)
	r.collects(t)
	if left := r.objectsOf(t, r.Agent); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestARestorationAndADeletionAtOnceLeaveNothing(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := r.restores(r.first.RevisionID, wire.NewKey()); err != nil && fault.CodeOf(err) != fault.ArtifactNotFound {
			t.Error(err)
		}
	})
	all.Go(func() {
		if a := tryDelete(t, r.Agent, r.first.ArtifactID); a.Status != 200 {
			t.Errorf("deleting answers %d %s", a.Status, a.Body)
		}
	})
	all.Wait()
	r.sound(t)
	r.refuses(t, r.first.RevisionID, fault.ArtifactNotFound)
	r.collects(t)
	if left := r.objectsOf(t, r.Agent); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestALostAnswerToARestorationIsAskedForAgain(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	name := wire.NewKey()
	r.worn.On("TransactWriteItems").Always().After(chaos.Timeout)
	if made, err := r.restores(r.first.RevisionID, name); err == nil {
		t.Errorf("a lost answer says %s", made)
	}
	r.worn.Clear()
	again := must(r.restores(r.first.RevisionID, name))(t)
	if list := r.revisions(t); len(list) != 3 || list[0].RevisionID != again {
		t.Errorf("asked again it says %s of %+v", again, list)
	}
	r.sound(t)
}

func TestWhatStandsInTheWayOfARestoration(t *testing.T) {
	t.Parallel()
	r := newRestorer(t, few(3))
	r.refuses(t, must(r.PublishFiles(ctx, "Something else", "", page("else")))(t).RevisionID, fault.RevisionUnpublished)
	r.refuses(t, "rev_nothing", fault.RevisionUnpublished)
	stranger := *r
	stranger.claimant = r.jobStand.claimant(t)
	stranger.refuses(t, r.first.RevisionID, fault.ArtifactNotFound)
	agent := *r
	agent.claimant = &claimant{Agent: r.Agent, workspace: r.workspace, actor: r.actor}
	agent.actor.Member = ""
	agent.refuses(t, r.first.RevisionID, fault.Forbidden)

	wanted := wire.Declare("Draft", page("draft"))
	wanted.ArtifactID = r.first.ArtifactID
	draft := must(r.Draft(ctx, wire.NewKey(), wanted, page("draft")))(t)
	r.refuses(t, r.first.RevisionID, fault.DraftRevisionConflict)
	r.refuses(t, draft.RevisionID, fault.RevisionUnpublished)
	_, err := r.Publish(ctx, wire.NewKey(), r.first.ArtifactID, draft.RevisionID)
	succeed(t, err)
	if r.actor.Policy.Revisions != 3 {
		t.Fatalf("%d revisions are allowed", r.actor.Policy.Revisions)
	}
	r.refuses(t, r.first.RevisionID, fault.RevisionCeilingExceeded)
	r.sound(t)
	r.change(t, "A#"+string(r.first.ArtifactID), "META", map[string]any{"lock": "lkd_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"})
	r.refuses(t, r.first.RevisionID, fault.ArtifactNotFound)
	r.change(t, "A#"+string(r.first.ArtifactID), "META", map[string]any{"lock": nil})
	r.clock.pass(limits.Day * 30)
	r.refuses(t, r.first.RevisionID, fault.ArtifactNotFound)
}

func TestRestorationsAndPublicationsAtOnceAreNumberedInARow(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, err := r.restores(r.first.RevisionID, wire.NewKey())
			if code := fault.CodeOf(err); err != nil && code != fault.DraftRevisionConflict && code != fault.DatabaseUnavailable {
				t.Error(err)
			}
		})
	}
	all.Go(func() { r.PublishFiles(ctx, "At once", r.first.ArtifactID, page("at once")) })
	all.Wait()
	r.sound(t) // numbered 1, 2, 3 …, and the last is current
}

// TestThePageRestoresARevision sends the form of the page, and shows what it cost.
func TestThePageRestoresARevision(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	p := l.inside()
	w := p.signedIn(t, "ada@example.org")
	who := &person{Agent: p.with(w.cliToken(t).AccessToken)}
	agent := p.with(asks[contract.CreatedKey](t, who, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, keyed()...).Secret)
	first := must(agent.PublishFiles(ctx, "First", "", tenFiles("one")...))(t)
	must(agent.PublishFiles(ctx, "Second", first.ArtifactID, page("two")))(t)
	at := "/artifacts/" + string(first.ArtifactID)
	form := at + "/revisions/" + string(first.RevisionID) + "/restore"
	says(t, "the page", w.get(t, at), 200, `action="`+form+`"`)
	fields := url.Values{"once": {"page-" + wire.NewKey()}}
	// Session, member, counters, then the artifact with the revision, its files, and the transaction: record, artifact with
	// its index entry, the check of the source, a fence, revision, files, event.
	l.holds(t, "page: restore", budget{7, 6, 6, 18}, func() {
		if a := w.post(t, form, fields); a.Status != http.StatusSeeOther {
			t.Fatalf("restoring answers %d %s", a.Status, a.Body)
		}
	})
	if view := must(agent.AgentView(ctx, first.ArtifactID))(t); len(view.Files) != 10 || view.RevisionID == first.RevisionID || view.Title != "Second" {
		t.Errorf("shown is %+v", view)
	}
	if a := w.post(t, form, fields); a.Status != http.StatusSeeOther {
		t.Errorf("the same form again answers %d %s", a.Status, a.Body)
	}
	stranger := p.signedIn(t, "bob@example.org")
	says(t, "somebody else", stranger.post(t, form, url.Values{"once": {"page-" + wire.NewKey()}}), 404, "Nothing was changed")
}
