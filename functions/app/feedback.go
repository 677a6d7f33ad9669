package app

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

const (
	feedbackPath = oneArtifact + "/feedback"
	oneThread    = feedbackPath + "/{threadId}"
)

// feedbackAnswer limits the time of an answer to a form. A change that loses races is tried again for some seconds.
const feedbackAnswer = 8 * time.Second

// feedbackRoutes show members what is written about an artifact, and write.
func (h *Host) feedbackRoutes() []route {
	const remove, removeMessage = oneThread + "/delete", oneThread + "/messages/{messageId}/delete"
	changes := func(right credential.Scope, handle formHandler) members {
		m := changeArtifacts(right, handle)
		m.limit = feedbackAnswer
		return m
	}
	write := func(handle formHandler) members { return changes(credential.Publish, handle) }
	return append(noReferrer(
		route{method: "GET", path: inboxPath, handle: seeArtifacts(resetCursor(h.inbox))},
		route{method: "GET", path: feedbackPath, handle: seeArtifacts(resetCursor(h.feedback))},
		route{method: "GET", path: oneThread, handle: seeArtifacts(resetCursor(h.thread))},
	), []route{
		{method: "POST", path: feedbackPath, handle: write(h.createThread)},
		{method: "POST", path: oneArtifact + "/feedback-selected", handle: write(h.changeChosen)},
		{method: "POST", path: oneThread, handle: write(h.answerThread)},
		question(remove, oneArtifact, members{page: h.askDeleteThread, right: credential.Publish}),
		{method: "POST", path: remove, handle: write(h.deleteThread)},
		question(removeMessage, oneArtifact, members{page: h.askDeleteMessage, right: credential.Publish}),
		{method: "POST", path: removeMessage, handle: write(h.deleteMessage)},
		{method: "POST", path: oneArtifact + "/feedback-policy", handle: changes(credential.Admin, h.setFeedback)},
	}...)
}

func pathThread(r *http.Request) id.Thread { return id.Thread(r.PathValue("threadId")) }

// threadsPath returns the page of the threads of an artifact.
func threadsPath(a id.Artifact) string { return artifactPath(a) + "/feedback" }

// feedback shows a page of the threads of an artifact in one state: the open ones unless the query names another.
func (h *Host) feedback(w http.ResponseWriter, r *http.Request, v browserSession) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	return h.showFeedback(w, r, v, a, http.StatusOK, pages.Feedback{})
}

// showFeedback shows threads with what a form left to say. Without that a failure to read them is one of the page.
func (h *Host) showFeedback(
	w http.ResponseWriter, r *http.Request, v browserSession, a *artifact.Artifact, status int, left pages.Feedback,
) error {
	sel := feedback.Selection{State: stateOf(r.URL.Query().Get("state"))}
	if r.Method == http.MethodGet { // a form that is shown again begins at the first page
		sel.Cursor = r.URL.Query().Get("after")
	}
	list, next, err := h.Feedback.List(r.Context(), v.Actor, a, sel)
	p := pages.FeedbackPage{
		Layout:   v.layout("/artifacts"),
		Title:    a.Title,
		State:    string(sel.State),
		Feedback: left,
	}
	fillFeedback(&p.Feedback, v, a, list)
	if err == nil && sel.State == feedback.Open && sel.Cursor == "" {
		err = h.addHeld(r.Context(), v, a, &p.Feedback)
	}
	if err != nil && left.Draft.Error == "" && left.Acted == nil {
		return err
	}
	p.Unread = err != nil
	p.Pages = filteredPages(threadsPath(a.ID), url.Values{"state": {string(sel.State)}}, sel.Cursor, next)
	p.Ranked = true // by their last change, the oldest first
	choosable(&p.Feedback)
	placeFailed(&p.Feedback)
	return h.page(w, status, p)
}

func stateOf(word string) feedback.State {
	switch s := feedback.State(word); s {
	case feedback.Addressed, feedback.Resolved:
		return s
	}
	return feedback.Open
}

// viewerFeedback returns the threads that the viewer shows: all of them if they are one page, otherwise the first page of
// each state. A failure to read them does not keep the artifact from being shown.
func (h *Host) viewerFeedback(r *http.Request, v browserSession, a *artifact.Artifact) pages.Feedback {
	ctx := r.Context()
	p := pages.Feedback{Viewer: true, Shown: r.URL.Query().Has(feedbackQuery)}
	list, next, err := h.Feedback.List(ctx, v.Actor, a, feedback.Selection{})
	if err == nil && next != "" {
		p.More = true
		list.Threads, err = h.threadsByState(ctx, v, a)
	}
	fillFeedback(&p, v, a, list)
	if err == nil {
		err = h.addHeld(ctx, v, a, &p)
	}
	if err != nil {
		web.Failed(ctx, fault.CodeOf(err), err)
		p.Unread = true
	}
	return p
}

// openFeedback returns the open threads of an artifact; none for one that cannot be seen. A failure to read them does not
// keep the page of the artifact from being shown.
func (h *Host) openFeedback(ctx context.Context, v browserSession, a *artifact.Artifact) (p pages.Feedback) {
	if !a.Readable(h.Now()) || a.Current == "" {
		return p
	}
	list, next, err := h.Feedback.List(ctx, v.Actor, a, feedback.Selection{State: feedback.Open})
	if err != nil {
		web.Failed(ctx, fault.CodeOf(err), err)
	}
	p.Unread, p.More = err != nil, next != ""
	if !p.Unread {
		p.Policy = policyOf(v, list.Settings)
	}
	fillFeedback(&p, v, a, list)
	return p
}

func (h *Host) threadsByState(
	ctx context.Context, v browserSession, a *artifact.Artifact,
) (all []feedback.Thread, _ error) {
	for _, state := range []feedback.State{feedback.Open, feedback.Addressed, feedback.Resolved} {
		list, _, err := h.Feedback.List(ctx, v.Actor, a, feedback.Selection{State: state})
		if err != nil {
			return nil, err
		}
		all = append(all, list.Threads...)
	}
	return all, nil
}

// fillFeedback adds what all pages of threads show.
func fillFeedback(p *pages.Feedback, v browserSession, a *artifact.Artifact, list feedback.Listing) {
	p.Artifact = string(a.ID)
	p.Seq, p.HeldSeq = list.Seq, list.HeldSeq
	p.Count, p.Held = list.Open, list.Held
	p.Writes = v.Actor.Require(credential.Publish) == nil
	if p.Revision == "" {
		p.Revision = string(a.Current)
	}
	if p.Draft.Once == "" {
		p.Draft.Once = once()
	}
	if p.Draft.About == "" {
		p.Draft.About, p.Draft.Path = string(feedback.OnArtifact), a.Entrypoint
	}
	for _, t := range list.Threads {
		row := threadRow(a, t)
		row.Writes = p.Writes
		switch t.State {
		case feedback.Open:
			p.Open = append(p.Open, row)
		case feedback.Addressed:
			p.Addressed = append(p.Addressed, row)
		case feedback.Resolved:
			p.Resolved = append(p.Resolved, row)
		}
	}
}

// placedRow returns a thread without its messages.
func placedRow(a *artifact.Artifact, t feedback.Thread) pages.Thread {
	return pages.Thread{
		Artifact: string(a.ID),
		ID:       string(t.ID),
		State:    string(t.State),
		About:    string(t.Anchor.Kind),
		Path:     t.Path,
		From:     t.Anchor.From,
		To:       t.Anchor.To,
		Quote:    t.Anchor.Exact,
		Unproven: t.Anchor.Kind == feedback.OnText && !t.Anchor.Verified,
		Newest:   t.Revision == a.Current,
		Open:     placePath(a.ID, t, t.Revision == a.Current),
		Once:     once(),
	}
}

func threadRow(a *artifact.Artifact, t feedback.Thread) pages.Thread {
	row := placedRow(a, t)
	row.Said, row.Hidden = []pages.Said{saidOf(t.First.Author, t.First.Text, t.First.At)}, t.Messages-1
	row.Said[0].Cut = t.First.Cut
	if !t.Newest.At.IsZero() {
		newest := saidOf(t.Newest.Author, t.Newest.Text, t.Newest.At)
		newest.Cut = t.Newest.Cut
		row.Said, row.Hidden = append(row.Said, newest), row.Hidden-1
	}
	if by := t.Addressed; by.Revision != "" {
		row.Addressed = &pages.AddressedBy{
			Number: by.Number,
			Open:   viewerPath(a.ID, by.Revision, by.Revision == a.Current),
			Said:   saidOf(by.By, by.Note, by.At),
		}
	}
	return row
}

// placePath returns the viewer at what a thread is about.
func placePath(a id.Artifact, t feedback.Thread, newest bool) string {
	path, q := viewerPath(a, t.Revision, newest), url.Values{}
	if t.Path != "" {
		at := strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(t.Path)
		if t.Anchor.Kind == feedback.OnLines {
			at += "#L" + strconv.Itoa(t.Anchor.From)
		}
		q.Set("at", at)
	}
	return withQuery(path, q)
}

// withQuery adds to the query of a path.
func withQuery(path string, q url.Values) string {
	switch {
	case len(q) == 0:
		return path
	case strings.Contains(path, "?"):
		return path + "&" + q.Encode()
	}
	return path + "?" + q.Encode()
}

// saidOf returns what an author wrote. A message without words is one that was deleted.
func saidOf(by feedback.Author, text string, at time.Time) pages.Said {
	return pages.Said{
		Author:  by.Name,
		Agent:   by.Kind == feedback.Agent,
		Guest:   by.Kind == feedback.Guest,
		Text:    text,
		Deleted: text == "",
		At:      at,
	}
}

// thread shows a thread with a page of its messages.
func (h *Host) thread(w http.ResponseWriter, r *http.Request, v browserSession) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	return h.showThread(w, r, v, a, http.StatusOK, pages.Draft{})
}

// showThread shows a thread with what a form left to say.
func (h *Host) showThread(
	w http.ResponseWriter, r *http.Request, v browserSession, a *artifact.Artifact, status int, d pages.Draft,
) error {
	after := ""
	if r.Method == http.MethodGet {
		after = r.URL.Query().Get("after")
	}
	t, messages, next, err := h.Feedback.Thread(r.Context(), v.Actor, a, pathThread(r), after)
	if err != nil {
		return err
	}
	row := threadRow(a, t)
	row.Whole, row.Draft = true, d
	row.Writes = v.Actor.Require(credential.Publish) == nil
	row.Said, row.Hidden = nil, 0
	for _, m := range messages {
		said := saidOf(m.Author, m.Body, m.At)
		if row.Writes && !m.Deleted && wrote(v, m) {
			said.Remove = messagePath(a.ID, t.ID, m.ID) + "/delete"
		}
		row.Said = append(row.Said, said)
	}
	p := pages.ThreadPage{
		Layout: v.layout("/artifacts"),
		Title:  a.Title,
		Thread: row,
		Pages:  pagesOf(threadsPath(a.ID)+"/"+row.ID, after, next),
	}
	p.Ranked = true // the oldest first
	return h.page(w, status, p)
}

// askDeleteThread asks before a thread is deleted.
func (h *Host) askDeleteThread(w http.ResponseWriter, r *http.Request, v browserSession) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	t, _, _, err := h.Feedback.Thread(r.Context(), v.Actor, a, pathThread(r), "")
	if err != nil {
		return err
	}
	back := threadsPath(a.ID) + "/" + string(t.ID)
	return h.page(w, http.StatusOK, pages.Confirm{
		Layout:  v.layout("/artifacts"),
		Heading: "Delete this thread?",
		Subject: t.First.Text,
		Detail:  string(t.ID),
		Text:    "Its messages and its quote are deleted for everybody and for good. " + recoverable,
		Button:  "Delete it",
		Action:  back + "/delete",
		Back:    back,
		Once:    once(),
	})
}
