package app

import (
	"context"
	"net/http"
	"net/url"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

func pathMessage(r *http.Request) id.Message { return id.Message(r.PathValue("messageId")) }

func messagePath(a id.Artifact, t id.Thread, m id.Message) string {
	return threadsPath(a) + "/" + string(t) + "/messages/" + url.PathEscape(string(m))
}

// wrote reports whether the member wrote a message.
func wrote(v browserSession, m feedback.Message) bool {
	return m.Author.Kind == feedback.Member && m.Author.ID == string(v.Member.ID)
}

// askDeleteMessage asks before a member's own message is deleted.
func (h *Host) askDeleteMessage(w http.ResponseWriter, r *http.Request, v browserSession) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	t, m, err := h.findMessage(r.Context(), v, a, pathThread(r), pathMessage(r))
	if err != nil {
		return err
	}
	p := pages.Confirm{
		Layout:  v.layout("/artifacts"),
		Heading: "Delete this message?",
		Subject: m.Body,
		Detail:  string(m.ID),
		Text:    "Its words are deleted for everybody and for good. Its place in the thread stays.",
		Button:  "Delete it",
		Action:  messagePath(a.ID, t.ID, m.ID) + "/delete",
		Back:    threadsPath(a.ID) + "/" + string(t.ID),
		Once:    once(),
	}
	if t.Messages == 1 {
		p.Text = "The thread has no other message, so that it is deleted with it, for everybody and for good."
	}
	p.Text += " " + recoverable
	return h.page(w, http.StatusOK, p)
}

// findMessage returns a message of a thread that the member wrote; not_found for every other one.
func (h *Host) findMessage(
	ctx context.Context, v browserSession, a *artifact.Artifact, t id.Thread, which id.Message,
) (thread feedback.Thread, _ feedback.Message, _ error) {
	for at := ""; ; {
		thread, messages, next, err := h.Feedback.Thread(ctx, v.Actor, a, t, at)
		if err != nil {
			return thread, feedback.Message{}, err
		}
		for _, m := range messages {
			if m.ID == which && !m.Deleted && wrote(v, m) {
				return thread, m, nil
			}
		}
		if next == "" {
			return thread, feedback.Message{}, fault.New(fault.NotFound, "the thread has no such message of the member")
		}
		at = next
	}
}

func (h *Host) deleteMessage(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	t := feedback.Target{RequestedID: a.ID, Artifact: a, Thread: pathThread(r)}
	m := pathMessage(r)
	if t.Command, err = commandOf(v, idempotency.DeleteMessage, string(m), form["once"], nil); err != nil {
		return err
	}
	left, err := h.Feedback.DeleteMessage(r.Context(), v.Actor, feedback.Person(v.Member), t, m)
	if err != nil {
		return err
	}
	to := threadsPath(a.ID)
	if left.State != feedback.Deleted {
		to += "/" + string(t.Thread)
	}
	redirect(w, to)
	return nil
}
