package app

import (
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/script"
)

const policyHeader = "Content-Security-Policy"

const (
	// policyNone is for answers that are not documents.
	policyNone = "default-src 'none'; frame-ancestors 'none'"
	// policyPage is for pages: they load files of this host alone, and run nothing inline.
	policyPage = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// The hashes of the scripts that stand in viewers.
var earlyHash, openingHash = script.Hash(string(pages.Early)), script.Hash(string(pages.Opening))

// policyViewer is for viewers: they frame the content origin alone, and submit no forms.
func policyViewer(content string) string { return policyShown(content, earlyHash, "'none'") }

// policyMember is for the viewer of members, whose forms go to this host.
func policyMember(content string) string { return policyShown(content, earlyHash, "'self'") }

// policyLink is for the viewers of access links that have a form for browsers without scripts, which goes to this host.
func policyLink(content string) string { return policyShown(content, openingHash, "'self'") }

func policyShown(content, inline, forms string) string {
	return "default-src 'none'; script-src 'self' " + inline + "; style-src 'self'; img-src 'self' data:; " +
		"font-src 'self'; connect-src 'self'; frame-src " + content + "; form-action " + forms +
		"; base-uri 'none'; frame-ancestors 'none'"
}

// policyFraming is for pages that frame the content origin.
func policyFraming(content string) string { return policyPage + "; frame-src " + content }

// policyPicturing is for pages that show images of the content origin.
func policyPicturing(content string) string {
	return strings.Replace(policyPage, "img-src 'self'", "img-src 'self' "+content, 1)
}

// uploading adds to the policy of a page that it sends files to an origin.
func uploading(policy, to string) string {
	return strings.Replace(policy, "connect-src 'self'", "connect-src 'self' "+to, 1)
}

// headers replace or join the headers of all hosts. Handlers may set other policies.
var headers = map[string]string{
	"Cross-Origin-Resource-Policy": "same-origin",
	policyHeader:                   policyNone,
}
