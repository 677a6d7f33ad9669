package app

import (
	"net/url"

	"vitrine/functions/app/pages"
)

// freshParameter asks the sign-in for a person who authenticates anew, also where the provider knows the browser.
const freshParameter = "fresh"

// freshSignInPath is signInPath for what needs a fresh sign-in.
func freshSignInPath(back string) string {
	return "/api/auth/sign-in?" + url.Values{"returnPathname": {back}, freshParameter: {"1"}}.Encode()
}

// signedInLately refuses members who have not just signed in, and asks them to sign in again and to begin again at a
// page. It is a page and no redirect, because a provider that does not ask for the password again would send the browser
// around for ever.
func (h *Host) signedInLately(v browserSession, back string) error {
	err := v.Actor.SignedInLately(h.Now())
	if err == nil {
		return nil
	}
	return explained{err, pages.Message{
		Heading: "Confirm that it is you",
		Text: "This takes a sign-in of the last 15 minutes. Nothing was done. Sign in once more, and the provider asks " +
			"you to prove who you are; then do it again.",
		Links: []pages.Link{{Path: freshSignInPath(back), Text: "Sign in again"}, {Path: back, Text: "Back"}},
	}}
}
