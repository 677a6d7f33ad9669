package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/crash"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// crashRoute is a request that changes something. prepare makes what it needs in a fresh workspace and returns it; a
// client sends it again with the same Idempotency-Key. done are the events in the workspace when it took effect once.
type crashRoute struct {
	name    string
	prepare func(*testing.T, *harness.FaultEnv, *wire.Agent) func() wire.Answer
	done    map[string]int
}

// shown are the events of an artifact that is published.
var shown = []string{harness.SessionMade, harness.ArtifactMade, harness.ArtifactPublished}

// happened counts the events of a workspace that was made, with those that came after it.
func happened(later ...string) map[string]int {
	done := map[string]int{harness.WorkspaceMade: 1}
	for _, e := range later {
		done[e]++
	}
	return done
}

var crashRoutes = []crashRoute{
	{"create", crashCreate, happened(harness.SessionMade)},
	{"create for an artifact", crashCreateRevision, happened(append(shown, harness.SessionMade)...)},
	{"finalize", crashFinalize, happened(harness.SessionMade, harness.ArtifactMade)},
	{"finalize a revision", crashFinalizeRevision, happened(append(shown, harness.SessionMade, harness.DraftMade)...)},
	{"finalize a diff", crashFinalizeDiff, happened(append(shown, harness.SessionMade, harness.DraftMade)...)},
	{"publish", crashPublish, happened(shown...)},
	{"publish a revision", crashPublishRevision, happened(append(shown,
		harness.SessionMade, harness.DraftMade, harness.ArtifactPublished)...)},
	{"publish a revision that addresses a thread", crashPublishAddressing, happened(append(shown, harness.SessionMade,
		harness.DraftMade, harness.ArtifactPublished, "feedback.created", "feedback.addressed")...)},
	{"delete", crashDelete, happened(append(shown, harness.ArtifactDeleted)...)},
	{"revoke", crashRevoke, happened(harness.KeyRevoked)},
	{"let the link take comments", crashComments, happened(append(shown, "access_link.updated")...)},
	{"write about it", crashRemark, happened(append(shown, "feedback.created")...)},
	{"address a thread", crashAddress, happened(append(shown, "feedback.created", "feedback.addressed")...)},
	{"write about it as a member", crashMember("POST", "", contract.CreateThread{Body: "A remark"}),
		happened(append(shown, "feedback.created", "feedback.created")...)},
	{"reply and resolve",
		crashMember("POST", "/THREAD", contract.AnswerThreadAsMember{Reply: "Thanks", State: "resolved"}),
		happened(append(shown, "feedback.created", "feedback.resolved")...)},
	{"delete a thread", crashMember("DELETE", "/THREAD", nil),
		happened(append(shown, "feedback.created", "feedback.deleted")...)},
	{"delete a message", crashMember("DELETE", "/THREAD/messages/MESSAGE", nil),
		happened(append(shown, "feedback.created", "feedback.replied", "feedback.message_deleted")...)},
	{"decide who writes", crashMember("PUT", "-policy", contract.SetFeedbackPolicy{Policy: "off"}),
		happened(append(shown, "feedback.created", "feedback.policy")...)},
	{"write as a guest", crashLetter,
		happened(append(shown, "feedback.policy", "access_link.updated", "feedback.held")...)},
	{"let through", crashHeld("let_through"),
		happened(append(shown, "feedback.policy", "access_link.updated", "feedback.held", "feedback.let_through")...)},
	{"drop", crashHeld("drop"),
		happened(append(shown, "feedback.policy", "access_link.updated", "feedback.held", "feedback.dropped")...)},
}

func crashCreate(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	key := wire.NewKey()
	return func() wire.Answer {
		return harness.Must(harness.Create(g, key, wire.Declare("new", harness.Page("new"))))(t)
	}
}

func crashCreateRevision(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	key, r := wire.NewKey(), wire.Declare("next", harness.Page("next"))
	r.ArtifactID = harness.PublishPage(t, g, "first").ArtifactID
	return func() wire.Answer { return harness.Must(harness.Create(g, key, r))(t) }
}

// crashFinalize declares no digest, so that the file is read.
func crashFinalize(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	key, r := wire.NewKey(), wire.Declare("new", harness.Page("new"))
	r.Files[0].SHA256 = ""
	u := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	harness.Must(g.Put(ctx, u.Files[0], harness.Page("new").Body))(t)
	return func() wire.Answer { return harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t) }
}

// crashFinalizeRevision is about a session that reuses bytes of the revision before.
func crashFinalizeRevision(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	key, r := wire.NewKey(), wire.Declare("next", harness.Page("same"))
	r.ArtifactID = harness.PublishPage(t, g, "same").ArtifactID
	u := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	return func() wire.Answer { return harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t) }
}

// crashFinalizeDiff is about a file that finalizing makes and stores itself.
func crashFinalizeDiff(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	first := harness.PublishPage(t, g, "first")
	key, r := wire.NewKey(), harness.Revise(first, "next")
	declared, diff := harness.Patch("index.html", string(harness.Page("first").Body), string(harness.Page("next").Body))
	r.Files = []contract.DeclaredFile{declared}
	u := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	harness.Must(g.Put(ctx, u.Files[0], diff.Body))(t)
	return func() wire.Answer { return harness.Must(harness.Finalize(g, key, u.UploadSessionID))(t) }
}

func crashPublish(t *testing.T, s *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	key, d := wire.NewKey(), s.DraftBlank(t, g, "")
	return func() wire.Answer { return harness.Must(harness.Publish(g, key, d.ArtifactID, d.RevisionID))(t) }
}

func crashPublishRevision(t *testing.T, s *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	key, d := wire.NewKey(), s.DraftBlank(t, g, harness.PublishPage(t, g, "first").ArtifactID)
	return func() wire.Answer { return harness.Must(harness.Publish(g, key, d.ArtifactID, d.RevisionID))(t) }
}

func crashPublishAddressing(t *testing.T, s *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	a, key := harness.PublishPage(t, g, "discussed").ArtifactID, wire.NewKey()
	thread := harness.WriteAbout(t, g, a, contract.CreateThread{Body: "A remark"})
	d := s.DraftBlank(t, g, a)
	body := contract.PublishRevision{Addresses: []contract.AddressThread{{ThreadID: thread.ID, Seq: thread.Seq}}}
	return func() wire.Answer {
		return harness.Do(t, g, "POST", g.PublishURL(a, d.RevisionID), body, "Idempotency-Key", key)
	}
}

func crashRemark(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	a, key := harness.PublishPage(t, g, "discussed").ArtifactID, wire.NewKey()
	remark := contract.CreateThread{Body: "A remark", Path: "index.html"}
	return func() wire.Answer {
		return harness.Do(t, g, "POST", g.At.APIURL+harness.FeedbackPath(a), remark, "Idempotency-Key", key)
	}
}

func crashAddress(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	p, key := harness.PublishPage(t, g, "discussed"), wire.NewKey()
	thread := harness.WriteAbout(t, g, p.ArtifactID, contract.CreateThread{Body: "A remark"})
	answer := contract.AnswerThread{Reply: "Mended", Addressed: &contract.Addressed{RevisionID: p.RevisionID}}
	return func() wire.Answer {
		return harness.Do(t, g, "POST", g.At.APIURL+harness.FeedbackPath(p.ArtifactID)+"/"+string(thread.ID), answer,
			"Idempotency-Key", key)
	}
}

// crashMember is a request of a member about the threads of an artifact, of which there is one.
func crashMember(method, path string, body any) func(*testing.T, *harness.FaultEnv, *wire.Agent) func() wire.Answer {
	return func(t *testing.T, s *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
		a, key := harness.PublishPage(t, g, "discussed").ArtifactID, wire.NewKey()
		who, threads := s.AddMember(t, harness.TokenOf(t, g).Workspace), "/v1/web/artifacts/"+string(a)+"/feedback"
		at := threads + path
		one := threads + "/" + string(harness.WriteAbout(t, g, a, contract.CreateThread{Body: "A remark"}).ID)
		if strings.Contains(path, "MESSAGE") {
			more := contract.AnswerThreadAsMember{Reply: "More"}
			harness.CallAs[contract.ThreadSummary](t, who, 200, "POST", one, more, harness.KeyHeader()...)
			last := harness.CallAs[contract.Thread](t, who, 200, "GET", one, nil).Items[1]
			at = strings.Replace(at, "MESSAGE", string(last.ID), 1)
		}
		at = strings.Replace(at, threads+"/THREAD", one, 1)
		return func() wire.Answer { return harness.TryAs(t, who, method, at, body, "Idempotency-Key", key) }
	}
}

// admitted publishes an artifact about which guests may write.
func admitted(t *testing.T, s *harness.FaultEnv, g *wire.Agent) (*harness.Member, harness.Guest, id.Artifact) {
	a, w := harness.PublishPage(t, g, "discussed").ArtifactID, harness.TokenOf(t, g).Workspace
	s.Update(t, "W#"+string(w), "META", map[string]any{"claimed_at": s.Options.Now()})
	who := s.AddMember(t, w)
	return who, harness.Admit(t, who, g, a), a
}

func crashLetter(t *testing.T, s *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	_, guest, _ := admitted(t, s, g)
	key := wire.NewKey()
	return func() wire.Answer { return s.SendLetter(t, guest, key, "", "Which unit?") }
}

// crashHeld is what a member decides about a letter.
func crashHeld(decision string) func(*testing.T, *harness.FaultEnv, *wire.Agent) func() wire.Answer {
	return func(t *testing.T, s *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
		who, guest, a := admitted(t, s, g)
		var sent harness.SentLetter
		harness.Decode(t, s.SendLetter(t, guest, wire.NewKey(), "", "Which unit?"), &sent)
		at, key := "/v1/web/artifacts/"+string(a)+"/feedback/"+string(sent.ThreadID), wire.NewKey()
		act := contract.AnswerThreadAsMember{Held: decision, Seen: 1}
		return func() wire.Answer { return harness.TryAs(t, who, "POST", at, act, "Idempotency-Key", key) }
	}
}

// crashComments changes the share link that came with the publication.
func crashComments(t *testing.T, s *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	a, key := harness.PublishPage(t, g, "shared").ArtifactID, wire.NewKey()
	s.Update(t, "W#"+string(harness.TokenOf(t, g).Workspace), "META", map[string]any{"claimed_at": s.Options.Now()})
	return func() wire.Answer {
		return harness.Do(t, g, "POST", g.At.APIURL+harness.LinksPath(a), contract.CreateLink{
			Type:     "share",
			Comments: new(true),
		}, "Idempotency-Key", key)
	}
}

func crashDelete(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	a := harness.PublishPage(t, g, "gone").ArtifactID
	return func() wire.Answer { return harness.Must(harness.Delete(g, a))(t) }
}

func crashRevoke(t *testing.T, _ *harness.FaultEnv, g *wire.Agent) func() wire.Answer {
	return func() wire.Answer { return harness.Do(t, g, "POST", g.At.APIURL+"/v1/api-keys/current/revoke", nil) }
}

// lossy are the routes whose calls also lose their answers, each of which takes a pause of the SDK's.
var lossy = []string{"create", "finalize", "publish"}

// The ways in which a call goes wrong.
const (
	diesBefore = "it dies before "
	diesAfter  = "it dies after "
	unanswered = "no answer comes of "
)

// TestF01F03F04F05ARequestThatDiesAtAnyCallCanBeRepeated ends the process before every AWS call of every request that
// changes something, and after each that writes. The client hears nothing and asks again. F06: so does the process when
// it does not hear what a write did.
func TestF01F03F04F05ARequestThatDiesAtAnyCallCanBeRepeated(t *testing.T) {
	t.Parallel()
	for _, r := range crashRoutes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewFaultEnv(t)
			ask, seen := r.prepare(t, s, s.NewAgent(t)), map[string]bool{}
			for _, c := range s.Faults.Record(func() { r.succeeded(t, ask()) }) {
				call := harness.CallName(c.Input)
				if seen[call] {
					continue
				}
				seen[call] = true
				r.goesWrong(t, s, diesBefore, call)
				if !crash.IsWrite(c.Input) {
					continue // it dies before the next call
				}
				if r.goesWrong(t, s, diesAfter, call); slices.Contains(lossy, r.name) {
					r.goesWrong(t, s, unanswered, call)
				}
			}
		})
	}
}

// goesWrong lets one request fail at a call, asks again, and checks that it took effect once.
func (r crashRoute) goesWrong(t *testing.T, s *harness.FaultEnv, how, call string) {
	t.Run(how+call, func(t *testing.T) {
		s.Clock.Advance(time.Minute) // so that provisioning is open again
		g := s.NewAgent(t)
		request, asked := r.prepare(t, s, g), 0
		ask := func() wire.Answer { asked++; return request() }
		budget := allowanceUsed(t, s, g)
		rule := s.Faults.On("").If(func(input any) bool { return harness.CallName(input) == call })
		switch how {
		case diesBefore:
			rule.Before(chaos.Crash)
		case diesAfter:
			rule.After(chaos.Crash)
		case unanswered:
			rule.After(chaos.Timeout)
		}
		lost := ask()
		if call != harness.StampKey && (rule.Fired() == 0 || (lost.Status/100 == 2) != (how == unanswered)) {
			t.Errorf("at first it answers %d", lost.Status)
		}
		s.Revive()
		first := ask()
		if first.Code() == fault.IdempotencyInFlight {
			s.Clock.Advance(limits.FinalizeLease + time.Millisecond)
			first = ask()
		}
		if r.succeeded(t, first); r.name != "revoke" {
			if again := ask(); r.succeeded(t, again) != r.succeeded(t, first) {
				t.Errorf("I8: one key gives %s and %s", first.Body, again.Body)
			}
		}
		if got := s.Events(t, g); fmt.Sprint(got) != fmt.Sprint(r.done) {
			t.Errorf("it took effect as %v, want %v", got, r.done)
		}
		most := asked * rate.LargestBlock(s.Options.Limits.Actor.Limit)
		if spent := allowanceUsed(t, s, g) - budget; spent > most {
			t.Errorf("%d requests took %d units of the budget, want at most %d", asked, spent, most)
		}
		s.CheckInvariants(t)
	})
}

// allowanceUsed is what requests of an agent were counted as.
func allowanceUsed(t testing.TB, s *harness.FaultEnv, g *wire.Agent) (units int) {
	t.Helper()
	for _, item := range s.Scan(t, s.Tables.Hot) {
		name := harness.Text(item["pk"])
		if strings.HasPrefix(name, "r:actor:") && strings.Contains(name, string(harness.TokenOf(t, g).Public)) {
			units += harness.Must(strconv.Atoi(harness.Text(item["c"])))(t)
		}
	}
	return units
}

// succeeded checks a success and returns its ids. A key whose revocation was committed cannot ask again.
func (r crashRoute) succeeded(t *testing.T, a wire.Answer) string {
	t.Helper()
	if a.Status/100 != 2 && (r.name != "revoke" || a.Code() != fault.NotAuthenticated) {
		t.Errorf("%s answers %d %s (%s)", r.name, a.Status, a.Code(), a.Message())
	}
	var result struct {
		Session  id.Session  `json:"upload_session_id"`
		Artifact id.Artifact `json:"artifact_id"`
		Revision id.Revision `json:"revision_id"`
		Deleted  string      `json:"deleted_at"`
	}
	harness.Decode(t, a, &result)
	return fmt.Sprint(result)
}

// TestF79AProvisionThatDiesLeavesAWorkspaceAsAWholeOrNone dies at every call of a request that has no key to repeat it.
func TestF79AProvisionThatDiesLeavesAWorkspaceAsAWholeOrNone(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t, func(o *stack.Options) { o.Limits.Pow = limits.PowAdaptive })
	provision := func() wire.Answer {
		return harness.Do(t, s.Anyone, "POST", s.Origins.API+"/v1/ephemeral/provision", nil)
	}
	calls := s.Calls(func() { provision() })
	for _, call := range calls {
		for when, action := range map[string]func(*chaos.Rule, ...chaos.Action) *chaos.Rule{
			"before": (*chaos.Rule).Before,
			"after":  (*chaos.Rule).After,
		} {
			s.Clock.Advance(time.Minute) // the settings are read again, and provisioning has room again
			before := s.CountItems(t, s.Tables.Core, "W#")
			action(s.Faults.On("").If(func(input any) bool { return harness.CallName(input) == call }), chaos.Crash)
			if lost := provision(); lost.Status == http.StatusCreated {
				t.Errorf("the process did not die %s %s", when, call)
			}
			s.Revive()
			made := 0
			if when == "after" && call == "TransactWriteItems" {
				made = 1
			}
			if n := s.CountItems(t, s.Tables.Core, "W#") - before; n != made {
				t.Errorf("%s %s: %d workspaces were made, want %d", when, call, n, made)
			}
			var p contract.Provisioned
			if a := provision(); a.Status != http.StatusCreated || json.Unmarshal(a.Body, &p) != nil || p.APIKeySecret == "" {
				t.Errorf("%s %s: the next one answers %d %s", when, call, a.Status, a.Code())
			}
			s.CheckInvariants(t)
		}
	}
}
