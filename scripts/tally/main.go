// Command tally reads the JSON stream of go test, prints one line a package and the output of what failed, and ends
// with "N passed, N failed". Its exit code is 1 if anything failed or nothing ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is a line of `go test -json` (go doc cmd/test2json).
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build failures
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

type tally struct {
	out            io.Writer
	passed, failed int
	held           map[string][]string // output by package and test, until the verdict
}

func main() {
	t := &tally{out: os.Stdout, held: map[string][]string{}}
	if err := t.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
	fmt.Fprintf(t.out, "%d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 || t.passed == 0 {
		os.Exit(1)
	}
}

func (t *tally) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(t.out, lines.Text())
			continue
		}
		t.take(e)
	}
	return lines.Err()
}

func (t *tally) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		t.held[key] = append(t.held[key], e.Output)
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "pass", "skip", "fail":
		t.verdict(e, key)
		delete(t.held, key)
	}
}

// verdict counts tests, not packages; a package that fails without a failed test (build, panic, no engine) counts as one,
// and a skipped test as failed: nothing may be skipped here.
func (t *tally) verdict(e event, key string) {
	bad := e.Action != "pass"
	if e.Test == "" {
		if e.Action == "skip" { // a package without tests
			return
		}
		fmt.Fprintf(t.out, "%-5s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
		if e.Action == "fail" {
			t.failed++
			t.print(key)
		}
		return
	}
	if !bad {
		t.passed++
		t.tell(key)
		return
	}
	t.failed++
	fmt.Fprintf(t.out, "FAIL  %s %s\n", e.Package, e.Test)
	t.print(key)
}

// tell shows what a test that passed has to say: lines that speak of what is still open.
func (t *tally) tell(key string) {
	for _, line := range t.held[key] {
		if strings.Contains(line, "still open") {
			fmt.Fprint(t.out, "note  ", strings.TrimSpace(line), "\n")
		}
	}
}

func (t *tally) print(key string) {
	for _, line := range t.held[key] {
		if !strings.HasPrefix(line, "=== ") {
			fmt.Fprint(t.out, "      ", line)
		}
	}
}
