package sharing

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func lift(t testing.TB, op *harness.Member, scope, target string) contract.Lockdown {
	t.Helper()
	return harness.CallAs[contract.Lockdown](
		t, op, 200, "DELETE", harness.LocksPath+"/"+scope+"/"+target, nil, harness.KeyHeader()...,
	)
}

// tryLock asks for a lockdown of a workspace.
func tryLock(t testing.TB, op *harness.Member, w string) wire.Answer {
	t.Helper()
	return harness.TryAs(t, op, "POST", harness.LocksPath, harness.LockdownOf("workspace", w), harness.KeyHeader()...)
}

// claimEnv gives the deployment the checks that read an artifact in every way.
func claimEnv(s *harness.LinkEnv) *harness.ClaimEnv { return &harness.ClaimEnv{FaultEnv: s.FaultEnv} }

func TestALockedWorkspaceIsClosedAtOnceUntilItIsLifted(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op, w := s.NewOperator(t), string(s.Member.Workspace)
	url := harness.ShareURL(t, s.Agent, s.Published.ArtifactID)
	link := s.OpenLink(t, url, "shared")
	set := harness.Lock(t, op, "workspace", w)
	if set.SetBy != string(op.ID) || set.LiftedAt != nil || set.ReasonCode != "phishing_report" || set.TargetID != w {
		t.Errorf("%+v, want it set by the operator for phishing", set)
	}
	if again := harness.Lock(t, op, "workspace", w); again != set {
		t.Errorf("locked again: %+v, first %+v", again, set)
	}
	claimEnv(s).WantClosed(t, s.Agent, s.Published)
	s.WantLinksClosed(t, link)
	harness.WantRefused(t, harness.Do(t, s.Agent, "GET", s.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	harness.WantRefused(
		t, harness.Must(harness.Create(s.Agent, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t),
		401, fault.NotAuthenticated,
	)
	harness.WantRefused(t, harness.TryAs(t, s.Member, "GET", "/v1/web/workspace", nil), 401, fault.NotAuthenticated)
	s.Clock.Advance(time.Second)
	up := lift(t, op, "workspace", w)
	if up.LiftedBy == nil || *up.LiftedBy != string(op.ID) || up.LiftedAt == nil || !up.SetAt.Equal(set.SetAt.Time) {
		t.Errorf("%+v, want it lifted by the operator", up)
	}
	claimEnv(s).WantOpen(t, s.Agent, s.Published)
	s.OpenLink(t, url, "shared")
	harness.DraftPage(t, s.Agent, "writes again")
	if n := s.Events(t, s.Agent); n["platform.lockdown.set"] != 1 || n["platform.lockdown.lifted"] != 1 {
		t.Errorf("%v", n)
	}
	audit := harness.CallAs[contract.AuditList](t, s.Member, 200, "GET", "/v1/web/audit", nil)
	for _, row := range audit.Items {
		if strings.HasPrefix(row.Actor, "platform:") {
			t.Errorf("members see who their operators are: %+v", row)
		}
	}
}

func TestALockedArtifactIsClosedAloneUntilItIsLifted(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op, a := s.NewOperator(t), string(s.Published.ArtifactID)
	other := harness.PublishPage(t, s.Agent, "other")
	revised := wire.Declare("next", harness.Page("next"))
	revised.ArtifactID = s.Published.ArtifactID
	next := harness.Must(s.Agent.Draft(ctx, wire.NewKey(), revised, harness.Page("next")))(t)
	harness.Lock(t, op, "artifact", a)
	claimEnv(s).WantClosed(t, s.Agent, s.Published)
	claimEnv(s).WantOpen(t, s.Agent, other)
	harness.WantRefused(
		t, harness.Must(harness.Publish(s.Agent, wire.NewKey(), next.ArtifactID, next.RevisionID))(t),
		404, fault.ArtifactNotFound,
	)
	path := s.Origins.API + "/v1/artifacts/" + a + "/display-metadata"
	harness.WantRefused(t, harness.Do(t, s.Agent, "PATCH", path, `{"title":"x"}`), 404, fault.ArtifactNotFound)
	got := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "GET", "/v1/web/artifacts/"+a, nil)
	if got.Viewer != nil {
		t.Errorf("%+v has a viewer under lockdown", got)
	}
	lift(t, op, "artifact", a)
	claimEnv(s).WantOpen(t, s.Agent, s.Published)
	harness.Must(s.Agent.Publish(ctx, wire.NewKey(), next.ArtifactID, next.RevisionID))(t)
}

func TestF35WhatTwoLocksCloseStaysClosedUntilBothAreLifted(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op, a, w := s.NewOperator(t), string(s.Published.ArtifactID), string(s.Member.Workspace)
	url := harness.ShareURL(t, s.Agent, s.Published.ArtifactID)
	key := harness.KeyHeader()
	commandLinkLock(t, s, s.Published.ArtifactID, true, key)
	harness.Lock(t, op, "artifact", a)
	harness.Lock(t, op, "workspace", w)
	lift(t, op, "artifact", a)
	claimEnv(s).WantClosed(t, s.Agent, s.Published)
	harness.Lock(t, op, "artifact", a)
	lift(t, op, "workspace", w)
	claimEnv(s).WantClosed(t, s.Agent, s.Published)
	lift(t, op, "artifact", a)
	s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body)
	harness.WantRefused(t, s.Resolve(t, url), 404, fault.NotFound)
	s.WantGone(t, s.Published.AgentViewURL)
	setLinkLock(t, s, s.Published.ArtifactID, false)
	commandLinkLock(t, s, s.Published.ArtifactID, true, key) // a repetition, which locks nothing
	claimEnv(s).WantOpen(t, s.Agent, s.Published)
	s.OpenLink(t, url, "shared")
}

func TestManyLockAndLiftAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op, w := s.NewOperator(t), string(s.Member.Workspace)
	for _, a := range harness.Together(func() wire.Answer { return tryLock(t, op, w) }) {
		if a.Status != http.StatusCreated && a.Status != http.StatusServiceUnavailable {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	won := 0
	for _, a := range harness.Together(func() wire.Answer {
		return harness.TryAs(t, op, "DELETE", harness.LocksPath+"/workspace/"+w, nil, harness.KeyHeader()...)
	}) {
		if a.Status == http.StatusOK {
			won++
		}
	}
	list := harness.CallAs[contract.LockdownList](t, op, 200, "GET", harness.LocksPath, nil)
	if won != 1 || len(list.Items) != 1 || list.Items[0].LiftedAt == nil {
		t.Errorf("%d lifted it; %+v", won, list)
	}
	claimEnv(s).WantOpen(t, s.Agent, s.Published)
}

func TestWhatIsUnderWayInALockedWorkspaceFails(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op := s.NewOperator(t)
	next := harness.DraftPage(t, s.Agent, "next")
	a := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return harness.Publish(s.Agent, wire.NewKey(), next.ArtifactID, next.RevisionID)
	}, func() { harness.Lock(t, op, "workspace", string(s.Member.Workspace)) })
	harness.WantRefused(t, a, 401, fault.NotAuthenticated)
}
