package app

import (
	"net/http"
	"strings"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/session"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// keepPath is the page that asks a person which of the agents keep their access that have worked under the same e-mail
// address.
const keepPath = "/agent-auth/keep"

// keepField is the prefix of the names of the checkboxes; the id of a delegation follows.
const keepField = "keep-"

func (h *Host) keepRoutes() []route {
	return noReferrer(
		route{method: "GET", path: keepPath, handle: timed(h.askKept)},
		route{method: "POST", path: keepPath, handle: timed(h.keep)},
	)
}

// askKept shows which agents may act, and nothing else of the workspace, because no session is open yet.
func (h *Host) askKept(w http.ResponseWriter, r *http.Request) error {
	secret := h.takeover(r)
	question, linked, err := h.SignIns.PendingTakeover(r.Context(), secret)
	if err != nil {
		return notAsked(err)
	}
	p := pages.Keep{
		Email:     question.Who.Email,
		Question:  mark(secret),
		ExpiresAt: question.ExpiresAt,
	}
	for _, d := range linked {
		p.Linked = append(p.Linked, linkedOf(d))
	}
	return h.page(w, http.StatusOK, p)
}

// takeover returns the secret of the question that the browser brought.
func (h *Host) takeover(r *http.Request) string {
	secret := cookie(r, takeoverCookie)
	web.RedactSecret(r.Context(), secret)
	return secret
}

// linkedOf returns a provider as pages show it.
func linkedOf(d delegation.Delegation) pages.Linked {
	return pages.Linked{
		ID:      string(d.ID()),
		Name:    d.Provider,
		Host:    d.Host(),
		Address: d.Email,
		Rights:  shortRights(d.Scopes),
		Since:   d.CreatedAt,
		SeenAt:  d.SeenAt,
	}
}

// keep takes the answer, and opens the session.
func (h *Host) keep(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(r)
	if err != nil {
		return err
	}
	secret := h.takeover(r)
	if form["question"] != mark(secret) { // it answers another sign-in of this browser
		redirect(w, keepPath)
		return nil
	}
	var kept []id.Delegation
	for name := range form {
		if d, is := strings.CutPrefix(name, keepField); is && id.Delegation(d).Valid() {
			kept = append(kept, id.Delegation(d))
		}
	}
	about := session.Client{Browser: r.UserAgent(), Network: address.Network(web.ClientAddress(r))}
	done, err := h.SignIns.FinishTakeover(r.Context(), secret, kept, cookie(r, sessionCookie), about, web.RequestID(r.Context()))
	if err != nil {
		return notAsked(err)
	}
	dropCookie(w, takeoverCookie)
	setCookie(w, sessionCookie, done.Session, int(limits.MaxSessionLife/time.Second))
	redirect(w, done.ReturnTo)
	return nil
}

// notAsked explains that no question is open. Other failures are those of a sign-in.
func notAsked(err error) error {
	if fault.CodeOf(err) != fault.InvalidRequest {
		return notSignedIn(err)
	}
	return explained{err, pages.Message{
		Heading: "Sign in again",
		Text: "This question was answered already, or waited for more than ten minutes. Nothing was changed since. " +
			"Sign in again, and it is asked once more if it is still open.",
		Links: []pages.Link{{Path: signInPath("/dashboard"), Text: "Sign in"}, {Path: "/", Text: "Front page"}},
	}}
}
