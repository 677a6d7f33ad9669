package harness

import (
	"regexp"
	"testing"
)

// secretForms are the secrets that no log line may hold: credentials, presigned URLs, signed tokens and link blobs.
var secretForms = map[string]*regexp.Regexp{
	"a credential": regexp.MustCompile(
		`ap_[a-z]{2}_(preview|production)_[0-9A-Z]{16}[^\s"]*_[A-Za-z0-9_-]{60,}`,
	),
	"a presigned URL":        regexp.MustCompile(`X-Amz-(Signature|Credential)`),
	"a signed token or blob": regexp.MustCompile(`[A-Za-z0-9_-]{75,}`),
	"an Authorization":       regexp.MustCompile(`(?i)bearer [A-Za-z0-9_-]{20,}`),
}

// loggedRequestID is left out of the scan, because callers may choose the id of a request.
var loggedRequestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// WantNoSecrets scans the log of a deployment for secrets.
func WantNoSecrets(t testing.TB, text string) {
	t.Helper()
	text = loggedRequestID.ReplaceAllLiteralString(text, "")
	for name, form := range secretForms {
		if at := form.FindStringIndex(text); at != nil {
			t.Errorf("T76: the log holds %s, after %q", name, text[max(0, at[0]-120):at[0]])
		}
	}
}
