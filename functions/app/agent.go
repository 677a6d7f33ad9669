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

// agentPage moves the token of an attempt from the address into a cookie, so that it stays out of history, referrers
// and logs and is still there after a sign-in.
func (h *Host) agentPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	switch {
	case q.Has("claim_attempt_token"):
		setCookie(w, attemptCookie, cookieSafe(q.Get("claim_attempt_token")), int(limits.AttemptLife/time.Second))
		redirect(w, agentPath)
	case q.Has("claim_token"):
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

// cookieSafe returns a token as a cookie may hold it, and an empty text for what is no token.
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

// showAgent shows who asks; problem is what was wrong with the code.
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

// attempt is the token that the browser came with.
func attempt(r *http.Request) string {
	token := cookie(r, attemptCookie)
	web.RedactSecret(r.Context(), token)
	return token
}

// mark names an attempt on its page without its token, so that an answer is for what the page showed: any link of an
// agent that is opened in the browser replaces the cookie.
func mark(token string) string {
	sum := sha256.Sum256([]byte("page of an attempt\n" + token))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// forThisAttempt serves a form that answers the attempt that the browser came with, and shows that attempt where the form is of
// another one. Without an attempt there is nothing to answer.
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

// denied says that a request was refused.
func denied(v browserSession, point string) pages.Done {
	return pages.Done{
		Layout:  v.layout(""),
		Heading: "Denied",
		Points:  []string{"Nothing was changed.", point},
		Links:   []pages.Link{{Path: "/dashboard", Text: "Overview"}},
	}
}

// agentOver says one thing for every attempt that cannot be answered.
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
