package engines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// settings let Firefox choose a port and keep it from sending requests of its own. Marionette adds those that it
// recommends for tests.
const settings = `
user_pref("marionette.port", 0);
user_pref("app.normandy.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,#remote-settings-dummy/v1");
user_pref("toolkit.telemetry.enabled", false);
`

// marionette is a connection to Firefox. A message is its length, a colon and JSON.
type marionette struct {
	conn net.Conn
	in   *bufio.Reader
	last int
}

// newFirefox starts Firefox without a display. Each test has one of its own.
func newFirefox(t testing.TB) *session {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it needs a browser")
	}
	profile := folder(t)
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	name := "firefox-esr"
	if _, err := exec.LookPath(name); err != nil {
		name = "firefox" // as other systems call it
	}
	c := exec.Command(name, "--headless", "--marionette", "--no-remote", "--profile", profile)
	c.Env = append(os.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1")
	start(t, "firefox-esr", c)
	m := &marionette{}
	poll(t, "Firefox", func() error {
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err != nil {
			return err
		}
		m.conn, err = net.Dial("tcp4", "127.0.0.1:"+strings.TrimSpace(string(port)))
		return err
	})
	t.Cleanup(func() { m.conn.Close() })
	m.in = bufio.NewReader(m.conn)
	if _, err := m.read(); err != nil { // its greeting
		t.Fatal(err)
	}
	answer, err := m.call("WebDriver:NewSession", map[string]any{
		"pageLoadStrategy":        "none",
		"unhandledPromptBehavior": "accept",
	})
	var session struct {
		Capabilities struct{ BrowserVersion string }
	}
	if err == nil {
		err = json.Unmarshal(answer, &session)
	}
	if err != nil {
		t.Fatalf("a session of Firefox: %v", err)
	}
	return open(t, "firefox", m, session.Capabilities.BrowserVersion)
}

func (m *marionette) send(c command, params map[string]any) (json.RawMessage, error) {
	answer, err := m.call(c.name, params)
	var of struct{ Value json.RawMessage }
	if err == nil {
		err = json.Unmarshal(answer, &of)
	}
	return of.Value, err
}

// call sends [0, id, name, params] and returns the result of [1, id, failure, result].
func (m *marionette) call(name string, params map[string]any) (json.RawMessage, error) {
	m.last++
	text, err := json.Marshal([]any{0, m.last, name, params})
	if err != nil {
		return nil, err
	}
	if err := m.conn.SetDeadline(time.Now().Add(waitTimeout)); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(m.conn, "%d:%s", len(text), text); err != nil {
		return nil, err
	}
	answer, err := m.read()
	if err != nil {
		return nil, err
	}
	var kind, id int
	var wrong *failure
	var result json.RawMessage
	if err := json.Unmarshal(answer, &[]any{&kind, &id, &wrong, &result}); err != nil {
		return nil, err
	}
	if id != m.last {
		return nil, fmt.Errorf("the answer is %d instead of %d", id, m.last)
	}
	if wrong != nil {
		return nil, wrong.err()
	}
	return result, nil
}

func (m *marionette) read() ([]byte, error) {
	size, err := m.in.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(size, ":"))
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(m.in, text)
	return text, err
}
