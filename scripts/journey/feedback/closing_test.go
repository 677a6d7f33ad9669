package feedback

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// draft uploads a revision that differs from those before.
func (d discussed) draft(t *testing.T) id.Revision {
	t.Helper()
	words := wire.NewKey()
	revision := harness.DeclareRevision(d.ArtifactID, words)
	return harness.Must(d.agent.Draft(t.Context(), wire.NewKey(), revision, harness.Page(words)))(t).RevisionID
}

// publish publishes a revision with what it addresses.
func (d discussed) publish(t *testing.T, key string, r id.Revision, all ...contract.AddressThread) contract.Published {
	t.Helper()
	return harness.Must(d.agent.Publish(t.Context(), key, d.ArtifactID, r, all...))(t)
}

func address(t contract.ThreadSummary, note string) contract.AddressThread {
	return contract.AddressThread{ThreadID: t.ID, Seq: t.Seq, Note: note}
}

func TestAPublicationDealsWithThreads(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	one, two, read := d.write(t, contract.CreateThread{Body: "One"}), d.write(t, contract.CreateThread{Body: "Two"}),
		d.write(t, contract.CreateThread{Body: "Three"})
	harness.Answer(t, d.agent, d.ArtifactID, read.ID, contract.AnswerThread{Reply: "And more"})
	none := id.NewThread()
	all := []contract.AddressThread{
		address(one, "Done\x1b[31m"), address(two, ""), address(read, ""), {ThreadID: none, Seq: 1}, address(one, "again"),
	}
	key, next := wire.NewKey(), d.draft(t)
	p := d.publish(t, key, next, all...)
	want := []contract.SkippedThread{{ThreadID: read.ID, Reason: "changed"}, {ThreadID: none, Reason: "gone"}}
	if !cmp.Equal(p.Addressed, []id.Thread{one.ID, two.ID}) || !cmp.Equal(p.Skipped, want) {
		t.Errorf("it addressed %v and skipped %+v", p.Addressed, p.Skipped)
	}
	again := d.publish(t, key, next, all...)
	if !cmp.Equal(again.Addressed, p.Addressed) || !cmp.Equal(again.Skipped, want) {
		t.Errorf("repeated, it answers %+v", again)
	}
	late := d.publish(t, wire.NewKey(), next, all[:1]...)
	if late.Addressed == nil || len(late.Addressed) > 0 || len(late.Skipped) != 1 ||
		late.Skipped[0].Reason != "no_new_revision" {
		t.Errorf("published already, it answers %+v", late)
	}
	list := harness.Threads(t, d.agent, d.ArtifactID, "?since=4")
	if list.Seq != 6 || list.Open != 1 || len(list.Threads) != 2 || list.Threads[0].State != "addressed" ||
		list.Threads[0].Addressed.RevisionID != next || list.Threads[0].Addressed.Note.Text != "Done[31m" {
		t.Errorf("the threads are %+v", list)
	}
	third := d.publish(t, wire.NewKey(), d.draft(t), contract.AddressThread{ThreadID: one.ID, Seq: list.Threads[0].Seq})
	if len(third.Addressed) != 1 {
		t.Errorf("a newer revision answers %+v", third)
	}
	if done := d.Events(t, d.agent); done["feedback.addressed"] != 2 {
		t.Errorf("%v", done)
	}
}

func TestAPublicationWithoutThreadsAnswersAsEver(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	for _, body := range []any{nil, map[string]any{}, contract.PublishRevision{}} {
		a := harness.Do(t, d.agent, "POST", d.agent.PublishURL(d.ArtifactID, d.draft(t)), body, harness.KeyHeader()...)
		if a.Status != 200 || strings.Contains(string(a.Body), "addressed") || strings.Contains(string(a.Body), "skipped") {
			t.Errorf("%v: %d %s", body, a.Status, a.Body)
		}
	}
	draft := d.draft(t)
	thread := address(d.write(t, contract.CreateThread{Body: "?"}), "")
	blank := address(harness.Threads(t, d.agent, d.ArtifactID, "").Threads[0], "\u200b")
	for name, body := range map[string]any{
		"too many":      contract.PublishRevision{Addresses: slices.Repeat([]contract.AddressThread{thread}, 21)},
		"no such key":   map[string]any{"address": []any{}},
		"no thread":     contract.PublishRevision{Addresses: []contract.AddressThread{{ThreadID: "thr_1", Seq: 1}}},
		"an empty note": contract.PublishRevision{Addresses: []contract.AddressThread{blank}},
	} {
		a := harness.Do(t, d.agent, "POST", d.agent.PublishURL(d.ArtifactID, draft), body, harness.KeyHeader()...)
		if a.Status != 400 || a.Code() != fault.InvalidRequest {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

// TestWhoWritesMeanwhileIsNotAddressed has words arrive between the decision of a publication and its commit.
func TestWhoWritesMeanwhileIsNotAddressed(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	thread := d.write(t, contract.CreateThread{Body: "One"})
	draft := d.draft(t)
	a := d.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return d.agent.Do(t.Context(), "POST", d.agent.PublishURL(d.ArtifactID, draft),
			contract.PublishRevision{Addresses: []contract.AddressThread{address(thread, "")}}, harness.KeyHeader()...)
	}, func() {
		harness.Answer(t, d.agent, d.ArtifactID, thread.ID, contract.AnswerThread{Reply: "And one more"})
	})
	if a.Status != 200 || !strings.Contains(string(a.Body), `"reason":"changed"`) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if list := harness.Threads(t, d.agent, d.ArtifactID, ""); list.Threads[0].State != "open" || list.Seq != 2 {
		t.Errorf("%+v", list)
	}
	d.CheckInvariants(t)
}
