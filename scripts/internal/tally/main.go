// Command tally reads the JSON stream of go test, prints one line a package, the output of what failed and the slowest
// tests, and ends with "N passed, N failed". Its exit code is 1 if anything failed or nothing ran. By -short it reads
// what go test -short prints.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
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
	short          bool // tests may be left out
	passed, failed int
	leftOut        int
	held           map[test][]string // output until the verdict
	begun          map[test]bool     // what has no verdict yet; false: it waits for others
	times          []timing          // of the tests that ran, without their subtests
}

// test names a test of a package, or with an empty name the package itself.
type test struct{ pkg, name string }

func newTally(out io.Writer) *tally {
	return &tally{
		out:   out,
		held:  map[test][]string{},
		begun: map[test]bool{},
	}
}

func main() {
	t := newTally(os.Stdout)
	flag.BoolVar(&t.short, "short", false, "count tests that are left out by -short, instead of calling them failed")
	flag.Parse()
	if err := t.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
	t.printSlowest()
	if t.short {
		fmt.Fprintf(t.out, "%d tests were left out by -short\n", t.leftOut)
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
	t.end()
	return lines.Err()
}

func (t *tally) take(e event) {
	key := test{e.Package, e.Test}
	switch e.Action {
	case "start", "run", "cont":
		t.begun[key] = true
	case "pause":
		t.begun[key] = false
	case "output":
		t.held[key] = append(t.held[key], e.Output)
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "pass", "skip", "fail":
		t.verdict(e, key)
		delete(t.held, key)
		delete(t.begun, key)
	}
}

// verdict counts tests, not packages; a package that fails without a failed test (build, panic, no engine) counts as
// one, and a skipped test as failed, because nothing may be skipped here but what -short leaves out.
func (t *tally) verdict(e event, key test) {
	bad := e.Action != "pass"
	if e.Test == "" {
		if e.Action == "skip" { // a package without tests
			return
		}
		fmt.Fprintf(t.out, "%-5s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
		if t.isCached(key) {
			t.forget(e.Package)
		}
		if e.Action == "fail" {
			t.failed++
			t.print(t.held[key])
			t.ended(e.Package)
		}
		return
	}
	if e.Action == "skip" && t.short && t.isLeftOut(key) {
		t.leftOut++
		return
	}
	if !strings.Contains(e.Test, "/") {
		t.times = append(t.times, timing{test: key, seconds: e.Elapsed})
	}
	if !bad {
		t.passed++
		return
	}
	t.failed++
	fmt.Fprintf(t.out, "FAIL  %s %s\n", e.Package, e.Test)
	t.print(t.held[key])
}

// isLeftOut reports whether a skipped test says that -short is why.
func (t *tally) isLeftOut(key test) bool {
	return slices.ContainsFunc(t.held[key], func(line string) bool { return strings.Contains(line, "left out by -short") })
}

// ended names the tests that were running when their package was ended, each with its last lines.
func (t *tally) ended(pkg string) {
	var running []string
	for key, runs := range t.begun {
		if key.pkg == pkg && key.name != "" {
			if runs {
				running = append(running, key.name)
			}
			delete(t.begun, key)
		}
	}
	slices.Sort(running)
	for _, name := range running {
		fmt.Fprintf(t.out, "      was running: %s\n", name)
		key := test{pkg, name}
		t.print(excerpt(t.held[key]))
		delete(t.held, key)
	}
}

// end counts packages that began and never ended, because whatever ran them was stopped.
func (t *tally) end() {
	for key := range t.begun {
		if key.name == "" {
			t.failed++
			fmt.Fprintf(t.out, "FAIL  %s was stopped before it ended\n", key.pkg)
			t.ended(key.pkg)
		}
	}
}

// How much is shown of what a test printed before its package was ended.
const (
	maxPanicLines = 30 // from the panic on
	maxLastLines  = 10
)

// excerpt is the beginning of a panic, because the stacks of all goroutines follow it, or else the last lines.
func excerpt(lines []string) []string {
	for n, line := range lines {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return lines[n:min(len(lines), n+maxPanicLines)]
		}
	}
	return lines[max(0, len(lines)-maxLastLines):]
}

func (t *tally) print(lines []string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, "=== ") {
			fmt.Fprint(t.out, "      ", line)
		}
	}
}
