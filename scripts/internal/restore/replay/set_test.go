package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// TestARogueDeletionIsLeftOutAndItsRevocationsAreNot is a theft: deletions may be forged, revocations only close.
func TestARogueDeletionIsLeftOutAndItsRevocationsAreNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := artifactOf(w).(id.Artifact), artifactOf(w).(id.Artifact)
	l := harness.CreateLink(t, w.agent, second, harness.ShareLink)
	w.copyNow()
	harness.DeleteArtifact(t, w.agent, first)
	harness.RevokeLink(t, w.agent, l.ID)
	set := w.restored(nil)
	report := w.apply(set, w.plan(replay.Exception{From: w.instant, Deletions: true}))
	deleted := outcome(report, event.ArtifactDeleted, replay.Applied)
	if deleted != 0 || outcome(report, event.LinkRevoked, replay.Applied) != 1 {
		t.Errorf("%v, want the revocation alone", report.Lines)
	}
	now := w.texts(set.Tables)
	expect.Has(t, "the artifact", now["A#"+string(first)+" META"], "status=active")
	if n := events(w, set.Tables.Events, event.ArtifactDeleted); n != 1 {
		t.Errorf("%d events of the deletion, want its copy", n)
	}
}

func TestAnEventWithoutItsEffectIsTakenOutAndDoneAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"an artifact is deleted", "an artifact is locked", "an API key is revoked", "an artifact is pinned",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deeds[name]
			w := newWorld(t)
			to := d.before(w)
			w.copyNow()
			core := w.copied["core"]
			d.do(w, to)
			w.copied = w.items(w.Tables) // events of a later instant than
			w.copied["core"] = core
			w.instant = w.Clock.Now()
			set := w.restored(nil)
			report := w.apply(set, w.plan())
			if outcome(report, d.action, replay.Applied) != 1 {
				t.Errorf("%v, want it done", report.Lines)
			}
			w.copied["events"] = nil
			for _, differs := range w.changed(set) {
				t.Error(differs)
			}
		})
	}
}

func TestAnEffectWithoutItsEventGetsTheEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := artifactOf(w).(id.Artifact)
	w.copyNow()
	before := w.copied["events"]
	harness.DeleteArtifact(t, w.agent, a)
	w.copied = w.items(w.Tables)
	w.copied["events"] = before
	set := w.restored(nil)
	report := w.apply(set, w.plan())
	told := events(w, set.Tables.Events, event.ArtifactDeleted)
	if outcome(report, event.ArtifactDeleted, replay.Already) != 1 || told != 1 {
		t.Errorf("%v, want the event alone", report.Lines)
	}
}

// events counts the events of an action in a table.
func events(w *world, table string, action event.Action) (n int) {
	w.t.Helper()
	for _, i := range w.Scan(w.t, table) {
		if harness.Text(i["action"]) == string(action) {
			n++
		}
	}
	return n
}

func TestAClaimIntoAWorkspaceThatIsGoneLeavesItsSourceOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	source := w.NewSource(t)
	a := harness.PublishPage(t, source.Agent, "of an agent").ArtifactID
	w.copyNow()
	w.email = "bob@example.com"
	w.browser = w.SignedIn(t, w.email)
	w.signIn()
	if answer := harness.TryClaim(t, w.member.Agent, source.ClaimToken); answer.Status != 200 {
		t.Fatal(answer.Status)
	}
	w.Clock.Advance(3 * limits.Day)
	set := w.restored(nil)
	for range 2 {
		report := w.apply(set, w.plan())
		expect.Has(t, "the report", strings.Join(report.Lines, "\n"), "stays open and can be claimed until")
	}
	until := fmt.Sprintf("exp=%d", w.Clock.Now().Add(7*limits.Day).UnixMilli())
	now := w.texts(set.Tables)
	for key, text := range now {
		token := strings.HasPrefix(key, "CT#") && strings.Contains(text, string(source.WorkspaceID))
		if key == "A#"+string(a)+" META" || token {
			expect.Has(t, key, text, until)
		}
	}
	w.wantSound(set)
}

func TestAnArtifactIsKeptAsLongAsItsLastPublicationSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	source := w.NewSource(t)
	p := harness.PublishPage(t, source.Agent, "of an agent")
	w.copyNow()
	again := harness.Must(source.PublishFiles(ctx, "again", p.ArtifactID, harness.Page("again")))(t)
	set := w.restored(nil)
	for range 2 {
		w.apply(set, w.plan())
	}
	now := w.texts(set.Tables)["A#"+string(p.ArtifactID)+" META"]
	expect.Has(t, "the artifact", now, fmt.Sprintf("exp=%d ", again.ExpiresAt.UnixMilli()), " no=1 ")
	w.wantSound(set)
}

func TestAnArtifactExpiresAgainIfItsOwnEndIsPast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	source := w.NewSource(t)
	ended := harness.PublishPage(t, source.Agent, "that ends").ArtifactID
	kept := harness.PublishPage(t, source.Agent, "that lives longer in the copy").ArtifactID
	w.copyNow()
	w.Update(t, "A#"+string(kept), "META", map[string]any{"exp": w.instant})
	w.Clock.Advance(limits.Default().Tiers[limits.Ephemeral].DefaultLife)
	harness.NoError(t, w.Host.Run(ctx))
	set := w.restored(nil)
	events := harness.Must(replay.Read(ctx, w.Deployment(), w.instant))(t)
	for n, e := range events { // the second ended before the end that the copy has
		if e.Target.ID == string(kept) && e.Action == event.ArtifactExpired {
			events[n].At = w.instant.Add(time.Hour)
		}
	}
	plan := harness.Must(replay.New(events, w.instant, nil))(t)
	report := w.apply(set, plan)
	now := w.texts(set.Tables)
	expect.Has(t, "the one that ended", now["A#"+string(ended)+" META"], "status=expired")
	expect.Has(t, "the other one", now["A#"+string(kept)+" META"], "status=active")
	expect.Has(t, "the report", strings.Join(report.Lines, "\n"), string(kept), "lives longer")
}

func TestARemovalIsLeftToTheJobsOfTheSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	artifactOf(w)
	w.copyNow()
	w.deleteWorkspace()
	w.Clock.Advance(limits.DeletionGrace)
	done := event.Event{
		ID:        id.NewEvent(),
		Workspace: w.member.Workspace,
		At:        w.Clock.Now(),
		Action:    event.DeletionDone,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: event.OnWorkspace, ID: string(w.member.Workspace)},
	}
	for name, c := range map[string]struct {
		except []replay.Exception
		told   int // events that it is done; the jobs write one
	}{
		"that was asked for in the set, too": {nil, 0},
		"whose request is left out":          {[]replay.Exception{{Actor: string(w.memberID())}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			set := w.restored(nil)
			all := harness.Must(replay.Read(ctx, w.Deployment(), w.instant))(t)
			plan := harness.Must(replay.New(append(all, done), w.instant, c.except))(t)
			for range 2 {
				w.apply(set, plan)
			}
			if n := events(w, set.Tables.Events, event.DeletionDone); n != c.told {
				t.Errorf("%d events that it is done, want %d", n, c.told)
			}
			now := w.texts(set.Tables)
			expect.Has(t, "the removal", now["JOB#REMOVE#"+string(w.member.Workspace)+" J"], "g2p=DUE#REMOVE")
			due := now["JOB#REMOVE#"+string(w.member.Workspace)+" J"]
			_, at, _ := strings.Cut(due, "g2s=")
			if at[:13] > fmt.Sprint(done.At.UnixMilli()) {
				t.Errorf("the removal is due at %s, after %d", at[:13], done.At.UnixMilli())
			}
		})
	}
}

// memberID returns the member that signed in.
func (w *world) memberID() id.Member {
	w.t.Helper()
	for _, i := range w.Scan(w.t, w.Tables.Core) {
		name, ok := strings.CutPrefix(harness.Text(i["sk"]), "MEM#")
		if ok && harness.Text(i["pk"]) == "W#"+string(w.member.Workspace) {
			return id.Member(name)
		}
	}
	w.t.Fatal("nobody is there")
	return ""
}

// TestAnAgentIsNotLetInByAnAttemptThatTheSetDoesNotHave also wants its contents claimed, which needs no attempt. The set
// has none, or another one than the person confirmed.
func TestAnAgentIsNotLetInByAnAttemptThatTheSetDoesNotHave(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(w *world, r contract.RegisteredAgent){
		"none":    func(*world, contract.RegisteredAgent) {},
		"another": func(w *world, r contract.RegisteredAgent) { w.StartClaim(t, r) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.RegisterAgent(t)
			before(w, r)
			w.Clock.Advance(limits.AttemptLife)
			w.copyNow()
			w.confirm(r)
			set := w.restored(nil)
			report := w.apply(set, w.plan())
			expect.Has(t, "the report", strings.Join(report.Lines, "\n"), "has to register again")
			if outcome(report, event.WorkspaceClaimed, replay.Applied) != 1 {
				t.Errorf("%v, want the contents claimed", report.Lines)
			}
			now := w.texts(set.Tables)["REG#"+string(r.RegistrationID)+" R"]
			expect.Lacks(t, "the registration", now, string(w.member.Workspace))
			w.wantSound(set)
		})
	}
}

func TestAMessageIsDeletedAgainIfItIsCertainWhich(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := threadOf(w).(written)
	path := threadPath(a.artifact, a.thread)
	w.as("POST", path, contract.AnswerThreadAsMember{Reply: "first"})
	w.as("POST", path, contract.AnswerThreadAsMember{Reply: "second"})
	w.copyNow()
	all := harness.CallAs[contract.Thread](t, w.member, 200, "GET", path, nil).Items
	w.as("DELETE", path+"/messages/"+string(all[2].ID), nil)
	set := w.restored(nil)
	report := w.apply(set, w.plan())
	expect.Has(t, "the report", strings.Join(report.Lines, "\n"), "several messages")
	w.wantSound(set)
}

// TestWhatWasDeletedAndRestoredLives also wants its links closed, as a restore leaves them.
func TestWhatWasDeletedAndRestoredLives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := artifactOf(w).(id.Artifact)
	harness.CreateLink(t, w.agent, a, harness.ShareLink)
	w.copyNow()
	harness.DeleteArtifact(t, w.agent, a)
	w.Clock.Advance(time.Minute)
	restored := w.told(event.ArtifactRestored, event.OnArtifact, string(a))
	expect.OK(t, w.Store.Lookups.Record(ctx, restored))
	set := w.restored(nil)
	for range 2 {
		w.apply(set, w.plan())
	}
	expect.Has(t, "the artifact", w.texts(set.Tables)["A#"+string(a)+" META"],
		"status=active", fmt.Sprintf("links_closed=%d", restored.At.UnixMilli()))
	w.wantSound(set)
}
