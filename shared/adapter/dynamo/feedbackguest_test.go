package dynamo

import (
	"errors"
	"fmt"
	"slices"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
)

// letter is what a guest wrote and was told to wait for.
type letter struct {
	thread id.Thread
	number int64
	body   string
}

// send has a guest write in a thread that a letter began, or in a new one, as feedback.Guests does behind a link.
func (w *writer) send() {
	thread := id.NewThread()
	w.mu.Lock()
	if n := len(w.letters); n > 0 && w.random.IntN(4) > 0 {
		thread = w.letters[max(0, n-1-w.random.IntN(2))].thread
	}
	w.mu.Unlock()
	h := w.discussed.letter(thread, fmt.Sprint("letter ", w.clock.Add(1)))
	for {
		counts, found, err := w.Feedback.Thread(ctx, w.artifact, thread)
		noError(w.t, err)
		if found != nil && found.State == feedback.Deleted {
			return
		}
		c, err := feedback.Hold(counts, found, must(w.Feedback.Waiting(ctx, w.artifact))(w.t), h)
		if err == nil {
			err = w.commit(c)
		}
		switch {
		case err == nil:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.letters = append(w.letters, letter{thread, c.Waits.Number, h.Body})
			return
		case fault.CodeOf(err) == fault.FeedbackConflict:
			return
		case !errors.Is(err, feedback.ErrRaced) && fault.CodeOf(err) != fault.DatabaseUnavailable:
			w.t.Error(err)
			return
		}
	}
}

// judge lets through what waits in a thread, or drops it, up to one of the letters.
func (w *writer) judge(through bool) {
	waiting := must(w.Feedback.Waiting(ctx, w.artifact))(w.t)
	if len(waiting) == 0 {
		return
	}
	seen := waiting[w.random.IntN(len(waiting))]
	if !through {
		_, err := w.service.Drop(ctx, w.by, w.target(seen.Thread), seen.Number)
		w.judged(err)
		return
	}
	w.ask(deed{seen: seen.Number}, func(t feedback.Target) (feedback.Thread, error) {
		after, err := w.service.LetThrough(ctx, w.by, w.author, t, seen.Number)
		w.judged(err)
		return after, err
	}, seen.Thread)
}

// judged counts a decision that was made.
func (w *writer) judged(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch fault.CodeOf(err) {
	case "":
		w.decided++
	case fault.NotFound, fault.FeedbackConflict, fault.DatabaseUnavailable:
	default:
		w.t.Error(err)
	}
}

// lettersTo returns the letters of a thread up to a number, in their order.
func (h *history) lettersTo(thread id.Thread, seen int64) (bodies []string) {
	slices.SortFunc(h.letters, func(a, b letter) int { return int(a.number - b.number) })
	for _, l := range h.letters {
		if l.thread == thread && l.number <= seen {
			bodies = append(bodies, l.body)
		}
	}
	return bodies
}

// wantLetters wants each letter once at most: in its thread, or waiting as it was written.
func (h *history) wantLetters(s storedThreads, all map[id.Thread]modelledThread) {
	h.t.Helper()
	found := map[string]int{}
	for _, m := range all {
		for _, body := range m.bodies {
			found[body]++
		}
	}
	for n, held := range s.waiting {
		if !slices.Contains(h.letters, letter{held.Thread, n, held.Body}) {
			h.t.Errorf("what waits is no letter: %+v", held)
		}
		found[held.Body]++
	}
	for _, l := range h.letters {
		if found[l.body] > 1 {
			h.t.Errorf("%+v is there %d times", l, found[l.body])
		}
	}
}
