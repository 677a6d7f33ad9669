//go:build conformance

package conformance

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"vitrine/scripts/journey/harness"
)

// terminal is a program that a person has started at a terminal.
type terminal struct {
	desk     *desk
	command  string
	keyboard io.WriteCloser
	ended    chan struct{}
	err      error // of its end

	mu     sync.Mutex
	screen []byte        // all that it has written
	read   int           // how much of that the person has read
	more   chan struct{} // closed when it has written more
}

// start starts a command at a terminal.
func (d *desk) start(t *testing.T, command string) *terminal {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	leader := filepath.Join(t.TempDir(), "leader")
	run := d.command(ctx, t, "script", "-qec", "echo $$ >"+leader+"; stty rows 40 columns 120; exec "+command, "/dev/null")
	run.Cancel = func() error { // script alone would leave its program behind
		text, err := os.ReadFile(leader)
		if pid, none := strconv.Atoi(strings.TrimSpace(string(text))); errors.Join(err, none) == nil {
			err = syscall.Kill(-pid, syscall.SIGKILL)
		}
		return errors.Join(err, run.Process.Kill())
	}
	s := &terminal{
		desk:     d,
		command:  command,
		keyboard: harness.Must(run.StdinPipe())(t),
		ended:    make(chan struct{}),
		more:     make(chan struct{}),
	}
	run.Stdout, run.Stderr = s, s
	harness.NoError(t, run.Start())
	go func() {
		s.err = run.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		stop()
		<-s.ended
	})
	return s
}

// Write takes what the program writes.
func (s *terminal) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen = append(s.screen, text...)
	close(s.more)
	s.more = make(chan struct{})
	return len(text), nil
}

// escapes are the sequences that move and colour.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?<>=]*[A-Za-z]")

// unread returns what the person has not read, without colours, and what tells that there is more.
func (s *terminal) unread() (text string, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return escapes.ReplaceAllString(string(s.screen[s.read:]), ""), s.more
}

// see reads on until the program has shown a text.
func (s *terminal) see(t *testing.T, text string) {
	t.Helper()
	for over := false; ; {
		screen, more := s.unread()
		if strings.Contains(screen, text) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.read = len(s.screen)
			return
		}
		if over {
			s.fail(t, "does not show "+strconv.Quote(text))
		}
		select {
		case <-more:
		case <-s.ended:
			over = true
		}
	}
}

// fail fails the test and shows how the program has ended.
func (s *terminal) fail(t *testing.T, what string) {
	t.Helper()
	screen, _ := s.unread()
	t.Fatalf("%s %s, and ends with %v:\n%s", s.command, what, s.err, screen[max(0, len(screen)-8000):])
}

// press presses keys.
func (s *terminal) press(t *testing.T, keys string) {
	t.Helper()
	harness.Must(io.WriteString(s.keyboard, keys))(t)
}

// allow lets the person allow in Chromium what the program asks there.
func (s *terminal) allow(t *testing.T) {
	t.Helper()
	select {
	case address := <-s.desk.opened:
		s.desk.allow(t, address)
	case <-s.ended:
		s.fail(t, "opens no browser")
	}
}

// end waits for the end of the program, which has to be a success.
func (s *terminal) end(t *testing.T) {
	t.Helper()
	if <-s.ended; s.err != nil {
		s.fail(t, "does not succeed")
	}
}

// signIn runs a command at a terminal, lets the person allow in Chromium what it asks there, as often as it asks, and
// waits for its end.
func (d *desk) signIn(t *testing.T, times int, command string) {
	t.Helper()
	s := d.start(t, command)
	for range times {
		s.allow(t)
	}
	s.end(t)
}
