package replay_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// deed is something that is done after the instant. before makes what it is done to.
type deed struct {
	before func(w *world) (to any)
	do     func(w *world, to any)
	action event.Action
	plus   []event.Action // that are done again with it
}

func artifactOf(w *world) any { return harness.PublishPage(w.t, w.agent, "words").ArtifactID }

func artifactPath(a any) string { return fmt.Sprintf("/v1/web/artifacts/%s", a) }

func threadPath(a id.Artifact, t id.Thread) string {
	return fmt.Sprintf("/v1/web/artifacts/%s/feedback/%s", a, t)
}

// written is an artifact with a thread.
type written struct {
	artifact id.Artifact
	thread   id.Thread
}

func threadOf(w *world) any {
	a := artifactOf(w).(id.Artifact)
	return written{a, harness.WriteAbout(w.t, w.agent, a, contract.CreateThread{Body: "A remark"}).ID}
}

func letterOf(w *world) any {
	a := artifactOf(w).(id.Artifact)
	var sent harness.SentLetter
	guest := harness.Admit(w.t, w.member, w.agent, a)
	harness.Decode(w.t, w.SendLetter(w.t, guest, "a-key-of-a-guest", "", "Which one?"), &sent)
	return written{a, sent.ThreadID}
}

func (w *world) lock(scope, target string) {
	w.Promote(w.t, w.operator, w.Clock.Now())
	harness.Lock(w.t, w.operator, scope, target)
}

func (w *world) lift(scope, target string) {
	w.Promote(w.t, w.operator, w.Clock.Now())
	path := harness.LocksPath + "/" + scope + "/" + target
	if a := harness.TryAs(w.t, w.operator, "DELETE", path, nil, harness.KeyHeader()...); a.Status >= 300 {
		w.t.Fatalf("lifting answers %d %s", a.Status, a.Body)
	}
}

func (w *world) deleteWorkspace() {
	w.signIn()
	w.as("POST", deletionPath, contract.RequestDeletion{Confirm: w.workspace().Name})
}

var deeds = map[string]deed{
	"an artifact is deleted": {
		before: artifactOf,
		do:     func(w *world, a any) { harness.DeleteArtifact(w.t, w.agent, a.(id.Artifact)) },
		action: event.ArtifactDeleted,
	},
	"an artifact that is pinned is deleted": {
		before: func(w *world) any {
			a := artifactOf(w)
			w.as("POST", artifactPath(a)+"/pin", nil)
			return a
		},
		do:     func(w *world, a any) { harness.DeleteArtifact(w.t, w.agent, a.(id.Artifact)) },
		action: event.ArtifactDeleted,
	},
	"an artifact is pinned": {
		before: artifactOf,
		do:     func(w *world, a any) { w.as("POST", artifactPath(a)+"/pin", nil) },
		action: event.ArtifactPinned,
	},
	"an artifact is pinned and unpinned": {
		before: artifactOf,
		do: func(w *world, a any) {
			w.as("POST", artifactPath(a)+"/pin", nil)
			w.Clock.Advance(time.Minute)
			w.as("POST", artifactPath(a)+"/unpin", nil)
		},
		action: event.ArtifactUnpinned,
		plus:   []event.Action{event.ArtifactPinned},
	},
	"an artifact is made private": {
		before: func(w *world) any {
			a := artifactOf(w)
			harness.CreateLink(w.t, w.agent, a.(id.Artifact), harness.ShareLink)
			return a
		},
		do:     func(w *world, a any) { harness.SetVisibility(w.t, w.agent, a.(id.Artifact), "private") },
		action: event.VisibilityUpdated,
	},
	"a link is revoked": {
		before: func(w *world) any {
			return harness.CreateLink(w.t, w.agent, artifactOf(w).(id.Artifact), harness.ShareLink).ID
		},
		do:     func(w *world, l any) { harness.RevokeLink(w.t, w.agent, l.(id.Link)) },
		action: event.LinkRevoked,
	},
	"the links of an artifact are locked": {
		before: artifactOf,
		do:     func(w *world, a any) { w.as("POST", artifactPath(a)+"/access-link-lockdown", nil) },
		action: event.LinksLocked,
	},
	"the links of an artifact are unlocked": {
		before: func(w *world) any {
			a := artifactOf(w)
			w.as("POST", artifactPath(a)+"/access-link-lockdown", nil)
			return a
		},
		do:     func(w *world, a any) { w.as("POST", artifactPath(a)+"/access-link-lockdown/lift", nil) },
		action: event.LinksUnlocked,
	},
	"a thread is deleted": {
		before: threadOf,
		do: func(w *world, a any) {
			w.as("DELETE", threadPath(a.(written).artifact, a.(written).thread), nil)
		},
		action: event.FeedbackDeleted,
	},
	"a message is deleted": {
		before: func(w *world) any {
			a := threadOf(w).(written)
			w.as("POST", threadPath(a.artifact, a.thread), contract.AnswerThreadAsMember{Reply: "A secret"})
			return a
		},
		do: func(w *world, a any) {
			path := threadPath(a.(written).artifact, a.(written).thread)
			all := harness.CallAs[contract.Thread](w.t, w.member, 200, "GET", path, nil).Items
			w.as("DELETE", path+"/messages/"+string(all[1].ID), nil)
		},
		action: event.FeedbackMessageDeleted,
	},
	"what a guest wrote is dropped": {
		before: letterOf,
		do: func(w *world, a any) {
			w.as("POST", threadPath(a.(written).artifact, a.(written).thread),
				contract.AnswerThreadAsMember{Held: "drop", Seen: 1})
		},
		action: event.FeedbackDropped,
	},
	"an artifact is locked": {
		before: artifactOf,
		do:     func(w *world, a any) { w.lock("artifact", string(a.(id.Artifact))) },
		action: event.LockdownSet,
	},
	"a workspace is locked, unlocked and locked": {
		before: artifactOf,
		do: func(w *world, _ any) {
			w.lock("workspace", string(w.member.Workspace))
			w.Clock.Advance(time.Minute)
			w.lift("workspace", string(w.member.Workspace))
			w.Clock.Advance(time.Minute)
			w.lock("workspace", string(w.member.Workspace))
		},
		action: event.LockdownLifted,
		plus:   []event.Action{event.LockdownSet},
	},
	"a workspace is unlocked and its artifact deleted": {
		before: func(w *world) any {
			a := artifactOf(w)
			w.lock("workspace", string(w.member.Workspace))
			return a
		},
		do: func(w *world, a any) {
			w.lift("workspace", string(w.member.Workspace))
			w.Clock.Advance(time.Minute)
			harness.DeleteArtifact(w.t, w.agent, a.(id.Artifact))
		},
		action: event.ArtifactDeleted,
		plus:   []event.Action{event.LockdownLifted},
	},
	"a workspace is to be deleted": {
		before: artifactOf,
		do:     func(w *world, _ any) { w.deleteWorkspace() },
		action: event.DeletionRequested,
	},
	"the deletion of a workspace is cancelled": {
		before: func(w *world) any {
			w.deleteWorkspace()
			return nil
		},
		do: func(w *world, _ any) {
			w.signIn()
			w.as("DELETE", deletionPath, nil)
		},
		action: event.DeletionCancelled,
	},
	"an API key is revoked": {
		before: func(*world) any { return nil },
		do: func(w *world, _ any) {
			w.as("POST", "/v1/web/keys/"+string(w.key.APIKey.ID)+"/revoke", nil)
		},
		action: event.KeyRevoked,
	},
	"somebody signs out everywhere": {
		before: func(*world) any { return nil },
		do:     func(w *world, _ any) { w.post("/api/auth/sign-out-everywhere", url.Values{}) },
		action: event.SessionsEnded,
	},
	"an agent is disconnected": {
		before: func(w *world) any { return w.letIn(w.RegisterAgent(w.t)) },
		do: func(w *world, r any) {
			w.post("/connections/agents/"+string(r.(contract.RegisteredAgent).RegistrationID)+"/unlink", url.Values{})
		},
		action: event.DelegationRevoked,
	},
	"an agent is let in": {
		before: func(w *world) any {
			r := w.RegisterAgent(w.t)
			return started{r, w.StartClaim(w.t, r)}
		},
		do: func(w *world, s any) {
			page := w.browser.OpenAgentLink(w.t, s.(started).claim.Claim.VerificationURI)
			w.browser.EnterAgentCode(w.t, page, s.(started).claim.Claim.UserCode)
		},
		action: event.WorkspaceClaimed,
	},
	"an ephemeral workspace is claimed": {
		before: func(w *world) any {
			s := w.NewSource(w.t)
			harness.PublishPage(w.t, s.Agent, "of an agent")
			return s
		},
		do: func(w *world, s any) {
			if a := harness.TryClaim(w.t, w.member.Agent, s.(harness.Source).ClaimToken); a.Status != 200 {
				w.t.Fatalf("the claim answers %d %s", a.Status, a.Body)
			}
		},
		action: event.WorkspaceClaimed,
	},
	"an artifact of a claimed workspace is deleted": {
		before: func(w *world) any {
			s := w.NewSource(w.t)
			return claimedArtifact{s, harness.PublishPage(w.t, s.Agent, "of an agent").ArtifactID}
		},
		do: func(w *world, c any) {
			harness.TryClaim(w.t, w.member.Agent, c.(claimedArtifact).source.ClaimToken)
			w.Clock.Advance(time.Minute)
			harness.DeleteArtifact(w.t, w.agent, c.(claimedArtifact).artifact)
		},
		action: event.ArtifactDeleted,
		plus:   []event.Action{event.WorkspaceClaimed},
	},
}

type claimedArtifact struct {
	source   harness.Source
	artifact id.Artifact
}

type started struct {
	agent contract.RegisteredAgent
	claim contract.StartedClaim
}

// letIn lets an agent in by its code.
func (w *world) letIn(r contract.RegisteredAgent) contract.RegisteredAgent {
	w.t.Helper()
	w.confirm(r)
	w.Token(w.t, harness.ClaimGrant(r.ClaimToken))
	return r
}

// confirm types the code of an agent, which has not asked for its token yet.
func (w *world) confirm(r contract.RegisteredAgent) {
	w.t.Helper()
	s := w.StartClaim(w.t, r)
	page := w.browser.OpenAgentLink(w.t, s.Claim.VerificationURI)
	harness.WantPage(w.t, "the code", w.browser.EnterAgentCode(w.t, page, s.Claim.UserCode), 200, "")
}

func TestWhatIsDoneAgainLeavesWhatItLeftAtFirst(t *testing.T) {
	t.Parallel()
	for name, d := range deeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			to := d.before(w)
			w.copyNow()
			d.do(w, to)
			plan := w.plan()
			set := w.restored(nil)
			first := w.apply(set, plan)
			for _, action := range append(d.plus, d.action) {
				if outcome(first, action, replay.Applied) == 0 {
					t.Errorf("%s was not done again: %v", action, first.Lines)
				}
			}
			for _, differs := range w.changed(set) {
				t.Errorf("after %v: %s", first.Lines, differs)
			}
			again := w.apply(set, plan)
			for _, action := range append(d.plus, d.action) {
				if outcome(again, action, replay.Applied) > 0 {
					t.Errorf("%s was done twice: %v", action, again.Lines)
				}
			}
			for _, differs := range w.changed(set) {
				t.Errorf("after it was done twice: %s", differs)
			}
			w.wantSound(set)
			w.wantDeaths(name, plan)
		})
	}
}

// wantDeaths lets each write of an application fail, before and after it takes effect, and for one of the longest deeds
// each call. The next application has to finish it.
func (w *world) wantDeaths(name string, plan replay.Plan) {
	w.t.Helper()
	which := isWrite
	if name == "an artifact of a claimed workspace is deleted" {
		which = func(any) bool { return true }
	}
	for _, late := range []bool{false, true} {
		n := 1
		for ; w.dies(plan, n, which, late); n++ {
		}
		if n == 1 {
			w.t.Error("it writes nothing")
		}
	}
}

// isWrite reports whether a call changes something.
func isWrite(input any) bool {
	switch input.(type) {
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.QueryInput, *dynamodb.ScanInput:
		return false
	}
	return true
}

// dies applies a plan whose n-th call of a kind is the last one, and again in another process. It reports whether there
// was such a call.
func (w *world) dies(plan replay.Plan, n int, which func(input any) bool, late bool) bool {
	w.t.Helper()
	faults := chaos.New()
	set := w.restored(faults)
	rule := faults.On("").If(which).Nth(n)
	if late {
		rule.After(chaos.Crash)
	} else {
		rule.Before(chaos.Crash)
	}
	_, err := plan.Apply(ctx, set, w.Clock.Now())
	if rule.Fired() == 0 {
		return false
	}
	if err == nil {
		w.t.Errorf("call %d failed and nobody was told", n)
	}
	set.DynamoDB = w.DB
	w.apply(set, plan)
	for _, differs := range w.changed(set) {
		w.t.Errorf("after call %d failed, late: %t: %s", n, late, differs)
	}
	return true
}

// wantSound checks the invariants of a set. They describe agents alone, so it takes those that the living deployment
// breaks. The bucket has the objects of the living one, too.
func (w *world) wantSound(set invariant.Deployment) {
	w.t.Helper()
	set.Gap = invariant.Gap{From: w.instant, To: w.Clock.Now()}
	living := fmt.Sprint(invariant.Check(ctx, w.Deployment()))
	for _, breach := range invariant.Check(ctx, set) {
		if text := breach.Error(); !strings.Contains(living, text) && !strings.Contains(text, "leads to the object") {
			w.t.Error(breach)
		}
	}
}
