package dynamo

import (
	"strings"
	"sync"
	"testing"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/sweep"
)

// TestTheMessagesOfADeletedThreadAreRemovedOnce has two jobs remove them while others write with counts that they read
// before.
func TestTheMessagesOfADeletedThreadAreRemovedOnce(t *testing.T) {
	d := newDiscussed(t)
	kept := must(d.begin(feedback.Counts{}, "stays"))(t)
	last := must(d.begin(kept.After, strings.Repeat("x", 1000)))(t)
	reply := func(c feedback.Counts, thread feedback.Thread) feedback.Change {
		return must(feedback.Apply(c, thread, feedback.Act{By: d.author(), Reply: strings.Repeat("x", 1000), At: now()}))(t)
	}
	for range maxRemoved + 5 {
		last = reply(last.After, last.Thread)
		noError(t, d.commit(last))
	}
	gone := must(feedback.Apply(last.After, last.Thread, feedback.Act{By: reviewer, Delete: true, At: now()}))(t)
	noError(t, d.commit(gone))
	due := d.due(t)
	if len(due) != 1 || due[0].Thread != gone.Thread.ID || due[0].Artifact != d.artifact {
		t.Fatalf("due are %+v", due)
	}
	var jobs sync.WaitGroup
	for range 2 {
		jobs.Go(func() { noError(t, d.Queue.RemoveMessages(ctx, due[0])) })
	}
	jobs.Wait()
	answered := reply(gone.After, kept.Thread) // the counts say that there is text, which a job has removed
	noError(t, d.commit(answered))
	for range 2 {
		noError(t, d.Queue.RemoveMessages(ctx, due[0]))
	}
	counts, thread, err := d.Feedback.Thread(ctx, d.artifact, gone.Thread.ID)
	want := answered.After
	want.Text = int64(len("stays") + 1000)
	if err != nil || counts != want || *thread != gone.Thread {
		t.Errorf("%+v, want %+v; %+v, %v", counts, want, thread, err)
	}
	left := must(d.Feedback.Messages(ctx, d.artifact, gone.Thread.ID, 0, 100))(t)
	if due := d.due(t); len(left) > 0 || len(due) > 0 {
		t.Errorf("%d messages are left, due is %+v", len(left), due)
	}
}

// due returns what jobs have to do about the threads of the artifact.
func (d discussed) due(t *testing.T) (all []sweep.DeletedThread) {
	t.Helper()
	for _, one := range must(d.Queue.DueThreads(ctx, now(), 100))(t) {
		if one.Artifact == d.artifact {
			all = append(all, one)
		}
	}
	return all
}

// TestARemovalOfMessagesMakesNoItem meets the purge of the artifact at any place.
func TestARemovalOfMessagesMakesNoItem(t *testing.T) {
	d := newDiscussed(t)
	thread := sweep.DeletedThread{Artifact: d.artifact, Thread: id.NewThread()}
	noError(t, d.Queue.RemoveMessages(ctx, thread))
	store(t, d.Stores, messageItem(d.artifact, feedback.Message{Thread: thread.Thread, Number: 1, Body: "x"}))
	noError(t, d.Queue.RemoveMessages(ctx, thread))
	if all := itemsOf(t, d.Stores, feedbackOf(d.artifact)); len(all) != 1 {
		t.Errorf("there are %d items", len(all))
	}
}
