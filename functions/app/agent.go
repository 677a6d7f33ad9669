package app

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

const (
	agentPath = "/agent-auth/claim"
	otherOne  = "Another link of an agent was opened in this browser since the page was shown, so nothing was changed. This is that other request: answer it only if it is the one that you mean."
	badCode   = "This is not the code that the agent shows, or the request has changed meanwhile. Check the six digits; after a few wrong ones the request ends."
)

func (h *Host) agentRoutes() []route {
	approve := members{form: h.forThisAttempt(h.approveAgent), back: agentPath}
	deny := members{form: h.forThisAttempt(h.denyAgent), back: agentPath}
	return noReferrer(
		route{method: "GET", path: agentPath, handle: handler(h.agentPage)},
		route{method: "POST", path: agentPath, handle: approve},
		route{method: "POST", path: agentPath + "/deny", handle: deny},
	)
}

// agentPage moves the token of a claim attempt from the address into a cookie. There it survives a sign-in, and stays
// out of the history, of referrers and of logs.
func (h *Host) agentPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	switch {
	case q.Has("claim_attempt_token"):
		setCookie(w, attemptCookie, cookieSafe(q.Get("claim_attempt_token")), int(limits.AttemptLife/time.Second))
		redirect(w, agentPath)
	case q.Has("claim_token"): // the agent's own secret, which leaves the address before anything is shown
		redirect(w, agentPath+"?begun=no")
	case q.Get("begun") == "no":
		return explained{fault.NewCode(fault.InvalidRequest), pages.Message{
			Heading: "The agent has to ask first",
			Text: "This link holds the agent’s own token, which is not for people. Tell the agent to start a claim: it " +
				"then gets a link and six digits for you. If it showed you this link by mistake, nothing is lost.",
			Links: []pages.Link{{Path: "/", Text: "Front page"}},
		}}
	default:
		return members{page: h.agentRequest}.serve(h)(w, r)
	}
	return nil
}

// cookieSafe returns the token if a cookie can hold it, and "" for a text that cannot be a token.
func cookieSafe(token string) string {
	if len(token) > 256 {
		return ""
	}
	for _, c := range []byte(token) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '_' && c != '-' && c != '.' {
			return ""
		}
	}
	return token
}

func (h *Host) agentRequest(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.showAgent(w, r, v, http.StatusOK, "")
}

// showAgent shows which agent asks. problem says what was wrong with the code, if one was sent.
func (h *Host) showAgent(w http.ResponseWriter, r *http.Request, v browserSession, status int, problem string) error {
	token := attempt(r)
	if token == "" {
		return agentOver(fault.NewCode(fault.InvalidRequest))
	}
	asked, err := h.Agents.Preview(r.Context(), v.Actor, token)
	if err != nil {
		return agentOver(err)
	}
	return h.page(w, status, pages.AgentRequest{
		Layout:          v.layout(""),
		ArtifactSummary: artifactSummary(asked.Artifacts, asked.Count, limits.ClaimListed),
		RegisteredAt:    asked.CreatedAt,
		ExpiresAt:       asked.ExpiresAt,
		EndsAt:          asked.CreatedAt.Add(limits.RegistrationLife),
		Network:         asked.Network,
		Attempt:         mark(token),
		Error:           problem,
		Provider:        asked.Vouched.Provider,
		Host:            asked.Vouched.Host(),
		Address:         asked.Vouched.Email,
		Rights:          shortRights(asked.Vouched.Scopes),
	})
}

// attempt returns the token in the cookie of the browser, empty if there is none.
func attempt(r *http.Request) string {
	token := cookie(r, attemptCookie)
	web.RedactSecret(r.Context(), token)
	return token
}

// mark identifies an attempt on its page without revealing the token. The form sends it back, so that an answer is for
// the attempt that was shown: the link of another agent that is opened meanwhile replaces the cookie.
func mark(token string) string {
	sum := sha256.Sum256([]byte("page of an attempt\n" + token))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// forThisAttempt lets a form through that answers the attempt in the cookie. For a form of another attempt it shows the
// one in the cookie. Without a cookie the answer refuses by itself.
func (h *Host) forThisAttempt(answer formHandler) formHandler {
	return func(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
		if token := attempt(r); token != "" && form["attempt"] != mark(token) {
			return h.showAgent(w, r, v, http.StatusConflict, otherOne)
		}
		return answer(w, r, v, form)
	}
}

func (h *Host) approveAgent(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	sent := contract.CompleteClaim{AttemptToken: attempt(r), UserCode: form["user_code"]}
	_, err := h.Agents.Complete(r.Context(), v.Actor, sent)
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.showAgent(w, r, v, http.StatusBadRequest, badCode)
	}
	if err != nil {
		return err
	}
	dropCookie(w, attemptCookie)
	return h.page(w, http.StatusOK, pages.Done{
		Layout:  v.layout(""),
		Heading: "The agent is in",
		Subject: v.Actor.Workspace.Name,
		Points: []string{
			"It may work in this workspace.", "What it published so far is yours.", "It learns of your answer by itself: you can close this page.",
		},
		Fine:  "You can disconnect it at any time under Connections.",
		Links: []pages.Link{{Path: "/artifacts", Text: "Your artifacts"}, {Path: "/connections", Text: "Connections"}},
	})
}

func (h *Host) denyAgent(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	if err := h.Agents.Refuse(r.Context(), v.Actor, attempt(r)); err != nil {
		return agentOver(err)
	}
	dropCookie(w, attemptCookie)
	return h.page(w, http.StatusOK, denied(v, "The agent will learn of it the next time it asks."))
}

// denied returns the page that confirms a refusal.
func denied(v browserSession, point string) pages.Done {
	return pages.Done{
		Layout:  v.layout(""),
		Heading: "Denied",
		Points:  []string{"Nothing was changed.", point},
		Links:   []pages.Link{{Path: "/dashboard", Text: "Overview"}},
	}
}

// agentOver gives every attempt that cannot be answered the same page.
func agentOver(err error) error {
	if fault.CodeOf(err) != fault.InvalidRequest {
		return err
	}
	return explained{err, pages.Message{
		Heading: "No agent is waiting here",
		Text: "The request may have been answered, replaced by a newer one, or be older than ten minutes. Ask the " +
			"agent for a new link and open it in this browser.",
		Links: []pages.Link{{Path: "/dashboard", Text: "Overview"}},
	}}
}
