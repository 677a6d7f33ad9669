package engines

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/port"
)

// webKit is a session of WebKitWebDriver, by its URL.
type webKit string

// commandTimeout bounds a command of a session, because WebKit never answers some that come while a frame is replaced,
// and some screenshots. The next command is answered.
const commandTimeout = 15 * time.Second

// newWebKit starts WebKitGTK's small browser on a display of its own. Each test has one of its own.
func newWebKit(t testing.TB) *session {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it needs a browser")
	}
	browsers, _ := filepath.Glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
	if len(browsers) == 0 {
		t.Fatal("the small browser of WebKitGTK is missing: install it with `apt-get install -y webkit2gtk-driver`")
	}
	at := strconv.Itoa(port.Base(t) + 1)
	home := folder(t)
	c := exec.Command("WebKitWebDriver", "--port="+at)
	c.Env = append(os.Environ(), "DISPLAY="+display(t), "HOME="+home, "XDG_RUNTIME_DIR="+home, "NO_AT_BRIDGE=1",
		"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1") // the sandbox does not start as root; the pages are those of tests
	start(t, "webkit2gtk-driver", c)
	root := "http://127.0.0.1:" + at
	poll(t, "WebKitWebDriver", func() error {
		_, err := request("GET", root+"/status", nil, commandTimeout)
		return err
	})
	answer, err := request("POST", root+"/session", map[string]any{"capabilities": map[string]any{
		"alwaysMatch": map[string]any{
			"pageLoadStrategy":         "none",
			"unhandledPromptBehavior":  "accept",
			"webkitgtk:browserOptions": map[string]any{"binary": browsers[0], "args": []string{"--automation"}},
		},
	}}, waitTimeout)
	var begun struct {
		SessionID    string
		Capabilities struct{ BrowserVersion string }
	}
	if err == nil {
		err = json.Unmarshal(answer, &begun)
	}
	if err != nil {
		t.Fatalf("a session of WebKit: %v", err)
	}
	return open(t, "webkit", webKit(root+"/session/"+begun.SessionID), begun.Capabilities.BrowserVersion)
}

func (k webKit) send(c command, params map[string]any) (json.RawMessage, error) {
	return request(c.method, string(k)+c.path, params, commandTimeout)
}

func request(method, url string, params map[string]any, timeout time.Duration) (json.RawMessage, error) {
	var body bytes.Buffer
	if method == "POST" {
		if err := json.NewEncoder(&body).Encode(params); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, &body)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var of struct{ Value json.RawMessage }
	if err := json.NewDecoder(answer.Body).Decode(&of); err != nil {
		return nil, fmt.Errorf("%s: %w", answer.Status, err)
	}
	if answer.StatusCode != http.StatusOK {
		var wrong failure
		if err := json.Unmarshal(of.Value, &wrong); err != nil {
			return nil, err
		}
		return nil, wrong.err()
	}
	return of.Value, nil
}

// display starts an X server on a free display and returns its name.
func display(t testing.TB) string {
	t.Helper()
	c := exec.Command("Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, "xvfb", c)
	number, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb names no display: %v", err)
	}
	return ":" + strings.TrimSpace(number)
}
