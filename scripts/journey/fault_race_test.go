package journey

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func TestF04AFinalizeThatDiesBeforeItsCommitLeavesTheSessionPending(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u, abandoned := s.uploaded(t, g, "", "retried"), s.uploaded(t, g, "", "abandoned")
	key := wire.NewKey()
	for _, session := range []contract.Session{abandoned, u} {
		s.faults.On("TransactWriteItems").Before(chaos.Crash)
		tryFinalize(t, g, key, session.UploadSessionID)
		s.revive()
		if status := s.status(t, session.UploadSessionID); status != "pending" {
			t.Errorf("the session is %s", status)
		}
	}
	s.sound(t) // the objects of the abandoned one are to be found by what is due
	refused(t, tryFinalize(t, g, key, u.UploadSessionID), 409, fault.IdempotencyInFlight)
	must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t) // another key waits for nobody
	s.clock.pass(limits.FinalizeLease + time.Millisecond)
	must(g.Finalize(ctx, key, u.UploadSessionID))(t)
}

func TestF06ALostAnswerOfAnEngineIsAskedForAgainWithOneEffect(t *testing.T) {
	t.Parallel()
	for _, r := range crashRoutes {
		if r.name != "create" && r.name != "finalize" && r.name != "publish" {
			continue // every loss takes a pause of the SDK's
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s := newFaultStand(t)
			lost := func(call string, times int) (g *wire.Agent, ask func() wire.Answer) {
				s.clock.pass(time.Minute)
				g = s.agent(t)
				ask = r.prepare(t, s, g)
				s.faults.Clear()
				s.faults.On("").If(func(input any) bool { return faultCall(input) == call }).Times(times).After(chaos.Timeout)
				return g, ask
			}
			for _, call := range r.calls(t, s) {
				g, ask := lost(call, 1)
				r.once(t, s, g, call, ask(), ask())
			}
			g, ask := lost("TransactWriteItems", 3) // the SDK asks three times
			refused(t, ask(), 503, fault.DatabaseUnavailable)
			s.clock.pass(11 * time.Minute) // the database has forgotten the transaction's token
			r.once(t, s, g, "all answers", ask(), ask())
		})
	}
}

// once checks that a request that was sent twice answered the same and took effect once.
func (r crashRoute) once(t *testing.T, s *faultStand, g *wire.Agent, lost string, first, again wire.Answer) {
	t.Helper()
	if r.took(t, first) != r.took(t, again) {
		t.Errorf("without %s one key gives %s and %s", lost, first.Body, again.Body)
	}
	if got := s.events(t, g); fmt.Sprint(got) != fmt.Sprint(r.done) {
		t.Errorf("without %s it took effect as %v, want %v", lost, got, r.done)
	}
}

// TestF03ARefusalThatDiesBeforeItGivesItsCommandBack has a finalize die that found a file missing.
func TestF03ARefusalThatDiesBeforeItGivesItsCommandBack(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	for _, given := range []bool{false, true} {
		u, key := must(g.Create(ctx, wire.NewKey(), wire.Declare("late", page("late"))))(t), wire.NewKey()
		if given {
			s.faults.On("DeleteItem").After(chaos.Crash)
		} else {
			s.faults.On("DeleteItem").Before(chaos.Crash)
		}
		tryFinalize(t, g, key, u.UploadSessionID)
		s.revive()
		must(g.Put(ctx, u.Files[0], page("late").Body))(t)
		if !given {
			refused(t, tryFinalize(t, g, key, u.UploadSessionID), 409, fault.IdempotencyInFlight)
			s.clock.pass(limits.FinalizeLease - time.Millisecond)
			refused(t, tryFinalize(t, g, key, u.UploadSessionID), 409, fault.IdempotencyInFlight)
			s.clock.pass(2 * time.Millisecond)
		}
		must(g.Finalize(ctx, key, u.UploadSessionID))(t)
	}
}

func TestF07WhoOutlivesItsLeaseCannotCommit(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := s.uploaded(t, g, "", "slow")
	key := wire.NewKey()
	var second wire.Answer
	first := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.finalize(g, key, u.UploadSessionID) }, func() {
		s.clock.pass(limits.FinalizeLease + time.Millisecond)
		second = tryFinalize(t, g, key, u.UploadSessionID)
	})
	if second.Status != http.StatusOK {
		t.Errorf("who takes over answers %d %s", second.Status, second.Code())
	}
	if first.Code() != fault.IdempotencyInFlight && ids(t, first) != ids(t, second) {
		t.Errorf("the slow one answers %d %s, the other %s", first.Status, first.Body, second.Body)
	}
	if n := s.events(t, g)[madeDraft]; n != 1 {
		t.Errorf("%d drafts", n)
	}
}

func TestF07WhoLostItsLeaseDisturbsNobodyWhoTookOver(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	for name, step := range map[string]struct {
		held    string // before which call the first attempt is when its lease ends
		happens []chaos.Action
		status  int
		code    fault.Code
	}{
		"it commits late": {"TransactWriteItems", nil, 409, fault.IdempotencyInFlight},
		"it fails late":   {"ListObjectsV2", []chaos.Action{chaos.Fail(errDown)}, 503, fault.StorageUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			u, key := s.uploaded(t, g, "", "lost"), wire.NewKey()
			finalize := func() (wire.Answer, error) { return s.finalize(g, key, u.UploadSessionID) }
			claimed := s.faults.On("PutItem").After(chaos.Run(func() {}))
			first := s.hold(t, step.held, finalize, step.happens...)
			<-claimed.Reached()
			s.clock.pass(limits.FinalizeLease + time.Millisecond)
			second := s.hold(t, "TransactWriteItems", finalize)
			refused(t, first(), step.status, step.code)
			refused(t, tryFinalize(t, g, key, u.UploadSessionID), 409, fault.IdempotencyInFlight)
			if status := s.status(t, u.UploadSessionID); status != "pending" {
				t.Errorf("the session is %s", status)
			}
			if a := second(); a.Status != http.StatusOK {
				t.Errorf("who took over answers %d %s", a.Status, a.Code())
			}
		})
	}
}

func TestF08TwoFinalizesOfOneSessionMakeOneDraft(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := s.uploaded(t, g, "", "held")
	slow := wire.NewKey()
	var quick wire.Answer
	first := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.finalize(g, slow, u.UploadSessionID) }, func() {
		quick = tryFinalize(t, g, wire.NewKey(), u.UploadSessionID)
	})
	again := tryFinalize(t, g, slow, u.UploadSessionID)
	once(t, []wire.Answer{first, quick, again})
	if first.Status != http.StatusOK || again.Status != http.StatusOK {
		t.Errorf("who lost answers %d, then %d", first.Status, again.Status)
	}
	both := s.uploaded(t, g, "", "both")
	once(t, s.atOnce(t, 2, func(int) (wire.Answer, error) { return s.finalize(g, wire.NewKey(), both.UploadSessionID) }))
	if n := s.events(t, g)[madeDraft]; n != 2 {
		t.Errorf("two sessions made %d drafts", n)
	}
}

func TestF09AFinalizeThatTheLastFileOvertakesMayBeRepeated(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := must(g.Create(ctx, wire.NewKey(), wire.Declare("late", page("late"))))(t)
	s.faults.On("ListObjectsV2").After(chaos.Run(func() { // the list is made, and the file comes
		if a, err := g.Put(ctx, u.Files[0], page("late").Body); err != nil || a.Status != http.StatusOK {
			t.Errorf("the PUT answers %d (%v)", a.Status, err)
		}
	}))
	key := wire.NewKey()
	refused(t, tryFinalize(t, g, key, u.UploadSessionID), 409, fault.UploadIncomplete)
	if status := s.status(t, u.UploadSessionID); status != "pending" {
		t.Errorf("the session is %s", status)
	}
	s.sound(t)
	must(g.Finalize(ctx, key, u.UploadSessionID))(t)
}

func TestF20F21ParallelPublicationsPublishOnce(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	same, other := s.blank(t, g, ""), s.blank(t, g, "")
	key := wire.NewKey()
	answers := s.atOnce(t, 12, func(i int) (wire.Answer, error) {
		if i%2 == 0 {
			return s.publish(g, key, same.ArtifactID, same.RevisionID)
		}
		return s.publish(g, wire.NewKey(), other.ArtifactID, other.RevisionID)
	})
	byKey := [2][]wire.Answer{}
	for i, a := range answers {
		byKey[i%2] = append(byKey[i%2], a)
	}
	once(t, byKey[0])
	once(t, byKey[1])
	var policy contract.UsagePolicy
	succeed(t, json.Unmarshal(do(t, g, "GET", s.Origins.API+"/v1/usage-policy", nil).Body, &policy))
	if left := policy.DailyNewArtifactAllowance - *policy.DailyNewArtifactsRemaining; left != 2 || s.events(t, g)[madePublic] != 2 {
		t.Errorf("two publications used %d of the allowance and have %d events", left, s.events(t, g)[madePublic])
	}
}

func TestF23TwoSessionsOfOneArtifactThatEndTogetherMakeOneDraft(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	a := published(t, g, "first").ArtifactID
	sessions := []contract.Session{s.uploaded(t, g, a, "one"), s.uploaded(t, g, a, "two")}
	keys := []string{wire.NewKey(), wire.NewKey()}
	answers := s.atOnce(t, 2, func(i int) (wire.Answer, error) { return s.finalize(g, keys[i], sessions[i].UploadSessionID) })
	lost := 0
	if answers[0].Status == http.StatusOK {
		lost = 1
	}
	if answers[1-lost].Status != http.StatusOK {
		t.Fatalf("nobody won: %d and %d", answers[0].Status, answers[1].Status)
	}
	refused(t, answers[lost], 409, fault.DraftRevisionConflict)
	if status := s.status(t, sessions[lost].UploadSessionID); status != "pending" {
		t.Errorf("the loser's session is %s", status)
	}
	refused(t, tryFinalize(t, g, keys[lost], sessions[lost].UploadSessionID), 409, fault.DraftRevisionConflict)
	must(g.Publish(ctx, wire.NewKey(), a, sessions[1-lost].RevisionID))(t)
	must(g.Finalize(ctx, keys[lost], sessions[lost].UploadSessionID))(t)
}

func TestAKeyThatIsRevokedTwiceAtOnceIsRevokedOnce(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	revoke := func() (wire.Answer, error) { return g.Do(ctx, "POST", g.At.APIURL+"/v1/api-keys/current/revoke", nil) }
	var one, other contract.RevokedKey
	first := s.overtaken(t, "TransactWriteItems", revoke, func() {
		s.clock.pass(time.Second)
		succeed(t, json.Unmarshal(must(revoke())(t).Body, &other))
	})
	if succeed(t, json.Unmarshal(first.Body, &one)); one.RevokedAt.IsZero() || !one.RevokedAt.Equal(other.RevokedAt.Time) {
		t.Errorf("one was told %s, the other %s", one.RevokedAt, other.RevokedAt)
	}
}

func TestF24APublicationAndADeletionOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	for _, shown := range []bool{false, true} { // whether the artifact was published before
		artifact := func() contract.Finalized {
			if shown {
				return s.blank(t, g, published(t, g, "shown").ArtifactID)
			}
			return s.blank(t, g, "")
		}
		d, key := artifact(), wire.NewKey()
		late := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.publish(g, key, d.ArtifactID, d.RevisionID) }, func() {
			if a := tryDelete(t, g, d.ArtifactID); a.Status != http.StatusOK {
				t.Errorf("deleting answers %d %s", a.Status, a.Code())
			}
		})
		refused(t, late, 404, fault.ArtifactNotFound)
		refused(t, tryPublish(t, g, key, d.ArtifactID, d.RevisionID, nil), 404, fault.ArtifactNotFound)

		d = artifact()
		var p contract.Published
		late = s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.remove(g, d.ArtifactID) }, func() {
			p = must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
			s.reads(t, p.RevisionContentURL, nil)
		})
		if late.Status != http.StatusOK {
			t.Errorf("the deletion answers %d %s", late.Status, late.Code())
		}
		s.gone(t, p.RevisionContentURL) // I3
		s.gone(t, p.AgentViewURL)
		if _, err := g.Resolve(ctx, p.UnlistedURL); err == nil {
			t.Error("I3: the link of a deleted artifact opens")
		}
		s.sound(t)
	}
}

func TestF24AFinalizeThatADeletionOvertakesMakesNoDraft(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	p := published(t, g, "first")
	u, key := s.uploaded(t, g, p.ArtifactID, "second"), wire.NewKey()
	finalize := func() (wire.Answer, error) { return s.finalize(g, key, u.UploadSessionID) }
	late := s.overtaken(t, "TransactWriteItems", finalize, func() { tryDelete(t, g, p.ArtifactID) })
	refused(t, late, 404, fault.ArtifactNotFound)
	refused(t, must(finalize())(t), 404, fault.ArtifactNotFound)
	if status := s.status(t, u.UploadSessionID); status != "pending" {
		t.Errorf("the session is %s", status)
	}
}

func TestF47AStormOfConflictsLosesNothing(t *testing.T) {
	t.Parallel()
	const storm = 60
	s := newFaultStand(t, func(o *stack.Options) {
		o.Limits.Actor.Limit, o.Limits.Workspace.Limit = 10*storm, 10*storm
		tier(func(p *limits.Policy) { p.NewArtifactsPerDay = storm })(&o.Limits)
	})
	g := s.agent(t)
	drafts, keys := make([]contract.Finalized, storm), make([]string, storm)
	made := s.atOnce(t, storm, func(i int) (wire.Answer, error) {
		keys[i] = wire.NewKey()
		d, err := g.Draft(ctx, keys[i], wire.Declare("blank", wire.File{Path: "blank.txt"}), wire.File{Path: "blank.txt"})
		drafts[i] = d
		return wire.Answer{}, err
	})
	last := s.blank(t, g, "")
	s.faults.On("TransactWriteItems").Times(2 * storm).Before(chaos.Conflict)
	answers := s.atOnce(t, len(made), func(i int) (wire.Answer, error) {
		return s.publish(g, keys[i], drafts[i].ArtifactID, drafts[i].RevisionID)
	})
	busy := 0
	for i, a := range answers {
		if a.Status != http.StatusOK {
			busy++
			refused(t, a, 503, fault.DatabaseUnavailable)
			must(g.Publish(ctx, keys[i], drafts[i].ArtifactID, drafts[i].RevisionID))(t)
		}
	}
	t.Logf("%d of %d publications were told to come again", busy, storm)
	refused(t, tryPublish(t, g, wire.NewKey(), last.ArtifactID, last.RevisionID, nil), 429, fault.WriteAllowanceExceeded)
	s.faults.Clear()
	s.faults.On("TransactWriteItems").Always().Before(chaos.Conflict)
	refused(t, tryDelete(t, g, drafts[0].ArtifactID), 503, fault.DatabaseUnavailable)
	s.faults.Clear()
	s.reads(t, must(g.AgentView(ctx, drafts[0].ArtifactID))(t).Files[0].URL, nil)
}
