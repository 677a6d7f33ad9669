package app

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

// feedbackQuery opens the panel of threads in the viewer.
const feedbackQuery = "feedback"

// createThread begins a thread. What was written is shown again if it cannot be taken.
func (h *Host) createThread(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	remark, err := remarkOf(form)
	t := feedback.Target{RequestedID: a.ID, Artifact: a}
	if err == nil {
		t.Command, err = commandOf(v, idempotency.CreateFeedback, string(a.ID), form["once"], remark)
	}
	var made feedback.Thread
	if err == nil {
		made, err = h.Feedback.Create(r.Context(), v.Actor, feedback.Person(v.Member), t, remark)
	}
	if err != nil {
		return h.notWritten(w, r, err, func(status int, said string) error {
			return h.showFeedback(w, r, v, a, status, pages.Feedback{Draft: draftOf(form, form["body"], said)})
		})
	}
	redirect(w, backTo(a, form, made.ID))
	return nil
}

// remarkOf returns what the form of a new thread says.
func remarkOf(form web.Form) (feedback.Remark, error) {
	r := feedback.Remark{
		Body:     form["body"],
		Revision: id.Revision(form["revision"]),
		Anchor:   feedback.Anchor{Kind: feedback.AnchorKind(form["about"])},
	}
	if r.Anchor.Kind != feedback.OnArtifact {
		r.Path = strings.TrimSpace(form["path"])
	}
	switch r.Anchor.Kind {
	case feedback.OnArtifact, feedback.OnFile:
	case feedback.OnText:
		r.Anchor.Exact = form["quote"]
	case feedback.OnLines:
		from, err1 := strconv.Atoi(form["from"])
		to, err2 := strconv.Atoi(form["to"])
		if form["to"] == "" {
			to, err2 = from, nil
		}
		if errors.Join(err1, err2) != nil {
			return r, fault.New(fault.InvalidRequest, "name the first and the last line by their numbers")
		}
		r.Anchor.From, r.Anchor.To = from, to
	default:
		return r, fault.New(fault.InvalidRequest, "choose what it is about")
	}
	if r.Anchor.Kind != feedback.OnArtifact && r.Path == "" {
		return r, fault.New(fault.InvalidRequest, "name the file that it is about")
	}
	return r, nil
}

// answerThread replies in a thread, resolves it or opens it again, or ends the wait of what guests wrote in it.
func (h *Host) answerThread(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	answer := feedback.Answer{}
	switch form["do"] {
	case letThrough, drop:
		return h.answerHeld(w, r, v, form)
	case "resolve":
		answer.Resolve, answer.Reply = true, strings.TrimSpace(form["reply"])
	case "reopen":
		answer.Reopen = true
	default:
		answer.Reply = form["reply"]
	}
	a, err := h.changeThread(r, v, form, answer)
	if err != nil && a != nil {
		return h.notWritten(w, r, err, func(status int, said string) error {
			if err := h.showThread(w, r, v, a, status, draftOf(form, form["reply"], said)); err == nil {
				return nil
			}
			left := pages.Feedback{Draft: draftOf(nil, form["reply"], said)} // the thread is gone, the words stay
			return h.showFeedback(w, r, v, a, status, left)
		})
	}
	if err != nil {
		return err
	}
	redirect(w, backTo(a, form, pathThread(r)))
	return nil
}

func (h *Host) deleteThread(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	a, err := h.changeThread(r, v, form, feedback.Answer{Delete: true})
	if err != nil {
		return err
	}
	redirect(w, threadsPath(a.ID))
	return nil
}

// changeThread acts on the thread in the path. It returns the artifact unless that cannot be read.
func (h *Host) changeThread(
	r *http.Request, v browserSession, form web.Form, answer feedback.Answer,
) (*artifact.Artifact, error) {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return nil, err
	}
	t := feedback.Target{RequestedID: a.ID, Artifact: a, Thread: pathThread(r)}
	t.Command, err = commandOf(v, idempotency.AnswerFeedback, string(t.Thread), form["once"], answer)
	if err == nil {
		_, err = h.Feedback.Answer(r.Context(), v.Actor, feedback.Person(v.Member), t, answer)
	}
	return a, err
}

// notWritten shows the page of a form again, with what was written and why it was not taken. show does so.
func (h *Host) notWritten(
	w http.ResponseWriter, r *http.Request, err error, show func(status int, said string) error,
) error {
	f, status := classify(err)
	said := refusalOf(err)
	if said == "" {
		return err
	}
	web.RetryAfter(w.Header(), f.RetryAfter)
	web.Failed(r.Context(), f.Code, err)
	return show(status, said)
}

// refusalOf explains to the writer why something was not taken. It is empty for a failure of the whole page.
func refusalOf(err error) string {
	f, _ := classify(err)
	switch f.Code.Kind() {
	case fault.KindInvalid, fault.KindUnprocessable, fault.KindConflict:
		return sentenceOf(f.Message)
	case fault.KindNotFound:
		if fault.CodeOf(err) == fault.ArtifactNotFound {
			return ""
		}
		return sentenceOf(fault.Of(err).Message)
	case fault.KindLimited:
		return "Too much is written about this artifact at once. Send it again in " + pages.Wait(f.RetryAfter) + "."
	case fault.KindUnavailable:
		return "A part of this service does not answer. Send it again in a moment: it is written once."
	}
	return ""
}

// sentenceOf returns the message of a failure as a sentence for people.
func sentenceOf(message string) string {
	if message = strings.TrimPrefix(message, "anchor_not_found: "); message == "" {
		return "That was not taken."
	}
	return strings.ToUpper(message[:1]) + message[1:] + "."
}

// draftOf returns what a form had, with its key, so that what took effect unseen is not done twice.
func draftOf(form web.Form, body, said string) pages.Draft {
	return pages.Draft{
		Once:     form["once"],
		Body:     body,
		About:    form["about"],
		Path:     form["path"],
		From:     form["from"],
		To:       form["to"],
		Quote:    form["quote"],
		Revision: form["revision"],
		Error:    said,
	}
}

// backTo returns the page that a form came from, at a thread. The form names what the viewer showed.
func backTo(a *artifact.Artifact, form web.Form, t id.Thread) string {
	at := "#" + string(t)
	switch r := id.Revision(form["shown"]); form["back"] {
	case "viewer":
		if _, malformed := r.Bits(); malformed != nil {
			r = a.Current
		}
		return withQuery(viewerPath(a.ID, r, r == a.Current), url.Values{feedbackQuery: {"open"}}) + at
	case "thread":
		return threadsPath(a.ID) + "/" + string(t)
	}
	return threadsPath(a.ID) + at
}
