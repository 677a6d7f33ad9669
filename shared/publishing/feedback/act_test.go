package feedback

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

var (
	person = Author{Kind: Member, ID: "mem_1", Name: "Ada"}
	robot  = Author{Kind: Agent, ID: "key_1", Name: "Reporter"}
	noon   = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

// begun returns a thread that was just begun, and the counts with it.
func begun(t *testing.T) (Counts, Thread) {
	t.Helper()
	c, err := Begin(Counts{}, Thread{ID: "thr_1", First: Excerpt{Author: person, At: noon}}, "The axis has no unit.")
	if err != nil || c.Thread.State != Open || c.Thread.Seq != 1 || c.Messages[0].Number != 1 ||
		c.Thread.First.Text != c.Messages[0].Body {
		t.Fatalf("%+v, %v", c, err)
	}
	return c.After, c.Thread
}

// by is a publication that addresses a thread.
func by(number int) Address {
	return Address{Revision: id.Revision(strings.Repeat("r", number)), Number: number, By: robot}
}

func TestStatesFollowActs(t *testing.T) {
	conflict, forbidden := fault.FeedbackConflict, fault.Forbidden
	for name, test := range map[string]struct {
		acts  []Act
		state State
		fails fault.Code // of the last act, which then has no effect
	}{
		"an agent addresses":           {[]Act{{By: robot, Addressed: by(2)}}, Addressed, ""},
		"a newer revision does":        {[]Act{{By: robot, Addressed: by(2)}, {By: robot, Addressed: by(3)}}, Addressed, ""},
		"an older one does not":        {[]Act{{By: robot, Addressed: by(3)}, {By: robot, Addressed: by(2)}}, Addressed, conflict},
		"a person resolves":            {[]Act{{By: person, Resolve: true}}, Resolved, ""},
		"an agent may not":             {[]Act{{By: robot, Resolve: true}}, Open, forbidden},
		"nor with a reply":             {[]Act{{By: robot, Reply: "done", Resolve: true}}, Open, forbidden},
		"an addressed one is resolved": {[]Act{{By: robot, Addressed: by(2)}, {By: person, Resolve: true}}, Resolved, ""},
		"a resolved one is opened":     {[]Act{{By: person, Resolve: true}, {By: person, Reopen: true}}, Open, ""},
		"and is not addressed":         {[]Act{{By: person, Resolve: true}, {By: robot, Addressed: by(2)}}, Resolved, conflict},
		"nor replied to":               {[]Act{{By: person, Resolve: true}, {By: person, Reply: "But"}}, Resolved, conflict},
		"unless it is opened at once":  {[]Act{{By: person, Resolve: true}, {By: person, Reopen: true, Reply: "But"}}, Open, ""},
		"a member is not content":      {[]Act{{By: robot, Addressed: by(2)}, {By: person, Reply: "No"}}, Open, ""},
		"an agent's reply changes nothing": {
			[]Act{{By: robot, Addressed: by(2)}, {By: robot, Reply: "See the note"}}, Addressed, "",
		},
		"a reply and a resolution":   {[]Act{{By: person, Reply: "Thanks", Resolve: true}}, Resolved, ""},
		"a tombstone is not there":   {[]Act{{By: person, Delete: true}, {By: person, Reply: "?"}}, Deleted, fault.NotFound},
		"it can be deleted resolved": {[]Act{{By: person, Resolve: true}, {By: person, Delete: true}}, Deleted, ""},
	} {
		counts, thread := begun(t)
		for n, act := range test.acts {
			c, err := Apply(counts, thread, act)
			if want := test.fails; n == len(test.acts)-1 && fault.CodeOf(err) != want && (err != nil || want != "") {
				t.Errorf("%s: act %d fails with %v, want %q", name, n, err, want)
			}
			if err == nil {
				counts, thread = c.After, c.Thread
			}
		}
		if thread.State != test.state || (thread.State == Open) != (counts.Open == 1) || thread.Seq != counts.Seq {
			t.Errorf("%s: %s with %+v, want %s", name, thread.State, counts, test.state)
		}
	}
}

func TestAgentsResolveWhereTheyMay(t *testing.T) {
	counts, thread := begun(t)
	counts.AgentsResolve = true
	if c, err := Apply(counts, thread, Act{By: robot, Resolve: true}); err != nil || c.Thread.State != Resolved {
		t.Errorf("%s, %v", c.Thread.State, err)
	}
}

func TestWhatChangesNothingCountsNothing(t *testing.T) {
	counts, thread := begun(t)
	addressed, err := Apply(counts, thread, Act{By: robot, Addressed: by(2)})
	if err != nil {
		t.Fatal(err)
	}
	for name, act := range map[string]Act{
		"the same revision": {By: robot, Addressed: by(2), At: noon.Add(time.Hour)},
		"no act":            {By: robot, At: noon.Add(time.Hour)},
	} {
		c, err := Apply(addressed.After, addressed.Thread, act)
		if err != nil || c.Changes() || c.Thread != addressed.Thread {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func TestATombstoneHasNoWords(t *testing.T) {
	counts, thread := begun(t)
	thread.Path, thread.Anchor.Exact = "index.html", "axis"
	c, err := Apply(counts, thread, Act{By: person, Delete: true, At: noon})
	if err != nil {
		t.Fatal(err)
	}
	want := Thread{
		ID:        thread.ID,
		State:     Deleted,
		Seq:       2,
		Messages:  1,
		First:     Excerpt{Author: person, At: noon},
		UpdatedAt: noon,
	}
	if c.Thread != want || c.After.Open != 0 || c.After.Threads != 1 {
		t.Errorf("%+v, %+v", c.Thread, c.After)
	}
}

func TestAMessageLosesItsWordsByWhoWroteThemAlone(t *testing.T) {
	counts, thread := begun(t)
	thread.Anchor = Anchor{Kind: OnText, Exact: "axis", Prefix: "an ", Suffix: "."}
	first := Message{Number: 1, Author: person, Body: thread.First.Text}
	if c, err := DeleteMessage(counts, thread, first, person, noon); err != nil || c.Thread.State != Deleted {
		t.Errorf("alone in its thread: %+v, %v", c.Thread, err)
	}
	replied, err := Apply(counts, thread, Act{By: robot, Reply: "Metres", At: noon})
	if err != nil {
		t.Fatal(err)
	}
	counts, thread = replied.After, replied.Thread
	c, err := DeleteMessage(counts, thread, first, person, noon)
	want := thread
	want.First, want.Anchor, want.Seq = Excerpt{Author: person, At: first.At}, Anchor{Kind: OnText}, 3
	after := replied.After
	after.Seq, after.Text = 3, int64(len("Metres"))
	if err != nil || c.Thread != want || !c.Messages[0].Deleted || c.Messages[0].Body != "" || c.After != after {
		t.Errorf("%+v, %+v, %v", c.Thread, c.After, err)
	}
	if again, err := DeleteMessage(c.After, c.Thread, c.Messages[0], person, noon); err != nil || again.Changes() {
		t.Errorf("again: %+v, %v", again, err)
	}
	last := Message{Number: 2, Author: person, Body: "Metres"}
	c, err = DeleteMessage(counts, thread, last, person, noon)
	if err != nil || c.Thread.Newest.Text != "" || c.Thread.First != thread.First || c.Thread.Anchor != thread.Anchor {
		t.Errorf("the newest: %+v, %v", c.Thread, err)
	}
	for name, test := range map[string]struct {
		thread Thread
		author Author
		by     Author
		code   fault.Code
	}{
		"another person's":               {thread, person, Author{Kind: Member, ID: "mem_2"}, fault.Forbidden},
		"an agent's":                     {thread, robot, person, fault.Forbidden},
		"by an agent":                    {thread, robot, robot, fault.Forbidden},
		"by an app that acts for person": {thread, Author{Kind: Agent, ID: person.ID}, person, fault.Forbidden},
		"of a tombstone":                 {Thread{State: Deleted}, person, person, fault.NotFound},
	} {
		_, err := DeleteMessage(counts, test.thread, Message{Number: 2, Author: test.author, Body: "x"}, test.by, noon)
		if fault.CodeOf(err) != test.code {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
}

func TestAgentsNeitherOpenNorDeleteThreads(t *testing.T) {
	counts, thread := begun(t)
	for _, act := range []Act{{By: robot, Reopen: true}, {By: robot, Delete: true}} {
		if _, err := Apply(counts, thread, act); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("%+v: %v", act, err)
		}
	}
}

func TestWhatAnArtifactMayHaveIsBounded(t *testing.T) {
	body := strings.Repeat("x", MaxBody)
	counts, thread := begun(t)
	for name, test := range map[string]struct {
		counts   Counts
		messages int
		begin    bool // whether a thread is begun rather than replied to
	}{
		"threads":              {Counts{Threads: maxThreads}, 1, true},
		"open threads":         {Counts{Open: maxOpen}, 1, true},
		"messages":             {Counts{Messages: maxMessages}, 1, true},
		"bytes":                {Counts{Text: maxText - MaxBody + 1}, 1, true},
		"messages of a reply":  {Counts{Messages: maxMessages}, 1, false},
		"bytes of a reply":     {Counts{Text: maxText - MaxBody + 1}, 1, false},
		"messages of a thread": {counts, maxReplies + 1, false},
	} {
		thread.Messages = test.messages
		c, err := Begin(test.counts, Thread{}, body)
		if !test.begin {
			c, err = Apply(test.counts, thread, Act{By: person, Reply: body})
		}
		if fault.CodeOf(err) != fault.FeedbackConflict {
			t.Errorf("%s: %+v, %v", name, c.After, err)
		}
	}
	thread.Messages = maxReplies
	most := Counts{Threads: maxThreads - 1, Open: maxOpen - 1, Messages: maxMessages - 1, Text: maxText - MaxBody}
	if _, err := Begin(most, Thread{}, body); err != nil {
		t.Errorf("the last thread: %v", err)
	}
	if _, err := Apply(most, thread, Act{By: person, Reply: body}); err != nil {
		t.Errorf("the last message: %v", err)
	}
}

func TestExcerptsEndBetweenCharacters(t *testing.T) {
	for body, want := range map[string]int{
		"x" + strings.Repeat("é", MaxExcerpt): MaxExcerpt - 1,
		strings.Repeat("x", MaxExcerpt):       MaxExcerpt,
		strings.Repeat("x", MaxExcerpt+1):     MaxExcerpt,
		"é":                                   2,
	} {
		got := Message{Body: body}.excerpt()
		if len(got.Text) != want || got.Cut != (want < len(body)) || !strings.HasPrefix(body, got.Text) {
			t.Errorf("%d bytes of %d, cut %v", len(got.Text), len(body), got.Cut)
		}
	}
}

// TestCountsAreThoseOfTheThreads walks at random and adds up what the counts say.
func TestCountsAreThoseOfTheThreads(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var counts Counts
		var threads []Thread
		messages, text := 0, int64(0)
		for n := range 100 {
			var c Change
			var err error
			at := len(threads)
			if at == 0 || r.IntN(4) == 0 {
				c, err = Begin(counts, Thread{ID: id.NewThread()}, "A remark")
				threads = append(threads, Thread{})
			} else {
				at = r.IntN(at)
				c, err = Apply(counts, threads[at], randomAct(r, n))
			}
			if err != nil {
				continue
			}
			if grown := c.After.Seq - counts.Seq; grown > 1 || (grown == 1) != c.Changes() || c.Thread.Seq > c.After.Seq {
				t.Fatalf("seed %d: %+v after %+v", seed, c.After, counts)
			}
			for _, m := range c.Messages {
				messages, text = messages+1, text+int64(len(m.Body))
			}
			counts, threads[at] = c.After, c.Thread
		}
		want := Counts{Seq: counts.Seq, Threads: len(threads), Messages: messages, Text: text}
		for _, thread := range threads {
			if thread.State == Open {
				want.Open++
			}
		}
		if counts != want {
			t.Errorf("seed %d: %+v, want %+v", seed, counts, want)
		}
	}
}

func randomAct(r *rand.Rand, n int) Act {
	act := Act{
		By:      []Author{person, robot}[r.IntN(2)],
		Reopen:  r.IntN(4) == 0,
		Resolve: r.IntN(4) == 0,
		Delete:  r.IntN(9) == 0,
	}
	if r.IntN(2) == 0 {
		act.Reply = "A reply"
	}
	if r.IntN(3) == 0 {
		act.Addressed = by(n + 1)
	}
	return act
}
