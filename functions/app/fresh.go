package app

import (
	"net/url"

	"vitrine/functions/app/pages"
)

// freshParameter asks the provider to authenticate the person again, even in a browser that it knows.
const freshParameter = "fresh"

// freshSignInPath is signInPath with that parameter.
func freshSignInPath(back string) string {
	return "/api/auth/sign-in?" + url.Values{"returnPathname": {back}, freshParameter: {"1"}}.Encode()
}

// signedInLately refuses members who have not just signed in. They sign in again, and return to a page. The refusal is
// a page and not a redirect, because with a provider that does not ask for the password a redirect would loop.
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
