package app

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

// heldState is that of what waits on pages. It is none of a thread, because what waits is in none.
const heldState = "held"

// What a form does to what guests wrote.
const (
	letThrough = "let_through"
	drop       = "drop"
)

// addHeld adds what guests wrote that waits for a member. It is read after the counts in p, so that a page whose counts
// are old shows more than they say and not less.
func (h *Host) addHeld(ctx context.Context, v browserSession, a *artifact.Artifact, p *pages.Feedback) error {
	if p.Held == 0 {
		return nil
	}
	held, err := h.Feedback.Held(ctx, v.Actor, a)
	p.Waiting = heldRows(a, held)
	for i := range p.Waiting {
		p.Waiting[i].Writes = p.Writes
	}
	return err
}

// heldRows returns what waits by its threads, that which waits longest first.
func heldRows(a *artifact.Artifact, held []feedback.Held) (rows []pages.Thread) {
	for _, one := range held {
		at := slices.IndexFunc(rows, func(row pages.Thread) bool { return row.ID == string(one.Thread) })
		if at < 0 {
			at, rows = len(rows), append(rows, heldRow(a, one))
		}
		row := &rows[at]
		row.Said = append(row.Said, saidOf(one.Author, one.Body, one.At))
		row.Seen = max(row.Seen, one.Number)
	}
	return rows
}

// heldRow returns the thread that something begins which is held, or to which it replies, without messages.
func heldRow(a *artifact.Artifact, one feedback.Held) pages.Thread {
	row := placedRow(a, feedback.Thread{
		ID:       one.Thread,
		State:    heldState,
		Revision: one.Revision,
		Path:     one.Path,
		Anchor:   one.Anchor,
	})
	if one.Reply {
		row.Reply, row.Open = true, row.Page()
	}
	return row
}

// choosable lets a member who may write choose several of the threads on show.
func choosable(p *pages.Feedback) {
	if !p.Writes {
		return
	}
	for i := range p.Open {
		p.Open[i].Choice = pages.ChooseOpen
	}
	for i := range p.Waiting {
		p.Waiting[i].Choice = pages.ChooseHeld
	}
}

// answerHeld lets through or drops what guests wrote in one thread.
func (h *Host) answerHeld(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	one := choice{thread: pathThread(r), value: form["seen"]}
	if err := h.actOn(r.Context(), v, a, form, one); err != nil {
		return h.notWritten(w, r, err, func(status int, _ string) error {
			acted := &pages.Acted{Failed: []pages.Failed{failed(one, err)}}
			return h.showFeedback(w, r, v, a, status, pages.Feedback{Acted: acted})
		})
	}
	redirect(w, backTo(a, form, one.thread))
	return nil
}

// choice is a thread that a form chooses. Its value is the number of the last held thing that the page showed in it.
type choice struct {
	thread id.Thread
	value  string
}

const (
	// chosenThread is the prefix of the fields that choose threads; the id of a thread follows.
	chosenThread = "thread-"
	// maxChosen is how many threads one form changes, as many as a page lists.
	maxChosen = 50
	// chosenTime is how long a form changes threads, one after the other, because they share their counts. It leaves the
	// time that showing them takes.
	chosenTime = feedbackAnswer - 2*time.Second
)

// doneTo says what a form did to threads.
var doneTo = map[string]string{"resolve": "resolved", letThrough: "let through", drop: "dropped"}

// changeChosen changes each chosen thread by a command of its own, and says to how many it was done and to which not.
// All commands have the idempotency key of the form, so that a form that is sent again finds what was done.
func (h *Host) changeChosen(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	acted := &pages.Acted{Words: doneTo[form["do"]]}
	chosen, err := choicesIn(form)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), chosenTime)
	defer cancel()
	for _, one := range chosen {
		switch err := web.AsUnavailable(h.actOn(ctx, v, a, form, one)); {
		case err == nil:
			acted.Done++
		case refusalOf(err) == "":
			return err
		default:
			web.Failed(r.Context(), fault.CodeOf(err), err)
			acted.Failed = append(acted.Failed, failed(one, err))
		}
	}
	return h.showFeedback(w, r, v, a, http.StatusOK, pages.Feedback{Acted: acted})
}

// choicesIn returns the threads that a form chooses.
func choicesIn(form web.Form) (chosen []choice, err error) {
	if doneTo[form["do"]] == "" {
		return nil, fault.New(fault.InvalidRequest, "nothing is asked for")
	}
	// A bad key would fail every command, and say so once for each thread.
	if err := idempotency.CheckClient(form["once"]); err != nil {
		return nil, fault.New(fault.InvalidRequest, "the form is not complete; reload the page and try again")
	}
	for field, value := range form {
		if name, is := strings.CutPrefix(field, chosenThread); is {
			chosen = append(chosen, choice{id.Thread(name), value})
		}
	}
	slices.SortFunc(chosen, func(a, b choice) int { return strings.Compare(string(a.thread), string(b.thread)) })
	switch {
	case len(chosen) == 0:
		return nil, explained{fault.New(fault.InvalidRequest, "no thread is chosen"), pages.Message{
			Heading: "Nothing is selected",
			Text:    "Select threads in the list first. Go back to choose some.",
		}}
	case len(chosen) > maxChosen:
		return nil, fault.New(fault.InvalidRequest, "choose at most %d threads", maxChosen)
	}
	return chosen, nil
}

// actOn does to a thread what a form says.
func (h *Host) actOn(
	ctx context.Context, v browserSession, a *artifact.Artifact, form web.Form, one choice,
) error {
	t := feedback.Target{RequestedID: a.ID, Artifact: a, Thread: one.thread}
	do, who := form["do"], feedback.Person(v.Member)
	var seen int64
	var err error
	if do != "resolve" {
		if seen, err = strconv.ParseInt(one.value, 10, 64); err != nil || seen < 1 {
			return fault.New(fault.InvalidRequest, "the form is not complete; reload the page and try again")
		}
	}
	t.Command, err = commandOf(v, idempotency.AnswerFeedback, string(t.Thread), form["once"], []any{do, seen})
	if err != nil {
		return err
	}
	switch do {
	case letThrough:
		_, err = h.Feedback.LetThrough(ctx, v.Actor, who, t, seen)
	case drop:
		_, err = h.Feedback.Drop(ctx, v.Actor, t, seen)
	default:
		_, err = h.Feedback.Answer(ctx, v.Actor, who, t, feedback.Answer{Resolve: true})
	}
	return err
}

// failed returns a thread to which something was not done. showFeedback adds what it still shows of it.
func failed(one choice, err error) pages.Failed {
	f := pages.Failed{Thread: pages.Thread{ID: string(one.thread)}, Why: refusalOf(err)}
	if fault.KindOf(err) == fault.KindNotFound {
		f.Why = "It is not there any more: another member may have dealt with it."
	}
	return f
}

// placeFailed names the threads to which something was not done by what the page shows of them.
func placeFailed(p *pages.Feedback) {
	if p.Acted == nil {
		return
	}
	shown := slices.Concat(p.Waiting, p.Open)
	for i := range p.Acted.Failed {
		of := &p.Acted.Failed[i].Thread
		at := slices.IndexFunc(shown, func(row pages.Thread) bool { return row.ID == of.ID })
		if at < 0 {
			*of = pages.Thread{}
			continue
		}
		*of = shown[at]
	}
}
