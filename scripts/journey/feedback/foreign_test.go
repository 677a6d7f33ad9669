package feedback

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// threadRequests are all requests of an agent and of a member about a thread and one of its messages.
func threadRequests(
	t *testing.T, g *wire.Agent, who *harness.Member, a id.Artifact, thread id.Thread, m id.Message,
) map[string]func() wire.Answer {
	t.Helper()
	of, web := g.At.APIURL+harness.FeedbackPath(a)+"/"+string(thread), webPath(a)+"/"+string(thread)
	return map[string]func() wire.Answer{
		"read": func() wire.Answer { return harness.Do(t, g, "GET", of, nil) },
		"reply": func() wire.Answer {
			return harness.Do(t, g, "POST", of, contract.AnswerThread{Reply: "?"}, harness.KeyHeader()...)
		},
		"read as a member": func() wire.Answer { return harness.TryAs(t, who, "GET", web, nil) },
		"resolve": func() wire.Answer {
			return harness.TryAs(t, who, "POST", web, contract.AnswerThreadAsMember{State: "resolved"}, harness.KeyHeader()...)
		},
		"delete": func() wire.Answer { return harness.TryAs(t, who, "DELETE", web, nil, harness.KeyHeader()...) },
		"delete a message": func() wire.Answer {
			return harness.TryAs(t, who, "DELETE", web+"/messages/"+string(m), nil, harness.KeyHeader()...)
		},
	}
}

// TestT48ThreadsOfOthersAreNotThere counts calls: time is what they take.
func TestT48ThreadsOfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	g, who, a := s.Agent, s.Member, s.Published.ArtifactID
	begin := func(g *wire.Agent, who *harness.Member, a id.Artifact) (id.Thread, id.Message) {
		thread := harness.WriteAbout(t, g, a, contract.CreateThread{Body: "A remark"}).ID
		path := webPath(a) + "/" + string(thread)
		return thread, harness.CallAs[contract.Thread](t, who, 200, "GET", path, nil).Items[0].ID
	}
	mine, _ := begin(g, who, a)
	stranger := s.FaultEnv.NewAgent(t)
	w := harness.TokenOf(t, stranger).Workspace
	s.Update(t, "W#"+string(w), "META", map[string]any{"claimed_at": s.Options.Now()})
	tenant := s.AddMember(t, w)
	theirs := harness.PublishPage(t, stranger, "theirs").ArtifactID
	foreign, message := begin(stranger, tenant, theirs)
	second, secondMessage := begin(g, who, harness.PublishPage(t, g, "second").ArtifactID)
	ask := func(a id.Artifact, thread id.Thread, m id.Message) map[string]func() wire.Answer {
		return threadRequests(t, g, who, a, thread, m)
	}
	unknown := ask(a, id.NewThread(), id.NewMessage())
	s.WantSameRefusals(t, "another workspace's thread", ask(a, foreign, message), unknown)
	s.WantSameRefusals(t, "another artifact's thread", ask(a, second, secondMessage), unknown)
	s.WantSameRefusals(t, "another workspace's artifact",
		ask(theirs, foreign, message), ask(id.NewArtifact(), id.NewThread(), id.NewMessage()))
	alone := func(m id.Message) map[string]func() wire.Answer {
		return map[string]func() wire.Answer{"delete a message": ask(a, mine, m)["delete a message"]}
	}
	s.WantSameRefusals(t, "another thread's message", alone(secondMessage), alone(id.NewMessage()))
	s.WantSameRefusals(t, "another workspace's message", alone(message), alone(id.NewMessage()))
	for _, forged := range []string{
		"thr_1", "thr_" + strings.Repeat("Z", 26), strings.ToLower(string(mine)), string(mine) + "0", "T%23" + string(mine),
		string(mine) + "%23001", "%00", "..%2f" + string(a), "msg_1", strings.Repeat("A", 4096),
	} {
		all := ask(a, id.Thread(forged), id.NewMessage())
		all["as a message"] = alone(id.Message(forged))["delete a message"]
		for name, do := range all {
			if answer := do(); answer.Status != 404 || answer.Code() != fault.NotFound {
				t.Errorf("%s %.40s: %d %s", name, forged, answer.Status, answer.Body)
			}
		}
		for name, do := range ask(id.Artifact(forged), mine, secondMessage) {
			if answer := do(); answer.Status != 404 {
				t.Errorf("%s in %.40s: %d %s", name, forged, answer.Status, answer.Body)
			}
		}
	}
	for what, answer := range map[string]contract.ThreadSummary{
		"mine":   harness.Threads(t, g, a, "").Threads[0],
		"theirs": harness.Threads(t, stranger, theirs, "").Threads[0],
	} {
		if answer.Messages != 1 || answer.State != "open" || answer.Seq != 1 {
			t.Errorf("%s is %+v", what, answer)
		}
	}
}
