package feedback

import (
	"slices"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// answerAs acts on a thread as a member.
func answerAs(
	t *testing.T, who *harness.Member, a id.Artifact, thread id.Thread, state, reply string,
) contract.ThreadSummary {
	t.Helper()
	return harness.CallAs[contract.ThreadSummary](t, who, 200, "POST", webPath(a)+"/"+string(thread),
		contract.AnswerThreadAsMember{State: state, Reply: reply}, harness.KeyHeader()...)
}

// webPath is the route of the threads about an artifact for members.
func webPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/feedback" }

func TestAPersonResolvesAndDeletesWhatAnAgentOnlyAddresses(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	g, who, a := s.Agent, s.Member, s.Published.ArtifactID
	key := harness.KeyHeader()
	create := func() contract.ThreadSummary {
		return harness.CallAs[contract.ThreadSummary](t, who, 201, "POST", webPath(a),
			contract.CreateThread{Body: "Which unit?", Path: "index.html"}, key...)
	}
	thread := create()
	if thread.First.Trust != "member" || thread.First.Author != "someone" || create().ID != thread.ID {
		t.Errorf("a person wrote %+v", thread.First)
	}
	harness.Answer(t, g, a, thread.ID, contract.AnswerThread{
		Addressed: &contract.Addressed{RevisionID: s.Published.RevisionID},
	})
	for step, want := range []struct{ state, reply, becomes string }{
		{"", "Still none", "open"},
		{"resolved", "", "resolved"},
		{"open", "Not there", "open"},
		{"resolved", "Thanks", "resolved"},
	} {
		if got := answerAs(t, who, a, thread.ID, want.state, want.reply); got.State != want.becomes {
			t.Errorf("step %d: %+v", step, got)
		}
	}
	whole := harness.CallAs[contract.Thread](t, who, 200, "GET", webPath(a)+"/"+string(thread.ID), nil)
	list := harness.CallAs[contract.ThreadList](t, who, 200, "GET", webPath(a)+"?state=resolved", nil)
	if len(whole.Items) != 4 || len(list.Threads) != 1 || list.Seq != 6 {
		t.Errorf("%+v, %+v", whole, list)
	}
	path, deletion := webPath(a)+"/"+string(thread.ID), harness.KeyHeader()
	for range 2 {
		gone := harness.CallAs[contract.ThreadSummary](t, who, 200, "DELETE", path, nil, deletion...)
		if gone.State != "deleted" || gone.First != nil || gone.Newest != nil || gone.Anchor != nil {
			t.Errorf("deleted, it is %+v", gone)
		}
	}
	news := harness.Threads(t, g, a, "?since=6")
	if len(news.Threads) != 1 || news.Threads[0].State != "deleted" || news.Open != 0 || news.ChangesUntil != 7 {
		t.Errorf("who follows sees %+v", news)
	}
	for _, again := range []wire.Answer{
		harness.TryAs(t, who, "DELETE", path, nil, harness.KeyHeader()...),
		harness.TryAs(t, who, "GET", path, nil),
	} {
		harness.WantRefused(t, again, 404, fault.NotFound)
	}
	done := s.Events(t, g)
	for action, n := range map[string]int{
		"feedback.created": 1, "feedback.replied": 1, "feedback.resolved": 2, "feedback.reopened": 1, "feedback.deleted": 1,
	} {
		if done[action] != n {
			t.Errorf("%s has %d events, want %d", action, done[action], n)
		}
	}
}

func TestAPersonTakesBackOwnWordsAlone(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a, who := s.Published.ArtifactID, s.Member
	other := s.AddMember(t, who.Workspace)
	thread := harness.CallAs[contract.ThreadSummary](t, who, 201, "POST", webPath(a), contract.CreateThread{
		Body:   "Which unit?",
		Path:   "index.html",
		Anchor: &contract.Anchor{Kind: "text", Exact: "shared"},
	}, harness.KeyHeader()...)
	harness.Answer(t, s.Agent, a, thread.ID, contract.AnswerThread{Reply: "Metres"})
	answerAs(t, other, a, thread.ID, "", "Thanks")
	path := webPath(a) + "/" + string(thread.ID)
	read := func() contract.Thread { return harness.CallAs[contract.Thread](t, who, 200, "GET", path, nil) }
	of := func(n int) string { return path + "/messages/" + string(read().Items[n].ID) }
	for name, answer := range map[string]wire.Answer{
		"another person": harness.TryAs(t, other, "DELETE", of(0), nil, harness.KeyHeader()...),
		"of an agent":    harness.TryAs(t, who, "DELETE", of(1), nil, harness.KeyHeader()...),
	} {
		if answer.Status != 403 || answer.Code() != fault.Forbidden {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	none := path + "/messages/" + string(id.NewMessage())
	harness.WantRefused(t, harness.TryAs(t, who, "DELETE", none, nil, harness.KeyHeader()...), 404, fault.NotFound)
	if before := read(); before.Seq != 3 {
		t.Errorf("refusals count: %+v", before)
	}
	key := harness.KeyHeader()
	for range 2 {
		left := harness.CallAs[contract.ThreadSummary](t, who, 200, "DELETE", of(0), nil, key...)
		if left.State != "open" || left.Seq != 4 || !left.First.Deleted || left.First.Text != "" || left.Anchor.Exact != "" ||
			left.Newest.Deleted {
			t.Errorf("without its first words it is %+v", left)
		}
	}
	if whole := read(); len(whole.Items) != 3 || !whole.Items[0].Deleted || whole.Items[0].Text != "" ||
		whole.Items[1].Text != "Metres" {
		t.Errorf("its messages are %+v", whole.Items)
	}
	if done := s.Events(t, s.Agent); done["feedback.message_deleted"] != 1 {
		t.Errorf("%v", done)
	}
	alone := harness.CallAs[contract.ThreadSummary](
		t, who, 201, "POST", webPath(a), contract.CreateThread{Body: "Well?"}, harness.KeyHeader()...)
	path = webPath(a) + "/" + string(alone.ID)
	gone := harness.CallAs[contract.ThreadSummary](t, who, 200, "DELETE", of(0), nil, harness.KeyHeader()...)
	if done := s.Events(t, s.Agent); gone.State != "deleted" || done["feedback.deleted"] != 1 {
		t.Errorf("with its only message it is %+v; %v", gone, done)
	}
}

func TestPeopleDecideWhoWritesAndWhoResolves(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	g, who, a := s.Agent, s.Member, s.Published.ArtifactID
	thread := harness.WriteAbout(t, g, a, contract.CreateThread{Body: "A remark"})
	path, yes := "/v1/web/artifacts/"+string(a)+"/feedback-policy", true
	set := func(r contract.SetFeedbackPolicy, key ...string) contract.FeedbackPolicy {
		return harness.CallAs[contract.FeedbackPolicy](t, who, 200, "PUT", path, r, key...)
	}
	key := harness.KeyHeader()
	if off := set(contract.SetFeedbackPolicy{Policy: "off"}, key...); off.Policy != "off" || off.AgentsResolve {
		t.Errorf("off, it is %+v", off)
	}
	remark := contract.CreateThread{Body: "Another", Path: "none.html"}
	for _, refused := range []wire.Answer{
		harness.Do(t, g, "POST", g.At.APIURL+harness.FeedbackPath(a), remark, harness.KeyHeader()...),
		harness.TryAs(t, who, "POST", webPath(a), remark, harness.KeyHeader()...),
		harness.Do(t, g, "POST", g.At.APIURL+harness.FeedbackPath(a)+"/"+string(thread.ID),
			contract.AnswerThread{Resolved: true}, harness.KeyHeader()...),
	} {
		harness.WantRefused(t, refused, 403, fault.Forbidden)
	}
	harness.WantRefused(t, harness.TryAs(t, who, "PUT", path, contract.SetFeedbackPolicy{}, harness.KeyHeader()...),
		400, fault.InvalidRequest)
	if list := harness.Threads(t, g, a, ""); len(list.Threads) != 1 || list.Seq != 1 {
		t.Errorf("off, the list is %+v", list)
	}
	harness.Answer(t, g, a, thread.ID, contract.AnswerThread{Reply: "Well"})
	if on := set(contract.SetFeedbackPolicy{Policy: "members", AgentsResolve: &yes}, harness.KeyHeader()...); on.Policy !=
		"members" || !on.AgentsResolve {
		t.Errorf("on, it is %+v", on)
	}
	if first := set(contract.SetFeedbackPolicy{Policy: "off"}, key...); first.Policy != "off" {
		t.Errorf("repeated, the first command answers %+v", first)
	}
	if done := harness.Answer(t, g, a, thread.ID, contract.AnswerThread{Resolved: true}); done.State != "resolved" ||
		done.Seq != 3 {
		t.Errorf("resolved by an agent, it is %+v", done)
	}
	harness.WriteAbout(t, g, a, contract.CreateThread{Body: "Another"})
	set(contract.SetFeedbackPolicy{AgentsResolve: &yes}, harness.KeyHeader()...)
	if done := s.Events(t, g); done["feedback.policy"] != 2 {
		t.Errorf("%v", done)
	}
}

func TestTheInboxHasWhatIsOpenAndReadable(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	g := s.NewClaimant(t)
	who := s.AddMember(t, g.Workspace)
	inbox := func(query string) contract.FeedbackInbox {
		return harness.CallAs[contract.FeedbackInbox](t, who, 200, "GET", "/v1/web/feedback"+query, nil)
	}
	if none := inbox(""); len(none.Items) != 0 {
		t.Errorf("without threads it is %+v", none)
	}
	var all []id.Artifact
	threads := map[id.Artifact]id.Thread{}
	for range 4 {
		a := harness.PublishPage(t, g.Agent, "discussed").ArtifactID
		threads[a] = harness.WriteAbout(t, g.Agent, a, contract.CreateThread{Body: "A remark"}).ID
		all = append(all, a)
		s.Clock.Advance(time.Second)
	}
	want := func(what string, artifacts ...id.Artifact) {
		t.Helper()
		var got []id.Artifact
		for cursor := ""; ; {
			page := inbox("?limit=1" + cursor)
			for _, row := range page.Items {
				if got = append(got, row.ArtifactID); row.Open != 1 || row.UpdatedAt.IsZero() || row.Title == "" {
					t.Errorf("%s, a row is %+v", what, row)
				}
			}
			if !page.PageInfo.HasMore {
				break
			}
			cursor = "&cursor=" + *page.PageInfo.NextCursor
		}
		if !slices.Equal(got, artifacts) {
			t.Errorf("%s, it lists %v, want %v", what, got, artifacts)
		}
	}
	want("the newest first", all[3], all[2], all[1], all[0])
	harness.Answer(t, g.Agent, all[0], threads[all[0]], contract.AnswerThread{Reply: "Well"})
	want("after a reply", all[0], all[3], all[2], all[1])
	answerAs(t, who, all[0], threads[all[0]], "resolved", "")
	want("after a resolution", all[3], all[2], all[1])
	harness.DeleteArtifact(t, g.Agent, all[3])
	s.Update(t, "A#"+string(all[2]), "META", map[string]any{"lock": "lkd_1"})
	want("after a deletion and a lock", all[1])
	s.Update(t, "A#"+string(all[2]), "META", map[string]any{"lock": nil})
	s.Clock.Advance(time.Second)
	answerAs(t, who, all[0], threads[all[0]], "open", "")
	want("opened and unlocked", all[0], all[2], all[1])
}

func TestMembersMeetTheThreadsOfTheirWorkspaceAlone(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	stranger := s.AddMember(t, harness.TokenOf(t, s.NewAgent(t)).Workspace)
	a := s.Published.ArtifactID
	thread := harness.WriteAbout(t, s.Agent, a, contract.CreateThread{Body: "A remark"})
	path := webPath(a) + "/" + string(thread.ID)
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{"GET", webPath(a), nil},
		{"GET", path, nil},
		{"POST", webPath(a), contract.CreateThread{Body: "?"}},
		{"POST", path, contract.AnswerThreadAsMember{Reply: "?"}},
		{"DELETE", path, nil},
		{"PUT", webPath(a) + "-policy", contract.SetFeedbackPolicy{Policy: "off"}},
		{"DELETE", path + "/messages/" + string(id.NewMessage()), nil},
	} {
		answer := harness.TryAs(t, stranger, r.method, r.path, r.body, harness.KeyHeader()...)
		harness.WantRefused(t, answer, 404, fault.ArtifactNotFound)
	}
}
