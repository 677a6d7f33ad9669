package oauth

import (
	"strings"
	"testing"

	"vitrine/shared/platform/id"
)

func TestOnlyPlainURLsWithAPathAreDocuments(t *testing.T) {
	for good, host := range map[id.Client]string{
		"https://example.com/c":                             "example.com",
		"https://EXAMPLE.com:443/oauth/client.json":         "example.com",
		"https://claude.ai/oauth/mcp-oauth-client-metadata": "claude.ai",
		"https://example.com/c?v=1":                         "example.com",
		"https://example.com/a/..b/.c/d.":                   "example.com",
		"https://xn--bcher-kva.example/c":                   "xn--bcher-kva.example",
		"https://[2606:4700::1]/c":                          "[2606:4700::1]",
		"http://127.0.0.1:4711/c":                           "127.0.0.1:4711", // the fetcher judges it
	} {
		if documentURL(good) == nil || documentHostOf(good) != host {
			t.Errorf("%s is described at %q", good, documentHostOf(good))
		}
	}
	for _, bad := range []id.Client{
		"", CLI, Dashboard, "oc_0123456789ABCDEFGHJKMNPQRS", "example.com/c", "//example.com/c", "https:/c",
		"https:example.com/c", "https:///c", "https://example.com", "https://example.com/", "https://example.com?c",
		"https://example.com/c#f", "https://example.com/c#", "https://user@example.com/c", "https://user:pw@example.com/c",
		"https://@example.com/c", "https://example.com/./c", "https://example.com/a/../c", "https://example.com/..",
		"https://example.com/%2e%2E/c", "https://example.com/a%2f..%2fc", "https://example.com:/c",
		"https://example.com:x/c", "HTTPS://example.com/c", "ftp://example.com/c", "gopher://example.com/c",
		"file:///c", "javascript://example.com/c", "https://exämple.com/c", "https://example.com\\@evil.example/c",
		"https://exa mple.com/c", "https://example.com/c d", "https://exam%70le.com/c", "https://[fe80::1%25eth0]/c",
		id.Client("https://example.com/" + strings.Repeat("c", maxClientURLBytes)),
	} {
		if documentURL(bad) != nil || documentHostOf(bad) != "" {
			t.Errorf("%q is described at %q", bad, documentHostOf(bad))
		}
	}
}
