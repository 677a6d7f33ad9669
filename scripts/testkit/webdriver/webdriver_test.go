package webdriver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"vitrine/scripts/testkit/output"
)

var browsers = map[string]func(testing.TB) *Session{"Firefox": Firefox, "WebKit": WebKit}

// site serves one page that frames another, which has an opaque origin and no scripts of its own.
func site(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<!doctype html><title>outside</title><iframe sandbox="allow-scripts" src="/inside"></iframe>`)
			return
		}
		w.Header().Set("Content-Security-Policy", "script-src 'none'")
		fmt.Fprint(w, `<!doctype html><title>inside</title><p>behind glass</p><script>document.title = "ran"</script>`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAFrameWithAnOpaqueOriginIsRead(t *testing.T) {
	for name, start := range browsers {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.Go(site(t))
			s.Wait(`document.title === "outside"`)
			s.WaitInFrame(`document.readyState === "complete" && document.title === "inside"`)
			s.Wait(`document.title === "outside"`)
			got := Value[[]string](s, `[self.origin, document.body.innerText.trim()]`)
			if got[0] != "null" || got[1] != "behind glass" {
				t.Errorf("the frame is %q", got)
			}
			dir := t.TempDir()
			t.Setenv(output.BuildVariable, dir)
			s.Screenshot("glass")
			if _, err := os.Stat(dir + "/screenshots"); err != nil && name == "Firefox" {
				t.Error(err)
			}
		})
	}
}
