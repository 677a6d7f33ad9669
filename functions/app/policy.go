package app

import "strings"

const policyHeader = "Content-Security-Policy"

const (
	// policyNone is for answers that are no documents.
	policyNone = "default-src 'none'; frame-ancestors 'none'"
	// policyPage is for our pages: everything from files of this host, nothing inline.
	policyPage = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// policyViewer is for what shows an artifact: it frames the content origin alone and submits nothing anywhere.
func policyViewer(content string) string { return policyShown(content, "'none'") }

// policyLink is for the viewer of access links: its form for browsers without scripts goes to this host.
func policyLink(content string) string { return policyShown(content, "'self'") }

func policyShown(content, forms string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; frame-src " + content + "; form-action " + forms + "; base-uri 'none'; frame-ancestors 'none'"
}

// policyFraming is for pages of ours that frame the content origin.
func policyFraming(content string) string { return policyPage + "; frame-src " + content }

// policyPicturing is for pages of ours that show pictures of the content origin.
func policyPicturing(content string) string {
	return strings.Replace(policyPage, "img-src 'self'", "img-src 'self' "+content, 1)
}

// headers join those of all hosts; handlers may replace the policies.
var headers = map[string]string{
	"Cross-Origin-Resource-Policy": "same-origin",
	policyHeader:                   policyNone,
}
