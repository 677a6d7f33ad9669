package mcp

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// discusses has a key of the member write about an artifact, and a tool answer.
func discusses(t *testing.T, who *harness.Member, do callTool, a id.Artifact, r id.Revision) {
	t.Helper()
	of := func(more ...any) map[string]any {
		args := map[string]any{"artifact_id": a}
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		return args
	}
	var none, first, later contract.ThreadList
	if do("catch_up", of("wait", 1), &none); len(none.Threads) > 0 || none.ChangesUntil != 0 {
		t.Errorf("before, it is told %+v", none)
	}
	thread := harness.WriteAs(t, who, a, contract.CreateThread{Body: "Which unit?"}).ID
	do("catch_up", of(), &first)
	if len(first.Threads) != 1 || first.Threads[0].ID != thread || first.Threads[0].First.Text != "Which unit?" ||
		!first.Threads[0].First.Untrusted || first.ChangesUntil != 1 || first.Open != 1 {
		t.Errorf("it is told %+v", first)
	}
	var answered contract.ThreadSummary
	by := map[string]any{"revision_id": r, "note": "Said"}
	do("answer_feedback", of("thread_id", thread, "reply", "Metres", "addressed", by), &answered)
	if said := answered.Newest; answered.State != "addressed" || said.Text != "Metres" || said.Trust != "agent" ||
		said.Author != "client" || answered.Addressed.RevisionID != r {
		t.Errorf("answered, it is %+v", answered)
	}
	if do("catch_up", of("since", 1), &later); len(later.Threads) != 1 || later.ChangesUntil != 2 || later.Open != 0 {
		t.Errorf("after that, it is told %+v", later)
	}
	var made, revised contract.MCPPublished
	do("publish_artifact", map[string]any{"title": "Dates", "body": "# Dates", "render_mode": "markdown"}, &made)
	a = made.ArtifactID
	open := harness.WriteAs(t, who, a, contract.CreateThread{Body: "And the date?"})
	var inbox contract.FeedbackInbox
	do("catch_up", map[string]any{}, &inbox)
	if len(inbox.Items) != 1 || inbox.Items[0].ArtifactID != a || inbox.Items[0].Open != 1 || inbox.Items[0].Title != "Dates" {
		t.Errorf("of all artifacts it is told %+v", inbox)
	}
	addresses := []contract.AddressThread{{ThreadID: open.ID, Seq: open.Seq}, {ThreadID: id.NewThread(), Seq: 1}}
	do("add_revision", of("body", "# With a date", "render_mode", "markdown", "addresses", addresses), &revised)
	if len(revised.Addressed) != 1 || revised.Addressed[0] != open.ID || len(revised.Skipped) != 1 ||
		revised.Skipped[0].Reason != "gone" {
		t.Errorf("revised, it is told %+v", revised)
	}
}

func TestAnswersThatAThreadDoesNotAllowAreRefused(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	c, who := connected(t, p)
	a := c.page(t, "Tides", tides).ArtifactID
	other := c.page(t, "Other", tides)
	thread := harness.WriteAs(t, who, a, contract.CreateThread{Body: "Which unit?"}).ID
	by := map[string]any{"revision_id": other.RevisionID}
	for name, tt := range map[string]struct {
		tool string
		args map[string]any
		code fault.Code
	}{
		"too long a wait":  {"catch_up", map[string]any{"wait": 21}, fault.InvalidRequest},
		"a wait into past": {"catch_up", map[string]any{"wait": -1}, fault.InvalidRequest},
		"to address no id": {"add_revision", map[string]any{
			"body":        "x",
			"render_mode": "text",
			"addresses":   []map[string]any{{"thread_id": "thr_1", "seq": 1}},
		}, fault.InvalidRequest},
		"a change before 0": {"catch_up", map[string]any{"since": -1}, fault.InvalidRequest},
		"nothing to do":     {"answer_feedback", map[string]any{}, fault.InvalidRequest},
		"no thread":         {"answer_feedback", map[string]any{"thread_id": id.NewThread(), "reply": "?"}, fault.NotFound},
		"no id":             {"answer_feedback", map[string]any{"thread_id": "thr_1", "reply": "?"}, fault.InvalidRequest},
		"of another":        {"answer_feedback", map[string]any{"artifact_id": other.ArtifactID, "reply": "?"}, fault.NotFound},
		"another revision":  {"answer_feedback", map[string]any{"addressed": by}, fault.NotFound},
		"too many words":    {"answer_feedback", map[string]any{"reply": strings.Repeat("é", 4097)}, fault.InvalidRequest},
		"without leave":     {"answer_feedback", map[string]any{"reply": "Done", "resolved": true}, fault.Forbidden},
	} {
		t.Log(name)
		if tt.args["artifact_id"] == nil {
			tt.args["artifact_id"] = a
		}
		if tt.args["thread_id"] == nil && tt.tool == "answer_feedback" {
			tt.args["thread_id"] = thread
		}
		c.refused(t, tt.code, tt.tool, tt.args)
	}
	c.refused(t, fault.InvalidRequest, "catch_up", map[string]any{"wait": 1}) // for all artifacts
	p.Update(t, "FB#"+string(a), "F", map[string]any{"agents": true})
	of := map[string]any{"artifact_id": a, "thread_id": thread, "resolved": true}
	if got := call[contract.ThreadSummary](t, c, "answer_feedback", of); got.State != "resolved" || got.Messages != 1 {
		t.Errorf("with leave it is %+v", got)
	}
	of = map[string]any{"artifact_id": a, "thread_id": thread, "reply": "More"}
	c.refused(t, fault.FeedbackConflict, "answer_feedback", of)
}

func TestTheSameWordsAreWrittenAgainUnlessTheirKeyIsTheSame(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	c, who := connected(t, p)
	a := c.page(t, "Tides", tides).ArtifactID
	args := map[string]any{"artifact_id": a, "reply": "Done",
		"thread_id": harness.WriteAs(t, who, a, contract.CreateThread{Body: "Which unit?"}).ID}
	for _, want := range []int{2, 3, 4, 4} {
		if got := call[contract.ThreadSummary](t, c, "answer_feedback", args); got.Messages != want {
			t.Errorf("%d messages, want %d", got.Messages, want)
		}
		if want == 3 {
			args["idempotency_key"] = "my-own-key"
		}
		c.last = 0 // another session counts from 1 again
	}
}

// TestAWaitingCallIsToldOfAChange begins a thread before or while the call waits.
func TestAWaitingCallIsToldOfAChange(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	c, who := connected(t, p)
	a := c.page(t, "Tides", tides).ArtifactID
	told := make(chan contract.ThreadList)
	go func() {
		defer close(told)
		told <- call[contract.ThreadList](t, c, "catch_up", map[string]any{"artifact_id": a, "since": 0, "wait": 20})
	}()
	thread := harness.WriteAs(t, who, a, contract.CreateThread{Body: "Which unit?"}).ID
	if l := <-told; len(l.Threads) != 1 || l.Threads[0].ID != thread {
		t.Errorf("it is told %+v", l)
	}
}
