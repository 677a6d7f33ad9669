// The driver of Firefox and WebKitGTK in tests, by the commands of W3C WebDriver. WebKit gets them over
// HTTP, and Firefox over Marionette, the protocol that geckodriver speaks to it.

package engines

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"vitrine/scripts/testkit/output"
)

const (
	waitTimeout  = time.Minute           // bounds every wait; a busy machine takes tens of seconds
	pollInterval = 50 * time.Millisecond // between two checks of a condition
)

// command is a command by its name in Marionette and its place below a session of WebDriver.
type command struct{ name, method, path string }

var (
	navigate   = command{"WebDriver:Navigate", "POST", "/url"}
	frame      = command{"WebDriver:SwitchToFrame", "POST", "/frame"}
	execute    = command{"WebDriver:ExecuteScript", "POST", "/execute/sync"}
	screenshot = command{"WebDriver:TakeScreenshot", "GET", "/screenshot"}
)

// driver sends commands to a browser and returns their values.
type driver interface {
	send(command, map[string]any) (json.RawMessage, error)
}

// session is a running browser with one window and an empty profile; its methods fail the test instead of returning
// errors. Conditions and values are JavaScript expressions.
type session struct {
	t      testing.TB
	name   string
	driver driver
}

// Go loads a URL and does not wait for it.
func (s *session) Go(url string) {
	s.t.Helper()
	if _, err := s.driver.send(navigate, map[string]any{"url": url}); err != nil {
		s.t.Fatalf("%s: open %s: %v", s.name, url, err)
	}
}

// Wait waits until an expression is truthy in the page.
func (s *session) Wait(expression string) { s.t.Helper(); s.until(false, expression) }

// WaitInFrame waits until an expression is truthy in the first frame of the page, whatever its origin.
func (s *session) WaitInFrame(expression string) { s.t.Helper(); s.until(true, expression) }

// value returns the value of an expression in the first frame of the page.
func value[T any](s *session, expression string) (out T) {
	s.t.Helper()
	answer, err := s.eval(true, expression)
	if err == nil {
		err = json.Unmarshal(answer, &out)
	}
	if err != nil {
		s.t.Fatalf("%s: %s: %v", s.name, expression, err)
	}
	return out
}

// until checks a condition repeatedly. Errors count as not yet, because a document may be about to be replaced.
func (s *session) until(inside bool, expression string) {
	s.t.Helper()
	var err error
	var answer json.RawMessage
	for end := time.Now().Add(waitTimeout); time.Now().Before(end); <-time.After(pollInterval) {
		if answer, err = s.eval(inside, "!!("+expression+")"); string(answer) == "true" {
			return
		}
	}
	shows, _ := s.eval(inside, "location.href + ': ' + document.body.innerText")
	s.t.Fatalf("%s: waited %s in vain for %s (last error: %v); it shows %.2000s",
		s.name, waitTimeout, expression, err, shows)
}

func (s *session) eval(inside bool, expression string) (json.RawMessage, error) {
	if _, err := s.driver.send(frame, map[string]any{"id": nil}); err != nil {
		return nil, err
	}
	if inside {
		if _, err := s.driver.send(frame, map[string]any{"id": 0}); err != nil {
			return nil, err
		}
	}
	return s.driver.send(execute, map[string]any{"script": "return " + expression, "args": []any{}})
}

// Screenshot saves what the window shows as a picture NAME-BROWSER where pictures are wanted. It only tells of a
// browser that makes none.
func (s *session) Screenshot(name string) {
	s.t.Helper()
	output.Picture(s.t, name+"-"+s.name, func() []byte {
		painted := `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`
		_, _ = s.eval(true, painted)                      // there may be no frame
		if _, err := s.eval(false, painted); err != nil { // ends in the page, of which the picture is
			s.t.Fatalf("%s: %v", s.name, err)
		}
		answer, err := s.driver.send(screenshot, map[string]any{"full": false})
		var picture []byte // base64 in JSON
		if err == nil {
			err = json.Unmarshal(answer, &picture)
		}
		if err != nil {
			s.t.Logf("%s makes no picture %s: %v", s.name, name, err)
		}
		return picture
	})
}

// open begins a session, which tells the browser's version if the test fails.
func open(t testing.TB, name string, d driver, version string) *session {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the browser is %s %s", name, version)
		}
	})
	return &session{t: t, name: name, driver: d}
}

// start starts a program, and ends it and what it started with the test.
func start(t testing.TB, install string, c *exec.Cmd) {
	t.Helper()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatalf("%v: install it with `apt-get install -y %s`", err, install)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait() // it was killed
	})
}

// folder returns a folder for what a browser keeps. It goes with the test, unless a process that was killed still
// writes.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vitrine-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// poll calls f until it succeeds.
func poll(t testing.TB, what string, f func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(waitTimeout); time.Now().Before(end); <-time.After(pollInterval) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatalf("waited %s in vain for %s: %v", waitTimeout, what, err)
}

// failure is what a browser answers to a command that it does not carry out.
type failure struct{ Error, Message string }

func (f failure) err() error { return fmt.Errorf("%s: %s", f.Error, f.Message) }
