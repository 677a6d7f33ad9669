package app

import (
	"net/http"
	"net/url"

	"vitrine/functions/app/pages"
)

// freshParameter asks the sign-in for a person who authenticates anew, also where the provider knows the browser.
const freshParameter = "fresh"

// freshSignInPath is signInPath for what needs a fresh sign-in.
func freshSignInPath(back string) string {
	return "/api/auth/sign-in?" + url.Values{"returnPathname": {back}, freshParameter: {"1"}}.Encode()
}

// freshly lets members through who have just signed in. Others are asked to sign in anew and to begin again at a page.
// It is a page and no redirect, because a provider that does not ask for the password again would send the browser
// around for ever.
func (h *Host) freshly(back string, handle memberHandler) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, v browserSession) error {
		if err := v.Actor.SignedInLately(h.Now()); err != nil {
			return explained{err, pages.Message{
				Heading: "Confirm that it is you",
				Text: "This takes a sign-in of the last 15 minutes. Nothing was done. Sign in once more, and the provider asks " +
					"you to prove who you are; then do it again.",
				Links: []pages.Link{{Path: freshSignInPath(back), Text: "Sign in again"}, {Path: back, Text: "Back"}},
			}}
		}
		return handle(w, r, v)
	}
}
