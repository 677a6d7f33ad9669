package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// listener asks beside a watch what is written about its artifact. Neither an answer nor a failure delays or ends the
// watch.
type listener struct {
	*artifactContext
	since  int64      // the last change that is known; negative: none yet
	asked  bool       // a question has no answer yet
	next   time.Time  // no question before that time
	answer chan heard // to the question that was asked
	shown  map[id.Thread]bool
}

// heard is an answer to a listener.
type heard struct {
	list contract.ThreadList
	err  error
}

// listens returns the listener of a watch; nil if the server has no threads, or the output is quiet.
func (w *watcher) listens(a id.Artifact) *listener {
	if w.screen.IsQuiet() || !slices.Contains(w.account.Hosts.Features, contract.FeatureFeedback) {
		return nil
	}
	return &listener{
		artifactContext: &artifactContext{w.app, w.account, a},
		since:           -1,
		answer:          make(chan heard, 1),
		shown:           map[id.Thread]bool{},
	}
}

// listen tells what has been heard, and asks again when it is time.
func (w *watcher) listen(ctx context.Context) {
	l := w.listener
	if l == nil {
		return
	}
	select {
	case h := <-l.answer:
		l.asked = false
		if !l.take(h) {
			w.listener = nil
			return
		}
	default:
	}
	if !l.asked && !l.now().Before(l.next) {
		l.asked = true
		since := l.since
		l.beside(func() { l.answer <- l.ask(ctx, since) })
	}
}

// ask asks for later changes; the first question only for where they begin.
func (l *listener) ask(ctx context.Context, since int64) (h heard) {
	if since < 0 {
		now, err := l.account.Feedback(ctx, l.artifact, url.Values{}, -1)
		return heard{contract.ThreadList{ChangesUntil: now.Seq}, err}
	}
	h.list, h.err = l.threads(ctx, following{since: since}, since)
	return h
}

// take tells what an answer has that is new, and decides when to ask again. It returns false if the server will not
// tell any more, of which publishing says what there is to say.
func (l *listener) take(h heard) bool {
	known, unchanged := errors.AsType[client.Unchanged](h.err)
	wait := limits.FeedbackWait
	switch f := failure.Of(h.err); {
	case unchanged:
		wait = cmp.Or(known.Wait, wait)
	case h.err == nil:
		l.tell(h.list.Threads)
		l.since = h.list.ChangesUntil
	case mayPass(f) || f.Exit == failure.Quota:
		wait = cmp.Or(f.RetryAfter, maxRetryTime)
	default:
		return false
	}
	l.next = l.now().Add(wait)
	return true
}

// threadEvent is the JSON line of a new thread.
type threadEvent struct {
	SchemaVersion string `json:"schema_version"`
	Event         string `json:"event"`
	contract.ThreadSummary
}

// tell prints the open threads that have not been printed, one line each, and the command that shows them.
func (l *listener) tell(all []contract.ThreadSummary) {
	told := false
	for _, t := range all {
		if t.State != "open" || l.shown[t.ID] {
			continue
		}
		l.shown[t.ID], told = true, true
		if l.screen.IsJSON() {
			l.screen.Object(threadEvent{schemaVersion, "thread", t}) // the next revision reports what cannot be written
			continue
		}
		l.screen.Text(screen.Clean(fmt.Sprintf("feedback on %s: %s", about(t), lastWords(t))) + "\n")
	}
	if told && !l.screen.IsJSON() {
		l.screen.Note("vitrine feedback %s --since %d shows all of it", l.artifact, l.since)
	}
}
