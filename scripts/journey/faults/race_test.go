package faults

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// TestF06ALostAnswerOfAnEngineIsAskedForAgainWithOneEffect loses all answers of a transaction. The sweep of crashes
// loses each once.
func TestF06ALostAnswerOfAnEngineIsAskedForAgainWithOneEffect(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	for _, r := range crashRoutes {
		if !slices.Contains(lossy, r.name) {
			continue
		}
		g := s.NewAgent(t)
		ask := r.prepare(t, s, g)
		s.Faults.On("TransactWriteItems").Times(3).After(chaos.Timeout) // the SDK asks three times
		harness.WantRefused(t, ask(), 503, fault.DatabaseUnavailable)
		s.Clock.Advance(11 * time.Minute) // the database has forgotten the transaction's token
		if first := r.succeeded(t, ask()); r.succeeded(t, ask()) != first {
			t.Errorf("%s: one key gives other answers than %s", r.name, first)
		}
		if got := s.Events(t, g); fmt.Sprint(got) != fmt.Sprint(r.done) {
			t.Errorf("%s took effect as %v, want %v", r.name, got, r.done)
		}
	}
}

// TestF03ARefusalThatDiesBeforeItGivesItsCommandBack has a finalize die that found a file missing.
func TestF03ARefusalThatDiesBeforeItGivesItsCommandBack(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	for _, given := range []bool{false, true} {
		u, key := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("late", harness.Page("late"))))(t), wire.NewKey()
		if given {
			s.Faults.On("DeleteItem").After(chaos.Crash)
		} else {
			s.Faults.On("DeleteItem").Before(chaos.Crash)
		}
		harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t)
		s.Revive()
		harness.Must(g.Put(ctx, u.Files[0], harness.Page("late").Body))(t)
		if !given {
			harness.WantRefused(t, harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t), 409, fault.IdempotencyInFlight)
			s.Clock.Advance(limits.FinalizeLease - time.Millisecond)
			harness.WantRefused(t, harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t), 409, fault.IdempotencyInFlight)
			s.Clock.Advance(2 * time.Millisecond)
		}
		harness.Must(g.Finalize(ctx, key, u.UploadSessionID))(t)
	}
}

// TestF07F19WhoOutlivesItsLeaseCannotCommit has the lease of a finalize end while it works: in time, or early because
// the clock of its function is behind.
func TestF07F19WhoOutlivesItsLeaseCannotCommit(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	for name, late := range map[string]struct{ before, meanwhile time.Duration }{
		"it is slow":          {0, limits.FinalizeLease + time.Millisecond},
		"its clock is behind": {-skew, skew},
	} {
		t.Run(name, func(t *testing.T) {
			u, key, made := s.Upload(t, g, "", "slow"), wire.NewKey(), s.Events(t, g)[harness.ArtifactMade]
			s.Clock.Advance(late.before)
			var second wire.Answer
			first := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
				return harness.Finalize(g, key, u.UploadSessionID)
			}, func() {
				s.Clock.Advance(late.meanwhile)
				second = harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t)
			})
			if second.Status != http.StatusOK {
				t.Errorf("who takes over answers %d %s", second.Status, second.Code())
			}
			harness.WantOneEffect(t, []wire.Answer{first, second})
			if n := s.Events(t, g)[harness.ArtifactMade] - made; n != 1 {
				t.Errorf("%d drafts", n)
			}
		})
	}
}

func TestF07WhoLostItsLeaseDisturbsNobodyWhoTookOver(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	for name, step := range map[string]struct {
		held    string // before which call the first attempt is when its lease ends
		happens []chaos.Action
		status  int
		code    fault.Code
	}{
		"it commits late": {"TransactWriteItems", nil, 409, fault.IdempotencyInFlight},
		"it fails late":   {"ListObjectsV2", []chaos.Action{chaos.Fail(harness.ErrDown)}, 503, fault.StorageUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			u, key := s.Upload(t, g, "", "lost"), wire.NewKey()
			finalize := func() (wire.Answer, error) { return harness.Finalize(g, key, u.UploadSessionID) }
			claimed := s.Faults.On("PutItem").After(chaos.Run(func() {}))
			first := s.Hold(t, step.held, finalize, step.happens...)
			<-claimed.Reached()
			s.Clock.Advance(limits.FinalizeLease + time.Millisecond)
			second := s.Hold(t, "TransactWriteItems", finalize)
			harness.WantRefused(t, first(), step.status, step.code)
			harness.WantRefused(t, harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t), 409, fault.IdempotencyInFlight)
			if status := s.SessionStatus(t, u.UploadSessionID); status != "pending" {
				t.Errorf("the session is %s", status)
			}
			if a := second(); a.Status != http.StatusOK {
				t.Errorf("who took over answers %d %s", a.Status, a.Code())
			}
		})
	}
}

func TestF09AFinalizeThatTheLastFileOvertakesMayBeRepeated(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	u := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("late", harness.Page("late"))))(t)
	s.Faults.On("ListObjectsV2").After(chaos.Run(func() { // the list is made, and the file comes
		if a, err := g.Put(ctx, u.Files[0], harness.Page("late").Body); err != nil || a.Status != http.StatusOK {
			t.Errorf("the PUT answers %d (%v)", a.Status, err)
		}
	}))
	key := wire.NewKey()
	harness.WantRefused(t, harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t), 409, fault.UploadIncomplete)
	if status := s.SessionStatus(t, u.UploadSessionID); status != "pending" {
		t.Errorf("the session is %s", status)
	}
	s.CheckInvariants(t)
	harness.Must(g.Finalize(ctx, key, u.UploadSessionID))(t)
}

func TestF24APublicationAndADeletionOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	for _, shown := range []bool{false, true} { // whether the artifact was published before
		artifact := func() contract.Finalized {
			if shown {
				return s.DraftBlank(t, g, harness.PublishPage(t, g, "shown").ArtifactID)
			}
			return s.DraftBlank(t, g, "")
		}
		d, key := artifact(), wire.NewKey()
		late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
			return harness.Publish(g, key, d.ArtifactID, d.RevisionID)
		}, func() {
			harness.DeleteArtifact(t, g, d.ArtifactID)
		})
		harness.WantRefused(t, late, 404, fault.ArtifactNotFound)
		harness.WantRefused(
			t, harness.Must(harness.Publish(g, key, d.ArtifactID, d.RevisionID))(t), 404, fault.ArtifactNotFound,
		)

		d = artifact()
		var p contract.Published
		remove := func() (wire.Answer, error) { return harness.Delete(g, d.ArtifactID) }
		late = s.Overtake(t, "TransactWriteItems", remove, func() {
			p = harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
			s.WantContent(t, p.RevisionContentURL, nil)
		})
		if late.Status != http.StatusOK {
			t.Errorf("the deletion answers %d %s", late.Status, late.Code())
		}
		s.WantGone(t, p.RevisionContentURL) // I3
		s.WantGone(t, p.AgentViewURL)
		if _, err := g.Resolve(ctx, p.UnlistedURL); err == nil {
			t.Error("I3: the link of a deleted artifact opens")
		}
		s.CheckInvariants(t)
	}
}

func TestF24AFinalizeThatADeletionOvertakesMakesNoDraft(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "first")
	u, key := s.Upload(t, g, p.ArtifactID, "second"), wire.NewKey()
	finalize := func() (wire.Answer, error) { return harness.Finalize(g, key, u.UploadSessionID) }
	late := s.Overtake(t, "TransactWriteItems", finalize, func() { harness.Must(harness.Delete(g, p.ArtifactID))(t) })
	harness.WantRefused(t, late, 404, fault.ArtifactNotFound)
	harness.WantRefused(t, harness.Must(finalize())(t), 404, fault.ArtifactNotFound)
	if status := s.SessionStatus(t, u.UploadSessionID); status != "pending" {
		t.Errorf("the session is %s", status)
	}
}

func TestF47AStormOfConflictsLosesNothing(t *testing.T) {
	t.Parallel()
	const storm = 60
	s := harness.NewFaultEnv(t, func(o *stack.Options) {
		o.Limits.Actor.Limit, o.Limits.Workspace.Limit = 10*storm, 10*storm
		harness.WithPolicy(func(p *limits.Policy) { p.NewArtifactsPerDay = storm })(&o.Limits)
	})
	g := s.NewAgent(t)
	drafts, keys := make([]contract.Finalized, storm), make([]string, storm)
	made := s.Concurrently(t, storm, func(i int) (wire.Answer, error) {
		keys[i] = wire.NewKey()
		d, err := g.Draft(ctx, keys[i], wire.Declare("blank", wire.File{Path: "blank.txt"}), wire.File{Path: "blank.txt"})
		drafts[i] = d
		return wire.Answer{}, err
	})
	last := s.DraftBlank(t, g, "")
	s.Faults.On("TransactWriteItems").Times(2 * storm).Before(chaos.Conflict)
	answers := s.Concurrently(t, len(made), func(i int) (wire.Answer, error) {
		return harness.Publish(g, keys[i], drafts[i].ArtifactID, drafts[i].RevisionID)
	})
	busy := 0
	for i, a := range answers {
		if a.Status != http.StatusOK {
			busy++
			harness.WantRefused(t, a, 503, fault.DatabaseUnavailable)
			harness.Must(g.Publish(ctx, keys[i], drafts[i].ArtifactID, drafts[i].RevisionID))(t)
		}
	}
	t.Logf("%d of %d publications were told to come again", busy, storm)
	harness.WantRefused(
		t, harness.Must(harness.Publish(g, wire.NewKey(), last.ArtifactID, last.RevisionID))(t),
		429, fault.WriteAllowanceExceeded,
	)
	s.Faults.Clear()
	s.Faults.On("TransactWriteItems").Always().Before(chaos.Conflict)
	harness.WantRefused(t, harness.Must(harness.Delete(g, drafts[0].ArtifactID))(t), 503, fault.DatabaseUnavailable)
	s.Faults.Clear()
	s.WantContent(t, harness.Must(g.AgentView(ctx, drafts[0].ArtifactID))(t).Files[0].URL, nil)
}
