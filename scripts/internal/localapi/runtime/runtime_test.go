package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/output"
)

// function starts this test binary as a function; change may adjust its configuration.
func function(t *testing.T, change ...func(*Config)) *Function {
	t.Helper()
	c := Config{
		Name:        "obey",
		Program:     os.Args[0],
		Environment: map[string]string{roleVariable: roleFunction, "OWN": "setting"},
		Timeout:     time.Minute,
		MemoryMB:    256,
		Processes:   1,
		Waiting:     8,
		Log:         t.Output(),
	}
	for _, f := range change {
		f(&c)
	}
	f := New(c)
	t.Cleanup(f.Close)
	return f
}

// report is what the function prints about itself.
type report struct {
	PID      int
	Env      []string
	Deadline int64
}

func newReport(t *testing.T, f *Function) report {
	t.Helper()
	answer, err := f.Invoke(t.Context(), command{Do: "tell"}.event())
	if err != nil {
		t.Fatal(err)
	}
	var out report
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func wantFailure(t *testing.T, err error, kind, message string) {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) || f.Type != kind || !strings.Contains(f.Message, message) {
		t.Errorf("got %v, want %s with %q", err, kind, message)
	}
}

func TestAFunctionIsToldWhatLambdaTellsItAndNothingElse(t *testing.T) {
	t.Setenv("OF_THE_RUNNER", "must not leak")
	f := function(t, func(c *Config) { c.Timeout = 28 * time.Second })
	before := time.Now()
	got := newReport(t, f)
	for _, want := range []string{"OWN=setting", "AWS_LAMBDA_FUNCTION_NAME=obey", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
		"_HANDLER=bootstrap", "TZ=:UTC"} {
		if !slices.Contains(got.Env, want) {
			t.Errorf("%q is missing in %q", want, got.Env)
		}
	}
	if all := strings.Join(got.Env, " "); strings.Contains(all, "OF_THE_RUNNER") || strings.Contains(all, "HOME=") {
		t.Errorf("the environment leaks: %q", all)
	}
	if left := time.UnixMilli(got.Deadline).Sub(before); left < 27*time.Second || left > 60*time.Second {
		t.Errorf("the deadline is in %v", left)
	}
}

func TestAProcessIsUsedAgainByACallerThatAsksAtOnceAgain(t *testing.T) {
	for _, processes := range []int{1, 4} { // one would be refused, four would start another
		f := function(t, func(c *Config) { c.Processes, c.Waiting = processes, 0 })
		first := newReport(t, f)
		for range 50 {
			_, err := f.Invoke(t.Context(), command{Do: "fail"}.event())
			wantFailure(t, err, "errorString", "it went wrong")
			if again := newReport(t, f); again.PID != first.PID {
				t.Errorf("process %d follows %d", again.PID, first.PID)
			}
		}
	}
}

func TestAProcessThatEndsFailsItsInvocationAndIsReplaced(t *testing.T) {
	for do, want := range map[string]struct{ kind, message string }{
		"panic": {"string", "on purpose"},
		"exit":  {"Runtime.ExitError", "Runtime exited with error: exit status 3"},
	} {
		t.Run(do, func(t *testing.T) {
			f := function(t)
			first := newReport(t, f)
			_, err := f.Invoke(t.Context(), command{Do: do}.event())
			wantFailure(t, err, want.kind, want.message)
			if second := newReport(t, f); second.PID == first.PID {
				t.Error("the process lives on")
			}
		})
	}
}

// A function ends itself between an answer and its next request; requests that wait go to the next one.
func TestT91AFunctionWithWorkAfterItsAnswerIsReplacedAndNoRequestIsLost(t *testing.T) {
	log := &output.Buffer{}
	f := function(t, func(c *Config) { c.Environment[roleVariable], c.Log = roleLeftover, log })
	event := []byte(`{"httpMethod":"GET","path":"/","requestContext":{"domainName":"content.test","requestId":"1"}}`)
	const requests = 6
	answers := make(chan string, requests)
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			answer, err := f.Invoke(t.Context(), event)
			if err != nil {
				t.Error(err)
			}
			answers <- string(answer)
		})
	}
	all.Wait()
	close(answers)
	seen := map[string]bool{}
	for answer := range answers {
		_, pid, whole := strings.Cut(answer, strings.Repeat("\x00", 8))
		if !whole || pid == "" || seen[pid] {
			t.Errorf("an answer is %q after those of %v", answer, seen)
		}
		seen[pid] = true
	}
	if line := "the function ends"; strings.Count(log.String(), line) < requests-1 { // the last may be about to
		t.Errorf("%q is missing in %s", line, log)
	}
}

func TestAFunctionThatDoesNotStartFailsEveryInvocation(t *testing.T) {
	f := function(t, func(c *Config) { c.Environment[roleVariable] = roleStarts })
	for range 2 {
		_, err := f.Invoke(t.Context(), command{}.event())
		wantFailure(t, err, "Runtime.ExitError", "exit status 4")
	}
	missing := function(t, func(c *Config) { c.Program = "/nowhere/bootstrap" })
	for range 2 {
		_, err := missing.Invoke(t.Context(), command{}.event())
		wantFailure(t, err, "Runtime.InvalidEntrypoint", "/nowhere/bootstrap")
	}
}

func TestAtItsDeadlineAFunctionIsKilled(t *testing.T) {
	f := function(t, func(c *Config) { c.Timeout = time.Second / 2 })
	_, err := f.Invoke(t.Context(), command{Do: "hang"}.event())
	wantFailure(t, err, "Sandbox.Timedout", "Task timed out after 0.50 seconds")
	a, err := f.Stream(t.Context(), command{Do: "stream, hang"}.event())
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(a)
	a.Close()
	wantFailure(t, err, "Sandbox.Timedout", "Task timed out")
	newReport(t, f)
}

func TestNoMoreRunAtOnceThanThereAreProcesses(t *testing.T) {
	f := function(t, func(c *Config) { c.Processes, c.Waiting = 2, 1 })
	g := newGate(t)
	var running sync.WaitGroup
	pids := make(chan string, 3)
	call := func() {
		pid, err := f.Invoke(t.Context(), command{Do: "pass", Gate: g.URL}.event())
		if err != nil {
			t.Error(err)
		}
		pids <- string(pid)
	}
	running.Go(call)
	<-g.arrived
	running.Go(call)
	<-g.arrived
	running.Go(call)
	oneWaits(t, f)
	if _, err := f.Invoke(t.Context(), command{Do: "tell"}.event()); !errors.Is(err, ErrThrottled) {
		t.Errorf("the fourth gets %v", err)
	}
	g.open(3)
	<-g.arrived
	running.Wait()
	used := []string{<-pids, <-pids, <-pids}
	slices.Sort(used)
	if used = slices.Compact(used); len(used) != 2 {
		t.Errorf("processes %s", used)
	}
}

// oneWaits returns when an invocation waits for a process.
func oneWaits(t *testing.T, f *Function) {
	t.Helper()
	expect.Soon(t, "an invocation waits", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.queue) == 1
	})
}

func TestACallerThatLeavesDoesNotStopTheFunction(t *testing.T) {
	f := function(t)
	first := newReport(t, f)
	for _, do := range []string{"pass", "stream"} {
		g := newGate(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		if do == "stream" {
			a, err := f.Stream(ctx, command{Do: do, Gate: g.URL}.event())
			if err != nil {
				t.Fatal(err)
			}
			<-g.arrived
			a.Close()
		} else {
			go func() {
				<-g.arrived
				cancel(gone)
			}()
			if _, err := f.Invoke(ctx, command{Do: do, Gate: g.URL}.event()); !errors.Is(err, gone) {
				t.Errorf("got %v", err)
			}
		}
		cancel(nil)
		g.open(1)
		if again := newReport(t, f); again.PID != first.PID {
			t.Errorf("%s: the process did not go on", do)
		}
	}
}

func TestAnInvocationThatWaitsIsGivenUpWithItsCaller(t *testing.T) {
	f := function(t)
	g := newGate(t)
	var running sync.WaitGroup
	running.Go(func() { f.Invoke(t.Context(), command{Do: "pass", Gate: g.URL}.event()) })
	<-g.arrived
	ctx, cancel := context.WithCancel(t.Context())
	running.Go(func() {
		if _, err := f.Invoke(ctx, command{Do: "exit"}.event()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	oneWaits(t, f)
	cancel()
	g.open(1)
	running.Wait()
	newReport(t, f)
}

func TestWhatAFunctionPrintsIsPassedOnInLines(t *testing.T) {
	out := new(output.Buffer)
	f := function(t, func(c *Config) { c.Log = out })
	_, err := f.Invoke(t.Context(), command{Do: "print"}.event())
	wantFailure(t, err, "Runtime.ExitError", "exit status 0")
	for _, want := range []string{"[obey] to stdout\n", "{\"level\":1}\n", "[obey] to stderr\n", "[obey] and no end\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
}

func TestACloseEndsEverything(t *testing.T) {
	f := function(t)
	g := newGate(t)
	failed := make(chan error)
	call := func() {
		_, err := f.Invoke(t.Context(), command{Do: "pass", Gate: g.URL}.event())
		failed <- err
	}
	go call()
	<-g.arrived
	go call()
	oneWaits(t, f)
	f.Close()
	first, second := <-failed, <-failed
	if errors.Is(first, ErrClosed) {
		first, second = second, first
	}
	wantFailure(t, first, "Runtime.ExitError", "signal: killed")
	if !errors.Is(second, ErrClosed) {
		t.Errorf("what waited got %v", second)
	}
	if _, err := f.Invoke(t.Context(), command{Do: "tell"}.event()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestTheRuntimeAPIRefusesWhatIsNotInvoked(t *testing.T) {
	f := function(t)
	f.mu.Lock()
	p, err := start(f)
	f.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	for _, path := range []string{"response", "error"} {
		w := httptest.NewRecorder()
		p.api().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/2018-06-01/runtime/invocation/other/"+path, nil))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "InvalidRequestID") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// gate is a server that lets functions pass one by one.
type gate struct {
	*httptest.Server
	arrived chan bool
	passes  chan bool
}

func newGate(t *testing.T) *gate {
	g := &gate{arrived: make(chan bool, 10), passes: make(chan bool, 10)}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.arrived <- true
		select {
		case <-g.passes:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gate) open(n int) {
	for range n {
		g.passes <- true
	}
}
