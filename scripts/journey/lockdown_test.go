package journey

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// operator makes a member whom the identity provider has just vouched for as an operator.
func (s *faultStand) operator(t testing.TB) *person {
	t.Helper()
	g, _, err := s.anyone.Provision(ctx)
	succeed(t, err)
	w := parsed(t, g).Workspace
	s.change(t, "W#"+string(w), "META", map[string]any{"claimed_at": s.options.Now()})
	return s.promotes(t, s.colleague(t, w), s.options.Now())
}

// promotes makes the access token of a member an operator's, vouched for at an instant.
func (p *probe) promotes(t testing.TB, who *person, at time.Time) *person {
	t.Helper()
	p.change(t, "CRED#"+string(who.grant), "G", map[string]any{"op_at": at})
	return who
}

const locksPath = "/v1/web/admin/lockdowns"

func lockOf(scope, target string) contract.SetLockdown {
	return contract.SetLockdown{Scope: scope, TargetID: target, ReasonCode: "phishing_report"}
}

func locks(t testing.TB, op *person, scope, target string) contract.Lockdown {
	t.Helper()
	return asks[contract.Lockdown](t, op, 201, "POST", locksPath, lockOf(scope, target), keyed()...)
}

func lifts(t testing.TB, op *person, scope, target string) contract.Lockdown {
	t.Helper()
	return asks[contract.Lockdown](t, op, 200, "DELETE", locksPath+"/"+scope+"/"+target, nil, keyed()...)
}

// wide is the stand with every way to read an artifact.
func (s *linkStand) wide() *claimStand { return &claimStand{faultStand: s.faultStand} }

func TestALockedWorkspaceIsClosedAtOnceUntilItIsLifted(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op, w := s.operator(t), string(s.who.workspace)
	url := minted(t, s.agent, links(t, s.agent, s.made.ArtifactID, shareLink).ID)
	link := s.opensLink(t, url, "shared")
	set := locks(t, op, "workspace", w)
	if set.SetBy != string(op.member) || set.LiftedAt != nil || set.ReasonCode != "phishing_report" || set.TargetID != w {
		t.Errorf("%+v", set)
	}
	if again := locks(t, op, "workspace", w); again != set {
		t.Errorf("locked again: %+v, first %+v", again, set)
	}
	s.wide().shut(t, s.agent, s.made)
	s.denied(t, link)
	refused(t, do(t, s.agent, "GET", s.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	refused(t, tryCreate(t, s.agent, wire.NewKey(), wire.Declare("T", page("p"))), 401, fault.NotAuthenticated)
	refused(t, tries(t, s.who, "GET", "/v1/web/workspace", nil), 401, fault.NotAuthenticated)
	s.clock.pass(time.Second)
	up := lifts(t, op, "workspace", w)
	if up.LiftedBy == nil || *up.LiftedBy != string(op.member) || up.LiftedAt == nil || !up.SetAt.Equal(set.SetAt.Time) {
		t.Errorf("%+v", up)
	}
	s.wide().opens(t, s.agent, s.made)
	s.opensLink(t, url, "shared")
	draft(t, s.agent, "writes again")
	refused(t, tries(t, op, "DELETE", locksPath+"/workspace/"+w, nil, keyed()...), 404, fault.NotFound)
	if n := s.events(t, s.agent); n["platform.lockdown.set"] != 1 || n["platform.lockdown.lifted"] != 1 {
		t.Errorf("%v", n)
	}
	audit := asks[contract.AuditList](t, s.who, 200, "GET", "/v1/web/audit", nil)
	for _, row := range audit.Items {
		if strings.HasPrefix(row.Actor, "platform:") {
			t.Errorf("members see who their operators are: %+v", row)
		}
	}
}

func TestALockedArtifactIsClosedAloneUntilItIsLifted(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op, a := s.operator(t), string(s.made.ArtifactID)
	other := published(t, s.agent, "other")
	revised := wire.Declare("next", page("next"))
	revised.ArtifactID = s.made.ArtifactID
	next := must(s.agent.Draft(ctx, wire.NewKey(), revised, page("next")))(t)
	locks(t, op, "artifact", a)
	s.wide().shut(t, s.agent, s.made)
	s.wide().opens(t, s.agent, other)
	refused(t, tryPublish(t, s.agent, wire.NewKey(), next.ArtifactID, next.RevisionID, nil), 404, fault.ArtifactNotFound)
	path := s.Origins.API + "/v1/artifacts/" + a + "/display-metadata"
	refused(t, do(t, s.agent, "PATCH", path, `{"title":"x"}`), 404, fault.ArtifactNotFound)
	if got := asks[contract.WebArtifact](t, s.who, 200, "GET", "/v1/web/artifacts/"+a, nil); got.Viewer != nil {
		t.Errorf("%+v", got)
	}
	lifts(t, op, "artifact", a)
	s.wide().opens(t, s.agent, s.made)
	must(s.agent.Publish(ctx, wire.NewKey(), next.ArtifactID, next.RevisionID))(t)
}

func TestF35WhatTwoLocksCloseStaysClosedUntilBothAreLifted(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op := s.operator(t)
	a := string(s.made.ArtifactID)
	w := string(s.who.workspace)
	url := minted(t, s.agent, links(t, s.agent, s.made.ArtifactID, shareLink).ID)
	asks[contract.WebArtifact](t, s.who, 200, "POST", "/v1/web/artifacts/"+a+"/access-link-lockdown", nil, keyed()...)
	locks(t, op, "artifact", a)
	locks(t, op, "workspace", w)
	lifts(t, op, "artifact", a)
	s.wide().shut(t, s.agent, s.made)
	locks(t, op, "artifact", a)
	lifts(t, op, "workspace", w)
	s.wide().shut(t, s.agent, s.made)
	lifts(t, op, "artifact", a)
	s.reads(t, s.made.RevisionContentURL, page("shared").Body)
	refused(t, s.resolves(t, url), 404, fault.NotFound)
	s.gone(t, s.made.AgentViewURL)
	asks[contract.WebArtifact](t, s.who, 200, "POST", "/v1/web/artifacts/"+a+"/access-link-lockdown/lift", nil, keyed()...)
	s.wide().opens(t, s.agent, s.made)
	s.opensLink(t, url, "shared")
}

func TestWhatCannotBeLockedIsRefused(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op, a := s.operator(t), string(s.made.ArtifactID)
	for name, body := range map[string]any{
		"another scope": lockOf("revision", a), "no target": lockOf("artifact", "  "), "nothing": `{}`,
		"no reason":     contract.SetLockdown{Scope: "artifact", TargetID: a, ReasonCode: " "},
		"a long reason": contract.SetLockdown{Scope: "artifact", TargetID: a, ReasonCode: strings.Repeat("x", 121)},
	} {
		t.Log(name)
		refused(t, tries(t, op, "POST", locksPath, body, keyed()...), 400, fault.InvalidRequest)
	}
	own := tries(t, op, "POST", locksPath, lockOf("workspace", string(op.workspace)), keyed()...)
	if refused(t, own, 400, fault.InvalidRequest); !strings.Contains(own.Message(), "your own workspace") {
		t.Error(own.Message())
	}
	for _, body := range []contract.SetLockdown{
		lockOf("artifact", string(id.NewArtifact())), lockOf("artifact", "x"), lockOf("workspace", a), lockOf("workspace", string(id.NewWorkspace())),
	} {
		refused(t, tries(t, op, "POST", locksPath, body, keyed()...), 404, fault.NotFound)
	}
	refused(t, tries(t, op, "POST", locksPath, lockOf("artifact", a)), 400, fault.InvalidIdempotencyKey)
	for _, path := range []string{"/artifact/" + a, "/revision/" + a, "/workspace/x", "/workspace/" + string(s.who.workspace)} {
		refused(t, tries(t, op, "DELETE", locksPath+path, nil, keyed()...), 404, fault.NotFound)
	}
	if s.count(t, s.names.Core, "LOCK#") != 0 {
		t.Error("something was locked")
	}
}

func TestALockdownWhoseAnswerIsLostIsRepeated(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op := s.operator(t)
	w := string(s.who.workspace)
	idem := []string{"Idempotency-Key", wire.NewKey()}
	s.faults.On("TransactWriteItems").Times(3).After(chaos.Timeout)
	refused(t, tries(t, op, "POST", locksPath, lockOf("workspace", w), idem...), 503, fault.DatabaseUnavailable)
	first := asks[contract.Lockdown](t, op, 201, "POST", locksPath, lockOf("workspace", w), idem...)
	refused(t, tries(t, op, "POST", locksPath, lockOf("artifact", w), idem...), 400, fault.InvalidIdempotencyKey)
	s.faults.On("TransactWriteItems").Times(3).After(chaos.Timeout)
	refused(t, tries(t, op, "DELETE", locksPath+"/workspace/"+w, nil, idem...), 503, fault.DatabaseUnavailable)
	up := asks[contract.Lockdown](t, op, 200, "DELETE", locksPath+"/workspace/"+w, nil, idem...)
	if !up.SetAt.Equal(first.SetAt.Time) || up.LiftedAt == nil {
		t.Errorf("%+v, then %+v", first, up)
	}
	if n := s.events(t, s.agent); n["platform.lockdown.set"] != 1 || n["platform.lockdown.lifted"] != 1 {
		t.Errorf("%v", n)
	}
}

func TestT50ALockdownThatIsInEffectIsAnsweredOnceToo(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op := s.operator(t)
	a := string(s.made.ArtifactID)
	idem := keyed()
	set := locks(t, op, "artifact", a)
	s.clock.pass(time.Second)
	kept := asks[contract.Lockdown](t, op, 201, "POST", locksPath, lockOf("artifact", a), idem...)
	other := lockOf("artifact", a)
	other.ReasonCode = "malware"
	refused(t, tries(t, op, "POST", locksPath, other, idem...), 400, fault.InvalidIdempotencyKey)
	lifts(t, op, "artifact", a)
	again := asks[contract.Lockdown](t, op, 201, "POST", locksPath, lockOf("artifact", a), idem...)
	if kept != set || again != set {
		t.Errorf("%+v, then %+v, then %+v", set, kept, again)
	}
	s.wide().opens(t, s.agent, s.made)
	if n := s.events(t, s.agent); n["platform.lockdown.set"] != 1 {
		t.Errorf("%v", n)
	}
}

func TestManyLockAndLiftAtOnce(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op, w := s.operator(t), string(s.who.workspace)
	for _, a := range together(func() wire.Answer { return tries(t, op, "POST", locksPath, lockOf("workspace", w), keyed()...) }) {
		if a.Status != http.StatusCreated && a.Status != http.StatusServiceUnavailable {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	won := 0
	for _, a := range together(func() wire.Answer { return tries(t, op, "DELETE", locksPath+"/workspace/"+w, nil, keyed()...) }) {
		if a.Status == http.StatusOK {
			won++
		}
	}
	list := asks[contract.LockdownList](t, op, 200, "GET", locksPath, nil)
	if won != 1 || len(list.Items) != 1 || list.Items[0].LiftedAt == nil {
		t.Errorf("%d lifted it; %+v", won, list)
	}
	s.wide().opens(t, s.agent, s.made)
}

func TestWhatIsUnderWayInALockedWorkspaceFails(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op := s.operator(t)
	next := draft(t, s.agent, "next")
	a := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) {
		return s.publish(s.agent, wire.NewKey(), next.ArtifactID, next.RevisionID)
	}, func() { locks(t, op, "workspace", string(s.who.workspace)) })
	refused(t, a, 401, fault.NotAuthenticated)
}

func TestF33ALockHoldsForWhatIsStillMovedAfterAClaim(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	op := s.operator(t)
	c := s.claimant(t)
	src := s.source(t)
	shown := published(t, src.Agent, "claimed")
	s.claimed(t, c, src.ClaimToken)
	s.opens(t, c.Agent, shown)
	locks(t, op, "workspace", string(c.workspace))
	s.shut(t, c.Agent, shown)
	s.moves(t, src.WorkspaceID)
	s.shut(t, c.Agent, shown)
	refused(t, tries(t, op, "POST", locksPath, lockOf("workspace", string(src.WorkspaceID)), keyed()...), 400, fault.InvalidRequest)
	lifts(t, op, "workspace", string(c.workspace))
	s.opens(t, c.Agent, shown)
}

func TestF33AnArtifactIsLockedBeforeAndAfterItIsMoved(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	op := s.operator(t)
	c := s.claimant(t)
	src := s.source(t)
	shown := published(t, src.Agent, "claimed")
	s.claimed(t, c, src.ClaimToken)
	locks(t, op, "artifact", string(shown.ArtifactID))
	s.shut(t, c.Agent, shown)
	s.moves(t, src.WorkspaceID)
	s.shut(t, c.Agent, shown)
	lifts(t, op, "artifact", string(shown.ArtifactID))
	s.opens(t, c.Agent, shown)
	if n := s.events(t, c.Agent); n["platform.lockdown.set"] != 1 || n["platform.lockdown.lifted"] != 1 {
		t.Errorf("the new owner's record has %v", n)
	}
}

// TestF34 lets a lock meet a claim: of the destination, whose lock either keeps the claim away or holds for what it
// brought, and of the source, which is then either locked and not claimed or refused to the operator.
func TestF34ALockAndAClaimAtTheSameMoment(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"destination", "source"} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			s := newClaimStand(t)
			op := s.operator(t)
			c := s.claimant(t)
			src := s.source(t)
			shown := published(t, src.Agent, "claimed")
			target := map[string]id.Workspace{"destination": c.workspace, "source": src.WorkspaceID}[of]
			claimed := make(chan error)
			go func() {
				_, err := s.claims(t, c, wire.NewKey(), src.ClaimToken)
				claimed <- err
			}()
			locked := tries(t, op, "POST", locksPath, lockOf("workspace", string(target)), keyed()...)
			err := <-claimed
			switch {
			case locked.Status == http.StatusCreated && (of == "destination" || err != nil):
				if of == "source" || err == nil {
					s.shut(t, c.Agent, shown)
				} else { // the lock came first
					s.opens(t, src.Agent, shown)
				}
			case of == "source" && err == nil:
				refused(t, locked, 400, fault.InvalidRequest)
				s.opens(t, c.Agent, shown)
			default:
				t.Errorf("locked: %d %s; claimed: %v", locked.Status, locked.Body, err)
			}
		})
	}
}

func TestLockdownsAreListedInPages(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op := s.operator(t)
	var want []string
	for n := range 5 {
		s.clock.pass(time.Second)
		a := string(published(t, s.agent, "locked").ArtifactID)
		locks(t, op, "artifact", a)
		if n%2 == 0 {
			lifts(t, op, "artifact", a)
		}
		want = append([]string{a}, want...)
	}
	var got []string
	for path := locksPath + "?limit=2"; path != ""; {
		list := asks[contract.LockdownList](t, op, 200, "GET", path, nil)
		for n, l := range list.Items {
			if got = append(got, l.TargetID); (l.LiftedAt != nil) != (len(got)%2 == 1) {
				t.Errorf("%d: %+v", n, l)
			}
		}
		if path = ""; list.PageInfo.HasMore {
			path = locksPath + "?limit=2&cursor=" + *list.PageInfo.NextCursor
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("listed %v, want %v", got, want)
	}
}
