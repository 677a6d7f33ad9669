package app

const policyHeader = "Content-Security-Policy"

const (
	// policyNone is for answers that are no documents.
	policyNone = "default-src 'none'; frame-ancestors 'none'"
	// policyPage is for our pages: everything from files of this host, nothing inline.
	policyPage = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// policyViewer is for the viewer of access links: it frames the content origin alone and submits nothing anywhere.
func policyViewer(content string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; frame-src " + content + "; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}

// headers go with every answer; handlers may replace the policies.
var headers = map[string]string{
	"Strict-Transport-Security":    "max-age=31536000; includeSubDomains; preload",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "strict-origin-when-cross-origin",
	"Permissions-Policy":           "accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	policyHeader:                   policyNone,
}
