package feedback

import (
	"testing"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

var stranger = Author{Kind: Guest, ID: "g", Name: "Grace"}

// letter is what a guest writes in a thread.
func letter(t id.Thread, body string) Held {
	return Held{Thread: t, Author: stranger, Body: body, At: noon}
}

// keep holds letters one after the other.
func keep(t *testing.T, counts Counts, thread *Thread, letters ...Held) (Counts, []Held) {
	t.Helper()
	var waiting []Held
	for _, l := range letters {
		c, err := Hold(counts, thread, waiting, l)
		if err != nil {
			t.Fatal(err)
		}
		counts, waiting = c.After, append(waiting, *c.Waits)
	}
	return counts, waiting
}

func TestWhatWaitsIsNoPartOfAThreadUntilItIsLetThrough(t *testing.T) {
	counts, waiting := keep(t, Counts{}, nil, letter("thr_1", "One"), letter("thr_1", "Two"))
	if want := (Counts{Held: 2, HeldSeq: 2}); counts != want || waiting[1].Number != 2 {
		t.Errorf("%+v, %+v", counts, waiting)
	}
	c, err := Release(counts, nil, waiting, noon)
	want := Counts{Seq: 1, Open: 1, Threads: 1, Messages: 2, Text: 6, HeldSeq: 3}
	if err != nil || c.After != want || len(c.Messages) != 2 || len(c.Released) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	if th := c.Thread; th.State != Open || th.Seq != 1 || th.First.Text != "One" || th.Newest.Text != "Two" ||
		th.First.Author != stranger || th.Messages != 2 {
		t.Errorf("%+v", th)
	}
}

func TestALetterThatIsLetThroughOpensAnAddressedThread(t *testing.T) {
	counts, thread := begun(t)
	c, err := Apply(counts, thread, Act{By: robot, Addressed: by(2), At: noon})
	if err != nil {
		t.Fatal(err)
	}
	counts, waiting := keep(t, c.After, &c.Thread, letter(c.Thread.ID, "Not yet"))
	if counts.Open != 0 || counts.Seq != 2 {
		t.Errorf("what waits changed the thread: %+v", counts)
	}
	got, err := Release(counts, &c.Thread, waiting, noon)
	if err != nil || got.Thread.State != Open || got.After.Open != 1 || got.After.Seq != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatIsDroppedLeavesNothing(t *testing.T) {
	counts, waiting := keep(t, Counts{}, nil, letter("thr_1", "One"), letter("thr_2", "Two"))
	c := Drop(counts, nil, waiting[:1])
	if want := (Counts{Held: 1, HeldSeq: 3}); c.After != want || c.Changed() || !c.Changes() || c.Thread.State != Deleted ||
		c.Thread.First.Text != "" {
		t.Errorf("%+v", c)
	}
	_, thread := begun(t)
	if c := Drop(counts, &thread, waiting[1:]); c.Thread != thread || c.After.Held != 1 {
		t.Errorf("of a thread that is there: %+v", c)
	}
}

func TestTooManyLettersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		counts  Counts
		state   State
		waiting int
		refused bool
	}{
		"the last of an artifact":  {Counts{Held: maxHeld - 1}, Open, 0, false},
		"one more of an artifact":  {Counts{Held: maxHeld}, Open, 0, true},
		"the last of a thread":     {Counts{Held: 19}, Open, maxWaiting - 1, false},
		"one more of a thread":     {Counts{Held: 20}, Open, maxWaiting, true},
		"of an addressed thread":   {Counts{}, Addressed, 0, false},
		"one of a resolved thread": {Counts{}, Resolved, 0, true},
	} {
		waiting := make([]Held, c.waiting)
		for n := range waiting {
			waiting[n].Thread = "thr_1"
		}
		_, err := Hold(c.counts, &Thread{State: c.state}, waiting, letter("thr_1", "x"))
		if refused := fault.CodeOf(err) == fault.FeedbackConflict; refused != c.refused || err != nil && !refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheCapsHoldWhenAMemberLetsThrough(t *testing.T) {
	for name, c := range map[string]struct {
		counts Counts
		thread *Thread
		want   fault.Code
	}{
		"room":              {Counts{}, nil, ""},
		"off":               {Counts{Settings: Settings{Off: true}}, nil, ""},
		"threads":           {Counts{Threads: maxThreads}, nil, fault.FeedbackConflict},
		"open threads":      {Counts{Open: maxOpen}, nil, fault.FeedbackConflict},
		"messages":          {Counts{Messages: maxMessages}, nil, fault.FeedbackConflict},
		"text":              {Counts{Text: maxText}, nil, fault.FeedbackConflict},
		"a full thread":     {Counts{}, &Thread{State: Open, Messages: maxReplies + 1}, fault.FeedbackConflict},
		"a resolved thread": {Counts{}, &Thread{State: Resolved, Messages: 1}, fault.FeedbackConflict},
		"a deleted thread":  {Counts{}, &Thread{State: Deleted, Messages: 1}, fault.NotFound},
		"none is open": {
			Counts{Open: maxOpen},
			&Thread{State: Addressed, Messages: 1},
			fault.FeedbackConflict,
		},
	} {
		c.counts.Held, c.counts.HeldSeq = 1, 1
		got, err := Release(c.counts, c.thread, []Held{letter("thr_1", "x")}, noon)
		if code := fault.CodeOf(err); err != nil && code != c.want || err == nil && c.want != "" {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && got.After.Settings != c.counts.Settings {
			t.Errorf("%s: the settings became %+v", name, got.After.Settings)
		}
	}
}

func TestAMemberReadsWhatSeenMeans(t *testing.T) {
	counts, waiting := keep(t, Counts{}, nil, letter("thr_1", "One"), letter("thr_1", "Two"), letter("thr_1", "Three"))
	c, err := Release(counts, nil, waiting[:2], noon)
	if err != nil || c.After.Held != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	later, err := Release(c.After, &c.Thread, waiting[2:], noon)
	if err != nil || later.After.Held != 0 || later.Messages[0].Number != 3 {
		t.Errorf("%+v, %v", later, err)
	}
}
