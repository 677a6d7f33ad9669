package web

import "regexp"

// secrets are the forms in which a secret may appear in an error. Errors of HTTP clients quote whole URLs, and the
// query of a presigned URL is a credential.
var secrets = []struct {
	form  *regexp.Regexp
	stand string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)[ \t]+[^\s"',]+`), "$1 [secret]"},
	{regexp.MustCompile(`ap_[a-z]{2}_[a-z]+_[0-9A-Za-z._-]+`), "[credential]"},
	{regexp.MustCompile(`eyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*`), "[jwt]"},
	{regexp.MustCompile(`//[^/\s"'@]+@`), "//[user]@"},
	{regexp.MustCompile(`/(v|b|r|al|agent-view)/[^\s"'?]+`), "/$1/[token]"},
	{regexp.MustCompile(`\?[^\s"'<>]+`), "?[query]"},
	{regexp.MustCompile(`(?i)\b(x-amz-[a-z-]+)(=|: ?)[^\s&"',]+`), "$1$2[secret]"},
	// the length is that of the shortest secret of the service that may occur by itself
	{regexp.MustCompile(`[0-9A-Za-z_-]{71,}`), "[token]"},
}

const maxCause = 2000 // bytes of an error text in the log

// Redact removes credentials from an error text: query strings, tokens in paths and fragments, credentials and
// authorization headers. It truncates long texts.
func Redact(text string) string {
	for _, s := range secrets {
		text = s.form.ReplaceAllString(text, s.stand)
	}
	if len(text) > maxCause {
		text = text[:maxCause] + "…"
	}
	return text
}
