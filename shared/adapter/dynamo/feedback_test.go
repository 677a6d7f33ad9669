package dynamo

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

// discussed is a published artifact with somebody who writes about it.
type discussed struct {
	Stores
	key      credential.Key
	artifact id.Artifact
	revision id.Revision
}

func newDiscussed(t testing.TB) discussed {
	t.Helper()
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	noError(t, s.Artifacts.Publish(ctx, publication(k, r, 1)))
	return discussed{s, k, r.Artifact, r.ID}
}

func (d discussed) author() feedback.Author {
	return feedback.Author{Kind: feedback.Agent, ID: string(d.key.ID), Name: "Reporter"}
}

var reviewer = feedback.Author{Kind: feedback.Member, ID: string(id.NewMember()), Name: "Ada"}

func (d discussed) commit(c feedback.Change) error { return d.Feedback.Commit(ctx, d.commitOf(c)) }

func (d discussed) commitOf(c feedback.Change) feedback.Commit {
	return feedback.Commit{
		Change:    c,
		Command:   command(d.key, idempotency.CreateFeedback),
		Result:    []byte(`{}`),
		Workspace: d.key.Workspace,
		Event:     record(d.key.Workspace, now()),
		At:        now(),
	}
}

// begin commits a new thread.
func (d discussed) begin(counts feedback.Counts, body string) (feedback.Change, error) {
	c, err := feedback.Begin(counts, feedback.Thread{
		ID:       id.NewThread(),
		Artifact: d.artifact,
		Revision: d.revision,
		First:    feedback.Excerpt{Author: d.author(), At: now()},
		Path:     "index.html",
		Anchor: feedback.Anchor{
			Kind:     feedback.OnText,
			Exact:    "the axis",
			Prefix:   "see ",
			Suffix:   ".",
			From:     1,
			To:       2,
			Verified: true,
		},
	}, body)
	if err == nil {
		err = d.commit(c)
	}
	return c, err
}

func TestAThreadIsReadBack(t *testing.T) {
	d := newDiscussed(t)
	begun := must(d.begin(feedback.Counts{}, strings.Repeat("x", feedback.MaxExcerpt+1)))(t)
	changed := must(feedback.Apply(begun.After, begun.Thread, feedback.Act{
		By:    d.author(),
		Reply: "The unit is kW.",
		Addressed: feedback.Address{
			Revision: d.revision,
			Number:   1,
			By:       d.author(),
			Note:     "Added",
			At:       now(),
		},
		At: now(),
	}))(t)
	noError(t, d.commit(changed))
	counts, thread, err := d.Feedback.Thread(ctx, d.artifact, begun.Thread.ID)
	if want := changed.Thread; err != nil || counts != changed.After || !cmp.Equal(thread, &want) {
		t.Errorf("%+v, %v: %s", counts, err, cmp.Diff(thread, &want))
	}
	messages := must(d.Feedback.Messages(ctx, d.artifact, thread.ID, 0, 50))(t)
	if want := []feedback.Message{begun.Messages[0], changed.Messages[0]}; !cmp.Equal(messages, want) {
		t.Error(cmp.Diff(messages, want))
	}
	if one := must(d.Feedback.Messages(ctx, d.artifact, thread.ID, 1, 50))(t); !cmp.Equal(one, messages[1:]) {
		t.Errorf("after the first: %+v", one)
	}
	if one := must(d.Feedback.Messages(ctx, d.artifact, thread.ID, 0, 1))(t); !cmp.Equal(one, messages[:1]) {
		t.Errorf("one: %+v", one)
	}
	for _, other := range []id.Artifact{id.NewArtifact(), d.artifact} {
		if _, none, err := d.Feedback.Thread(ctx, other, id.NewThread()); none != nil || err != nil {
			t.Errorf("another thread of %s: %+v, %v", other, none, err)
		}
	}
}

func TestThreadsAreListedByTheirLastChange(t *testing.T) {
	d := newDiscussed(t)
	var threads []feedback.Thread
	counts := feedback.Counts{}
	for n := range 3 {
		c := must(d.begin(counts, fmt.Sprint("remark ", n)))(t)
		counts, threads = c.After, append(threads, c.Thread)
	}
	gone := must(feedback.Apply(counts, threads[0], feedback.Act{By: reviewer, Delete: true, At: now()}))(t)
	noError(t, d.commit(gone))
	for name, test := range map[string]struct {
		query feedback.Query
		want  []int64 // last changes
		until int64
	}{
		"all":               {feedback.Query{Limit: 50}, []int64{2, 3}, 4},
		"with tombstones":   {feedback.Query{Limit: 50, Deleted: true}, []int64{2, 3, 4}, 4},
		"after a change":    {feedback.Query{Limit: 50, Deleted: true, After: 3}, []int64{4}, 4},
		"after the last":    {feedback.Query{Limit: 50, After: 4}, nil, 4},
		"after the future":  {feedback.Query{Limit: 50, After: 9}, nil, 4},
		"a page":            {feedback.Query{Limit: 1}, []int64{2}, 2},
		"a state":           {feedback.Query{Limit: 50, State: feedback.Open}, []int64{2, 3}, 4},
		"a state of none":   {feedback.Query{Limit: 50, State: feedback.Resolved}, nil, 4},
		"the rest, as full": {feedback.Query{Limit: 2}, []int64{2, 3}, 3},
	} {
		test.query.Artifact = d.artifact
		out, err := d.Feedback.List(ctx, test.query)
		var got []int64
		for _, thread := range out.Threads {
			got = append(got, thread.Seq)
		}
		if err != nil || !cmp.Equal(got, test.want) || out.Until != test.until || out.More != (out.Until < 4) ||
			out.Counts != gone.After {
			t.Errorf("%s: %v until %d of %+v, more %v, %v", name, got, out.Until, out.Counts, out.More, err)
		}
	}
}

// TestWhoFollowsChangesMissesNone has 50 writers, each of which begins a thread and then replies in that of another, and
// a reader beside them.
func TestWhoFollowsChangesMissesNone(t *testing.T) {
	d := newDiscussed(t)
	write := func(change func(feedback.Counts) (feedback.Change, error)) {
		for {
			counts, _, err := d.Feedback.Thread(ctx, d.artifact, "")
			var c feedback.Change
			if err == nil {
				c, err = change(counts)
			}
			if err == nil && c.Messages[0].Number > 1 {
				err = d.commit(c)
			}
			if err == nil {
				return
			}
			if !errors.Is(err, feedback.ErrRaced) && fault.CodeOf(err) != fault.DatabaseUnavailable {
				t.Error(err)
				return
			}
		}
	}
	var writers sync.WaitGroup
	for n := range 50 {
		writers.Go(func() {
			write(func(c feedback.Counts) (feedback.Change, error) { return d.begin(c, fmt.Sprint("remark ", n)) })
			write(func(c feedback.Counts) (feedback.Change, error) {
				listed, err := d.Feedback.List(ctx, feedback.Query{Artifact: d.artifact, Limit: 1})
				if err != nil || listed.Seq != c.Seq {
					return feedback.Change{}, errors.Join(err, feedback.ErrRaced)
				}
				return feedback.Apply(c, listed.Threads[0], feedback.Act{By: d.author(), Reply: "and?", At: now()})
			})
		})
	}
	ended := make(chan struct{})
	go func() { writers.Wait(); close(ended) }()
	seen, at := map[id.Thread]int64{}, int64(0)
	for last := false; ; {
		out, err := d.Feedback.List(ctx, feedback.Query{Artifact: d.artifact, After: at, Limit: 7})
		if err != nil && fault.CodeOf(err) != fault.DatabaseUnavailable {
			t.Fatal(err)
		}
		for _, thread := range out.Threads {
			seen[thread.ID] = thread.Seq
		}
		if err == nil {
			at = out.Until
		}
		if last && !out.More && err == nil {
			break
		}
		select {
		case <-ended:
			last = true
		default:
		}
	}
	whole := must(d.Feedback.List(ctx, feedback.Query{Artifact: d.artifact, Limit: 100}))(t)
	want := map[id.Thread]int64{}
	for _, thread := range whole.Threads {
		want[thread.ID] = thread.Seq
	}
	if all := (feedback.Counts{Seq: 100, Open: 50, Threads: 50, Messages: 100, Text: whole.Text}); whole.Counts != all {
		t.Errorf("%+v, want %+v", whole.Counts, all)
	}
	if len(want) != 50 || !maps.Equal(seen, want) {
		t.Errorf("the reader knows %s", cmp.Diff(seen, want))
	}
}

// TestAChangeMeetsTheSettingsItWasDecidedBy has others change the settings between the reading and the commit.
func TestAChangeMeetsTheSettingsItWasDecidedBy(t *testing.T) {
	d := newDiscussed(t)
	set := func(was feedback.Counts, now feedback.Settings) (feedback.Counts, error) {
		c := d.commitOf(feedback.Change{Before: was, After: was, Thread: feedback.Thread{Artifact: d.artifact}})
		c.After.Settings = now
		return c.After, d.Feedback.SetSettings(ctx, c)
	}
	before := feedback.Counts{}
	off := must(set(before, feedback.Settings{Off: true}))(t)
	if _, err := d.begin(before, "A remark"); !errors.Is(err, feedback.ErrRaced) {
		t.Errorf("begun beside the end of threads: %v", err)
	}
	if _, err := set(before, feedback.Settings{AgentsResolve: true}); !errors.Is(err, feedback.ErrRaced) {
		t.Errorf("a decision by old settings: %v", err)
	}
	must(set(off, off.Settings))(t)
	if counts, _, err := d.Feedback.Thread(ctx, d.artifact, ""); err != nil || counts != off {
		t.Errorf("%+v, %v", counts, err)
	}
	on := must(set(off, feedback.Settings{AgentsResolve: true}))(t)
	if _, err := set(off, off.Settings); !errors.Is(err, feedback.ErrRaced) {
		t.Errorf("no change of what has changed: %v", err)
	}
	begun := must(d.begin(on, "A remark"))(t)
	counts, _, err := d.Feedback.Thread(ctx, d.artifact, "")
	if err != nil || counts != begun.After || !counts.AgentsResolve {
		t.Errorf("%+v, %v", counts, err)
	}
}

// TestAHalfOfATransactionIsNotAnswered shows what a reader may see of a change that is being committed.
func TestAHalfOfATransactionIsNotAnswered(t *testing.T) {
	d := newDiscussed(t)
	begun := must(d.begin(feedback.Counts{}, "A remark"))(t)
	reply := must(feedback.Apply(begun.After, begun.Thread, feedback.Act{By: d.author(), Reply: "Well", At: now()}))(t)
	old, next := begun.Thread, reply.Thread
	counts := newItem(countsKey(d.artifact))
	countsFields(writing(counts), &reply.After)
	before := newItem(countsKey(d.artifact))
	countsFields(writing(before), &begun.After)
	for name, test := range map[string]struct {
		seen  []item
		gone  int64 // whose place is deleted
		whole bool
	}{
		"the counts alone":            {[]item{counts}, 0, false},
		"the counts and the thread":   {[]item{counts, threadItem(next)}, 0, false},
		"the counts, the old gone":    {[]item{counts}, 1, false},
		"the place alone":             {[]item{placeItem(next)}, 0, false},
		"all but the thread":          {[]item{counts, placeItem(next)}, 1, false},
		"all but the counts":          {[]item{placeItem(next), threadItem(next)}, 1, true},
		"all":                         {[]item{counts, placeItem(next), threadItem(next)}, 1, true},
		"all, the old place is there": {[]item{counts, placeItem(next), threadItem(next)}, 0, true},
	} {
		store(t, d.Stores, before, threadItem(old), placeItem(old))
		noError(t, d.drop(placeKey(d.artifact, 2)))
		store(t, d.Stores, test.seen...)
		if test.gone > 0 {
			noError(t, d.drop(placeKey(d.artifact, test.gone)))
		}
		out, err := d.Feedback.List(ctx, feedback.Query{Artifact: d.artifact, Limit: 50})
		if (err == nil) != test.whole || err != nil && fault.CodeOf(err) != fault.DatabaseUnavailable {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// drop deletes an item, as a reader may see it.
func (d discussed) drop(k key) error {
	t := d.db.begin()
	t.remove(k, "", nil, nil)
	return d.db.commit(ctx, t)
}

func TestFeedbackIsRefusedWhereItsArtifactIsNotReadable(t *testing.T) {
	at := now()
	for name, spoil := range map[string]func(*testing.T, discussed){
		"locked":  func(t *testing.T, d discussed) { d.set(t, "lock", "lkd_1") },
		"deleted": func(t *testing.T, d discussed) { d.set(t, "status", string(artifact.Deleted)) },
		"expired": func(t *testing.T, d discussed) { d.set(t, "exp", at.Add(-time.Minute)) },
		"another workspace's": func(t *testing.T, d discussed) {
			d.set(t, "own", string(id.NewWorkspace()))
		},
		"closed": func(t *testing.T, d discussed) { closeWorkspace(t, d.Stores, d.key.Workspace) },
	} {
		d := newDiscussed(t)
		spoil(t, d)
		_, err := d.begin(feedback.Counts{}, "A remark")
		refused := errors.Is(err, artifact.ErrMoved)
		if name == "closed" {
			refused = fault.CodeOf(err) == fault.NotAuthenticated
		}
		if !refused {
			t.Errorf("%s: %v", name, err)
		}
		if counts, _, err := d.Feedback.Thread(ctx, d.artifact, ""); err != nil || counts != (feedback.Counts{}) {
			t.Errorf("%s: %+v, %v", name, counts, err)
		}
	}
}

func (d discussed) set(t *testing.T, name string, value any) {
	t.Helper()
	u := updateArtifact(d.artifact)
	u.set(name, value)
	noError(t, d.changeArtifact(ctx, u))
}

func TestAPurgeRemovesTheThreadsOfItsArtifactAlone(t *testing.T) {
	d := newDiscussed(t)
	begun := must(d.begin(feedback.Counts{}, "A remark"))(t)
	noError(t, d.Garbage.RemoveFeedback(ctx, id.NewArtifact()))
	if left := itemsOf(t, d.Stores, feedbackOf(d.artifact)); len(left) != 4 {
		t.Errorf("%d items are there after the purge of another artifact", len(left))
	}
	noError(t, d.Garbage.RemoveFeedback(ctx, d.artifact))
	if left := itemsOf(t, d.Stores, feedbackOf(d.artifact)); len(left) > 0 {
		t.Errorf("%s: %d items are left", begun.Thread.ID, len(left))
	}
}

// TestACommandThatChangesNothingIsRecorded has an event for what changes something alone.
func TestACommandThatChangesNothingIsRecorded(t *testing.T) {
	d := newDiscussed(t)
	begun := must(d.begin(feedback.Counts{}, "A remark"))(t)
	nothing := feedback.Change{
		Before: begun.After,
		After:  begun.After,
		Was:    begun.Thread,
		Thread: begun.Thread,
	}
	c := d.commitOf(nothing)
	c.Event.Action = event.FeedbackReplied
	noError(t, d.Feedback.Commit(ctx, c))
	if err := d.Feedback.Commit(ctx, c); !isDone(err) {
		t.Errorf("again: %v", err)
	}
	if counts, thread, err := d.Feedback.Thread(ctx, d.artifact, begun.Thread.ID); err != nil || counts != begun.After ||
		!cmp.Equal(*thread, begun.Thread) {
		t.Errorf("%+v, %+v, %v", counts, thread, err)
	}
	nothing.Thread.Seq = 9
	c.Change, c.Command = nothing, command(d.key, idempotency.AnswerFeedback)
	if err := d.Feedback.Commit(ctx, c); !errors.Is(err, feedback.ErrRaced) {
		t.Errorf("of a thread that has changed: %v", err)
	}
}
