package install_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// TestTheCLIIsHadWhoeverMaySignIn has a deployment that lets nobody in but its operators, and whose limit is small.
func TestTheCLIIsHadWhoeverMaySignIn(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy.json")
	expect.OK(t, os.WriteFile(policy, []byte(`{"sign_in": "operators", "anonymous": "off", "agents": "off"}`), 0o600))
	e := newEnv(t, func(o *stack.Options) { o.PolicyFile, o.Limits.Download.Limit = policy, 2 })
	at := e.Origins.App + "/cli/" + contract.Release + "/"
	for range 2 {
		answer := e.get(t, at+file.Name)
		to := expect.Value(url.Parse(answer.Header.Get("Location")))(t)
		if answer.StatusCode != http.StatusFound || answer.Header.Get("Cache-Control") != "no-store" ||
			to.Scheme+"://"+to.Host != e.Origins.Upload || to.Path != "/"+file.Path() ||
			to.Query().Get("X-Amz-Expires") > "300" {
			t.Errorf("%s %v", answer.Status, answer.Header)
		}
		if got := e.get(t, to.String()); got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != "application/gzip" {
			t.Errorf("there it is answered with %s %v", got.Status, got.Header)
		}
	}
	if refused := e.get(t, at+file.Name); refused.StatusCode != http.StatusTooManyRequests ||
		refused.Header.Get("Retry-After") == "" {
		t.Errorf("the third is answered with %s %v", refused.Status, refused.Header)
	}
	for range 3 {
		if got := e.get(t, at+release.Checksums); got.StatusCode != http.StatusFound {
			t.Errorf("the checksums are answered with %s", got.Status)
		}
	}
	for _, missing := range []string{"notes.txt", "vitrine_9.9.9_linux_amd64.tar.gz", "../0.0.1/checksums.txt", "%2e%2e/x", ""} {
		if got := e.get(t, at+missing); got.StatusCode != http.StatusNotFound {
			t.Errorf("%q is answered with %s", missing, got.Status)
		}
	}
	windows := e.get(t, e.Origins.App+"/install.ps1")
	text := expect.Body(t, windows)
	expect.Has(t, "install.ps1", text, "$app = '"+e.Origins.App+"'\n", "$version = '"+contract.Release+"'\n",
		"$publish = 'vitrine login, then vitrine publish ./report'\n", "Get-FileHash -Algorithm SHA256")
	if strings.Contains(text, "= @") || strings.Contains(e.script(t), "=@") {
		t.Error("a place in a script is not filled")
	}
}
