package dynamo

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/link"
)

var stranger = feedback.Author{Kind: feedback.Guest, ID: "digest", Name: "Grace"}

// letter is what a guest writes in a thread.
func (d discussed) letter(t id.Thread, body string) feedback.Held {
	return feedback.Held{
		Artifact: d.artifact,
		Thread:   t,
		Revision: d.revision,
		Path:     "index.html",
		Anchor:   feedback.Anchor{Kind: feedback.OnLines, From: 3, To: 4, Verified: true},
		Author:   stranger,
		Body:     body,
		At:       now(),
	}
}

// hold keeps a letter.
func (d discussed) hold(t *testing.T, h feedback.Held) feedback.Change {
	t.Helper()
	counts, _, err := d.Feedback.Thread(ctx, d.artifact, h.Thread)
	noError(t, err)
	c := must(feedback.Hold(counts, nil, nil, h))(t)
	noError(t, d.commit(c))
	return c
}

func TestWhatWaitsIsReadBackUntilItIsLetThrough(t *testing.T) {
	d := newDiscussed(t)
	thread := id.NewThread()
	first := d.hold(t, d.letter(thread, "One"))
	second := d.hold(t, d.letter(thread, "Two"))
	waiting := must(d.Feedback.Waiting(ctx, d.artifact))(t)
	if want := []feedback.Held{*first.Waits, *second.Waits}; !cmp.Equal(waiting, want) {
		t.Error(cmp.Diff(waiting, want))
	}
	list := must(d.Feedback.List(ctx, feedback.Query{Artifact: d.artifact, Limit: 50}))(t)
	if len(list.Threads) > 0 || list.Seq != 0 || list.Held != 2 || list.HeldSeq != 2 {
		t.Errorf("agents see %+v", list)
	}
	if rows := d.inbox(t); len(rows) != 1 || rows[0].Held != 2 || rows[0].Open != 0 {
		t.Errorf("the inbox has %+v", rows)
	}
	through := must(feedback.Release(list.Counts, nil, waiting, now()))(t)
	noError(t, d.commit(through))
	counts, got, err := d.Feedback.Thread(ctx, d.artifact, thread)
	if err != nil || counts != through.After || !cmp.Equal(got, &through.Thread) {
		t.Errorf("%+v, %v: %s", counts, err, cmp.Diff(got, &through.Thread))
	}
	if said := must(d.Feedback.Messages(ctx, d.artifact, thread, 0, 50))(t); !cmp.Equal(said, through.Messages) {
		t.Error(cmp.Diff(said, through.Messages))
	}
	if left := must(d.Feedback.Waiting(ctx, d.artifact))(t); len(left) > 0 {
		t.Errorf("still waiting: %+v", left)
	}
	if err := d.commit(through); !errors.Is(err, feedback.ErrRaced) {
		t.Errorf("twice: %v", err)
	}
}

// inbox lists the inbox of the workspace.
func (d discussed) inbox(t *testing.T) []feedback.InboxRow {
	t.Helper()
	rows, _, err := d.Feedback.Inbox(ctx, feedback.InboxQuery{Query: cursor.Query[feedback.InboxRow]{
		Workspace: d.key.Workspace,
		Limit:     10,
		Live:      func(feedback.InboxRow) bool { return true },
	}})
	noError(t, err)
	return rows
}

func TestWhatIsDroppedLeavesTheInbox(t *testing.T) {
	d := newDiscussed(t)
	held := d.hold(t, d.letter(id.NewThread(), "One"))
	drop := feedback.Drop(held.After, nil, []feedback.Held{*held.Waits})
	noError(t, d.commit(drop))
	if left := must(d.Feedback.Waiting(ctx, d.artifact))(t); len(left) > 0 || len(d.inbox(t)) > 0 {
		t.Errorf("left: %+v, %+v", left, d.inbox(t))
	}
	counts, thread, err := d.Feedback.Thread(ctx, d.artifact, held.Waits.Thread)
	if err != nil || thread != nil || counts != (feedback.Counts{HeldSeq: 2}) {
		t.Errorf("%+v, %+v, %v", counts, thread, err)
	}
	if begun, err := d.begin(counts, "An agent's"); err != nil || begun.After.Seq != 1 {
		t.Errorf("the first thread after it: %+v, %v", begun, err)
	}
}

func TestALetterAndAChangeOfThreadsRace(t *testing.T) {
	d := newDiscussed(t)
	held := must(feedback.Hold(feedback.Counts{}, nil, nil, d.letter(id.NewThread(), "One")))(t)
	begun := must(d.begin(feedback.Counts{}, "Another"))(t)
	if err := d.commit(held); !errors.Is(err, feedback.ErrRaced) {
		t.Errorf("the letter that came second: %v", err)
	}
	first := d.hold(t, d.letter(id.NewThread(), "One"))
	if _, err := d.begin(begun.After, "A third"); !errors.Is(err, feedback.ErrRaced) {
		t.Errorf("a thread that does not know of the letter: %v", err)
	}
	if _, err := d.begin(first.After, "A third"); err != nil || len(d.inbox(t)) != 1 {
		t.Errorf("%v, %+v", err, d.inbox(t))
	}
}

func TestOnlyThreadsOfGuestsAreTheirs(t *testing.T) {
	d := newDiscussed(t)
	counts := must(d.begin(feedback.Counts{}, "An agent's"))(t).After
	var all []id.Thread
	for range 3 {
		h := d.letter(id.NewThread(), strings.Repeat("x", 3000))
		all = append(all, h.Thread)
		c := must(feedback.Deliver(counts, nil, []feedback.Held{h}, now()))(t)
		noError(t, d.commit(c))
		counts = c.After
	}
	for most, want := range map[int][]id.Thread{50: all, 2: all[1:]} {
		var got []id.Thread
		for _, th := range must(d.Feedback.Guests(ctx, d.artifact, most))(t) {
			got = append(got, th.ID)
		}
		if !cmp.Equal(got, want) {
			t.Errorf("at most %d: %v, want %v", most, got, want)
		}
	}
}

// TestALetterIsRefusedAtTheCommitOfWhatEndsItsLink has the link as it was before that.
func TestALetterIsRefusedAtTheCommitOfWhatEndsItsLink(t *testing.T) {
	at := now()
	for name, test := range map[string]struct {
		spoil func(*testing.T, discussed, link.Link)
		want  error // nil: it goes through
	}{
		"nothing": {func(*testing.T, discussed, link.Link) {}, nil},
		"revoked": {func(t *testing.T, d discussed, l link.Link) {
			l.RevokedAt = at
			store(t, d.Stores, linkItem(l))
		}, feedback.NoComments()},
		"without comments": {func(t *testing.T, d discussed, l link.Link) {
			l.Comments = false
			store(t, d.Stores, linkItem(l))
		}, feedback.NoComments()},
		"all links locked": {func(t *testing.T, d discussed, _ link.Link) { d.set(t, "links_off", at) }, artifact.ErrMoved},
		"all links closed": {func(t *testing.T, d discussed, _ link.Link) {
			d.set(t, "links_closed", at.Add(time.Hour))
		}, artifact.ErrMoved},
	} {
		d := newDiscussed(t)
		l := link.Link{
			Public:    id.NewPublic(),
			Workspace: d.key.Workspace,
			Artifact:  d.artifact,
			Kind:      link.Share,
			Comments:  true,
			CreatedAt: at,
		}
		store(t, d.Stores, linkItem(l))
		test.spoil(t, d, l)
		c := d.commitOf(must(feedback.Hold(feedback.Counts{}, nil, nil, d.letter(id.NewThread(), "One")))(t))
		c.Link, c.Command = &l, command(d.key, idempotency.GuestFeedback)
		err := d.Feedback.Commit(ctx, c)
		if fault.CodeOf(err) != fault.CodeOf(test.want) ||
			errors.Is(err, artifact.ErrMoved) != errors.Is(test.want, artifact.ErrMoved) {
			t.Errorf("%s: %v", name, err)
		}
		if left := must(d.Feedback.Waiting(ctx, d.artifact))(t); (len(left) == 1) != (test.want == nil) {
			t.Errorf("%s: kept %+v", name, left)
		}
	}
}
