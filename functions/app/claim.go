package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

const badClaim = "This claim token does not work: it may be mistyped, expired or already used, or belong to a workspace that is yours."

func (h *Host) claimRoutes() []route {
	return noReferrer(
		route{method: "GET", path: "/claim", handle: timed(h.claimPage)},
		route{method: "POST", path: "/claim", handle: members{form: h.showClaim, back: "/claim"}},
		route{method: "POST", path: "/claim/confirm", handle: members{form: h.claim, back: "/claim"}},
	)
}

// claimPage is also for people who are not signed in. The token is in the fragment, and a script of the page keeps it
// during the sign-in.
func (h *Host) claimPage(w http.ResponseWriter, r *http.Request) error {
	p := pages.Claim{SignIn: signInPath("/claim")}
	switch v, err := h.visitor(r, false); {
	case err == nil:
		p.SignedIn, p.Layout = true, v.layout("")
	case beingDeleted(err):
		redirect(w, deletionPath)
		return nil
	case fault.CodeOf(err) != fault.NotAuthenticated || notAllowed(err):
		return err
	}
	return h.page(w, http.StatusOK, p)
}

// showClaim shows what a claim would move, and changes nothing.
func (h *Host) showClaim(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	token := strings.TrimSpace(form["claim_token"])
	web.RedactSecret(r.Context(), token)
	preview, err := h.Claims.Preview(r.Context(), v.Actor, token)
	if absent(err) {
		return h.badClaim(w, r, v, err)
	}
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.ClaimPreview{
		Layout:          v.layout(""),
		ArtifactSummary: artifactSummary(preview.Titles, preview.Count, limits.ClaimListed),
		CreatedAt:       preview.CreatedAt,
		ExpiresAt:       preview.ExpiresAt,
		Token:           token,
		Once:            once(),
	})
}

func (h *Host) claim(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	token := form["claim_token"]
	web.RedactSecret(r.Context(), token)
	command, err := commandOf(v, idempotency.ClaimWorkspace, "", form["once"], contract.ClaimRequest{ClaimToken: token})
	if err != nil {
		return err
	}
	claimed, err := h.Claims.Claim(r.Context(), v.Actor, command, nil, token)
	if absent(err) {
		return h.badClaim(w, r, v, err)
	}
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, h.claimed(v, claimed))
}

// badClaim gives every token that opens nothing the same page.
func (h *Host) badClaim(w http.ResponseWriter, r *http.Request, v browserSession, err error) error {
	web.Failed(r.Context(), fault.CodeOf(err), err)
	return h.page(w, http.StatusNotFound, pages.Claim{Layout: v.layout(""), SignedIn: true, Error: badClaim})
}

// claimed returns the page that says what a claim changed.
func (h *Host) claimed(v browserSession, c contract.Claimed) pages.Done {
	l, count := h.limits(v), len(c.ArtifactIDs)
	what := fmt.Sprintf("%d artifacts are", count)
	switch {
	case count == 0:
		what = "The workspace, still empty, is"
	case count == 1:
		what = "One artifact is"
	case count >= limits.ClaimListed: // the ids in the answer stop there
		what = "All artifacts are"
	}
	lives := fmt.Sprintf("Instead of %s, artifacts last %s",
		pages.Span(h.Operators.Limits.Tiers[limits.Ephemeral].DefaultLife), pages.Life(l.DefaultLife))
	if l.DefaultLife != l.LongestLife {
		lives += ", or up to " + pages.Life(l.LongestLife) + " if you ask for it"
	}
	done := pages.Done{
		Layout:  v.layout(""),
		Heading: "Claimed",
		Subject: v.Actor.Workspace.Name,
		Points: []string{
			what + " yours now.",
			lives + ".",
			fmt.Sprintf("You can publish %d new artifacts a day, within the limits of your workspace.", l.PerDay),
		},
		Fine: "The key that published them has ended, and nobody got into your workspace with them; links that were " +
			"shared still open.",
		Links: []pages.Link{{Path: "/artifacts", Text: "Your artifacts"}, {Path: "/keys", Text: "API keys"}},
	}
	if v.Actor.Policy.Scripts.Run(false) {
		done.Points = slices.Insert(done.Points, 2, "Scripts inside them run from now on.")
	}
	if count == 1 {
		done.Links[0] = pages.Link{Path: "/artifacts/" + string(c.ArtifactIDs[0]), Text: "Show it"}
	}
	return done
}
