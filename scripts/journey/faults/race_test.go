package faults

import (
	"fmt"
	"net/http"
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

func TestF04AFinalizeThatDiesBeforeItsCommitLeavesTheSessionPending(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	u, abandoned := s.Upload(t, g, "", "retried"), s.Upload(t, g, "", "abandoned")
	key := wire.NewKey()
	for _, session := range []contract.Session{abandoned, u} {
		s.Faults.On("TransactWriteItems").Before(chaos.Crash)
		harness.TryFinalize(t, g, key, session.UploadSessionID)
		s.Revive()
		if status := s.SessionStatus(t, session.UploadSessionID); status != "pending" {
			t.Errorf("the session is %s", status)
		}
	}
	s.CheckInvariants(t) // the objects of the abandoned one are to be found by what is due
	harness.WantRefused(t, harness.TryFinalize(t, g, key, u.UploadSessionID), 409, fault.IdempotencyInFlight)
	harness.Must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t) // another key does not wait
	s.Clock.Advance(limits.FinalizeLease + time.Millisecond)
	harness.Must(g.Finalize(ctx, key, u.UploadSessionID))(t)
}

func TestF06ALostAnswerOfAnEngineIsAskedForAgainWithOneEffect(t *testing.T) {
	t.Parallel()
	for _, r := range crashRoutes {
		if r.name != "create" && r.name != "finalize" && r.name != "publish" {
			continue // every loss takes a pause of the SDK's
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewFaultEnv(t)
			lost := func(call string, times int) (g *wire.Agent, ask func() wire.Answer) {
				s.Clock.Advance(time.Minute)
				g = s.NewAgent(t)
				ask = r.prepare(t, s, g)
				s.Faults.Clear()
				s.Faults.On("").If(func(input any) bool {
					return harness.CallName(input) == call
				}).Times(times).After(chaos.Timeout)
				return g, ask
			}
			for _, call := range r.calls(t, s) {
				g, ask := lost(call, 1)
				r.wantOneEffect(t, s, g, call, ask(), ask())
			}
			g, ask := lost("TransactWriteItems", 3) // the SDK asks three times
			harness.WantRefused(t, ask(), 503, fault.DatabaseUnavailable)
			s.Clock.Advance(11 * time.Minute) // the database has forgotten the transaction's token
			r.wantOneEffect(t, s, g, "all answers", ask(), ask())
		})
	}
}

// wantOneEffect checks that a request that was sent twice answered the same and took effect once.
func (r crashRoute) wantOneEffect(
	t *testing.T, s *harness.FaultEnv, g *wire.Agent, lost string, first, again wire.Answer,
) {
	t.Helper()
	if r.succeeded(t, first) != r.succeeded(t, again) {
		t.Errorf("without %s one key gives %s and %s", lost, first.Body, again.Body)
	}
	if got := s.Events(t, g); fmt.Sprint(got) != fmt.Sprint(r.done) {
		t.Errorf("without %s it took effect as %v, want %v", lost, got, r.done)
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
		harness.TryFinalize(t, g, key, u.UploadSessionID)
		s.Revive()
		harness.Must(g.Put(ctx, u.Files[0], harness.Page("late").Body))(t)
		if !given {
			harness.WantRefused(t, harness.TryFinalize(t, g, key, u.UploadSessionID), 409, fault.IdempotencyInFlight)
			s.Clock.Advance(limits.FinalizeLease - time.Millisecond)
			harness.WantRefused(t, harness.TryFinalize(t, g, key, u.UploadSessionID), 409, fault.IdempotencyInFlight)
			s.Clock.Advance(2 * time.Millisecond)
		}
		harness.Must(g.Finalize(ctx, key, u.UploadSessionID))(t)
	}
}

func TestF07WhoOutlivesItsLeaseCannotCommit(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	u := s.Upload(t, g, "", "slow")
	key := wire.NewKey()
	var second wire.Answer
	first := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return s.Finalize(g, key, u.UploadSessionID)
	}, func() {
		s.Clock.Advance(limits.FinalizeLease + time.Millisecond)
		second = harness.TryFinalize(t, g, key, u.UploadSessionID)
	})
	if second.Status != http.StatusOK {
		t.Errorf("who takes over answers %d %s", second.Status, second.Code())
	}
	if first.Code() != fault.IdempotencyInFlight && harness.StableIDs(t, first) != harness.StableIDs(t, second) {
		t.Errorf("the slow one answers %d %s, the other %s", first.Status, first.Body, second.Body)
	}
	if n := s.Events(t, g)[harness.ArtifactMade]; n != 1 {
		t.Errorf("%d drafts", n)
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
			finalize := func() (wire.Answer, error) { return s.Finalize(g, key, u.UploadSessionID) }
			claimed := s.Faults.On("PutItem").After(chaos.Run(func() {}))
			first := s.Hold(t, step.held, finalize, step.happens...)
			<-claimed.Reached()
			s.Clock.Advance(limits.FinalizeLease + time.Millisecond)
			second := s.Hold(t, "TransactWriteItems", finalize)
			harness.WantRefused(t, first(), step.status, step.code)
			harness.WantRefused(t, harness.TryFinalize(t, g, key, u.UploadSessionID), 409, fault.IdempotencyInFlight)
			if status := s.SessionStatus(t, u.UploadSessionID); status != "pending" {
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
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	u := s.Upload(t, g, "", "held")
	slow := wire.NewKey()
	var quick wire.Answer
	first := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return s.Finalize(g, slow, u.UploadSessionID)
	}, func() {
		quick = harness.TryFinalize(t, g, wire.NewKey(), u.UploadSessionID)
	})
	again := harness.TryFinalize(t, g, slow, u.UploadSessionID)
	harness.WantOneEffect(t, []wire.Answer{first, quick, again})
	if first.Status != http.StatusOK || again.Status != http.StatusOK {
		t.Errorf("who lost answers %d, then %d", first.Status, again.Status)
	}
	both := s.Upload(t, g, "", "both")
	harness.WantOneEffect(t, s.Concurrently(t, 2, func(int) (wire.Answer, error) {
		return s.Finalize(g, wire.NewKey(), both.UploadSessionID)
	}))
	if n := s.Events(t, g)[harness.ArtifactMade]; n != 2 {
		t.Errorf("two sessions made %d drafts", n)
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
	harness.WantRefused(t, harness.TryFinalize(t, g, key, u.UploadSessionID), 409, fault.UploadIncomplete)
	if status := s.SessionStatus(t, u.UploadSessionID); status != "pending" {
		t.Errorf("the session is %s", status)
	}
	s.CheckInvariants(t)
	harness.Must(g.Finalize(ctx, key, u.UploadSessionID))(t)
}

func TestF20F21ParallelPublicationsPublishOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	same, other := s.DraftBlank(t, g, ""), s.DraftBlank(t, g, "")
	key := wire.NewKey()
	answers := s.Concurrently(t, 12, func(i int) (wire.Answer, error) {
		if i%2 == 0 {
			return s.Publish(g, key, same.ArtifactID, same.RevisionID)
		}
		return s.Publish(g, wire.NewKey(), other.ArtifactID, other.RevisionID)
	})
	byKey := [2][]wire.Answer{}
	for i, a := range answers {
		byKey[i%2] = append(byKey[i%2], a)
	}
	harness.WantOneEffect(t, byKey[0])
	harness.WantOneEffect(t, byKey[1])
	for _, a := range byKey[1] {
		if a.Status != http.StatusOK { // no other request holds its key
			t.Errorf("a publication under a key of its own answers %d %s", a.Status, a.Code())
		}
	}
	var policy contract.UsagePolicy
	harness.Decode(t, harness.Do(t, g, "GET", s.Origins.API+"/v1/usage-policy", nil), &policy)
	left := policy.DailyNewArtifactAllowance - *policy.DailyNewArtifactsRemaining
	if left != 2 || s.Events(t, g)[harness.ArtifactPublished] != 2 {
		t.Errorf(
			"two publications used %d of the allowance and have %d events", left, s.Events(t, g)[harness.ArtifactPublished],
		)
	}
}

func TestF23TwoSessionsOfOneArtifactThatEndTogetherMakeOneDraft(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	a := harness.PublishPage(t, g, "first").ArtifactID
	sessions := []contract.Session{s.Upload(t, g, a, "one"), s.Upload(t, g, a, "two")}
	keys := []string{wire.NewKey(), wire.NewKey()}
	answers := s.Concurrently(t, 2, func(i int) (wire.Answer, error) {
		return s.Finalize(g, keys[i], sessions[i].UploadSessionID)
	})
	lost := 0
	if answers[0].Status == http.StatusOK {
		lost = 1
	}
	if answers[1-lost].Status != http.StatusOK {
		t.Fatalf("nobody won: %d and %d", answers[0].Status, answers[1].Status)
	}
	harness.WantRefused(t, answers[lost], 409, fault.DraftRevisionConflict)
	if status := s.SessionStatus(t, sessions[lost].UploadSessionID); status != "pending" {
		t.Errorf("the loser's session is %s", status)
	}
	harness.WantRefused(
		t, harness.TryFinalize(t, g, keys[lost], sessions[lost].UploadSessionID), 409, fault.DraftRevisionConflict,
	)
	harness.Must(g.Publish(ctx, wire.NewKey(), a, sessions[1-lost].RevisionID))(t)
	harness.Must(g.Finalize(ctx, keys[lost], sessions[lost].UploadSessionID))(t)
	late := harness.Must(g.Publish(ctx, wire.NewKey(), a, sessions[lost].RevisionID))(t)
	s.WantContent(t, late.RevisionContentURL, harness.Page([]string{"one", "two"}[lost]).Body)
}

func TestAKeyThatIsRevokedTwiceAtOnceIsRevokedOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	revoke := func() (wire.Answer, error) { return g.Do(ctx, "POST", g.At.APIURL+"/v1/api-keys/current/revoke", nil) }
	var one, other contract.RevokedKey
	first := s.Overtake(t, "TransactWriteItems", revoke, func() {
		s.Clock.Advance(time.Second)
		harness.Decode(t, harness.Must(revoke())(t), &other)
	})
	harness.Decode(t, first, &one)
	if one.RevokedAt.IsZero() || !one.RevokedAt.Equal(other.RevokedAt.Time) {
		t.Errorf("one was told %s, the other %s", one.RevokedAt, other.RevokedAt)
	}
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
			return s.Publish(g, key, d.ArtifactID, d.RevisionID)
		}, func() {
			if a := harness.TryDelete(t, g, d.ArtifactID); a.Status != http.StatusOK {
				t.Errorf("deleting answers %d %s", a.Status, a.Code())
			}
		})
		harness.WantRefused(t, late, 404, fault.ArtifactNotFound)
		harness.WantRefused(t, harness.TryPublish(t, g, key, d.ArtifactID, d.RevisionID, nil), 404, fault.ArtifactNotFound)

		d = artifact()
		var p contract.Published
		late = s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) { return s.Delete(g, d.ArtifactID) }, func() {
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
	finalize := func() (wire.Answer, error) { return s.Finalize(g, key, u.UploadSessionID) }
	late := s.Overtake(t, "TransactWriteItems", finalize, func() { harness.TryDelete(t, g, p.ArtifactID) })
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
		return s.Publish(g, keys[i], drafts[i].ArtifactID, drafts[i].RevisionID)
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
		t, harness.TryPublish(t, g, wire.NewKey(), last.ArtifactID, last.RevisionID, nil), 429, fault.WriteAllowanceExceeded,
	)
	s.Faults.Clear()
	s.Faults.On("TransactWriteItems").Always().Before(chaos.Conflict)
	harness.WantRefused(t, harness.TryDelete(t, g, drafts[0].ArtifactID), 503, fault.DatabaseUnavailable)
	s.Faults.Clear()
	s.WantContent(t, harness.Must(g.AgentView(ctx, drafts[0].ArtifactID))(t).Files[0].URL, nil)
}
