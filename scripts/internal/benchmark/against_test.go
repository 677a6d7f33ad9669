package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/benchmark/checkout"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/port"
)

func TestNothingStartsForAnUnknownCommit(t *testing.T) {
	o := short(t, "")
	o.commit, o.rounds, o.ports = "nowhere", minRounds, port.Base(t)
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module vitrine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("git", "init", "--quiet", root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	t.Chdir(root)
	err := o.run(t.Context(), t.Output(), t.Output())
	if err == nil || !strings.Contains(err.Error(), `"nowhere" is no commit of this repository`) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, ".vitrine")); left != nil {
		t.Errorf("left behind: %s", left)
	}
}

func TestABusyPortIsNamed(t *testing.T) {
	for name, offset := range map[string]int{"api host": apiOffset, "S3 engine": lastOffset} {
		t.Run(name, func(t *testing.T) {
			s := &side{name: "c011a7d", base: port.Base(t)}
			if err := s.freePorts(); err != nil {
				t.Fatal(err)
			}
			busy := strconv.Itoa(s.base + offset)
			l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", busy))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			expect.Error(t, s.freePorts(), "port "+busy, "c011a7d", "-ports BASE")
		})
	}
}

func TestAStackThatEndsAtOnceIsQuoted(t *testing.T) {
	s := &side{name: "c011a7d", base: port.Base(t)}
	if err := s.run(exec.Command("sh", "-c", "echo no luck today; exit 3")); err != nil {
		t.Fatal(err)
	}
	if err := s.await(t.Context(), s.url(apiOffset)); err == nil || !strings.Contains(err.Error(), "ended at once") {
		t.Errorf("got %v", err)
	}
	err := s.explain(io.ErrUnexpectedEOF)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "no luck today") {
		t.Errorf("got %v", err)
	}
	s.stop()
	s.wait()
}

func TestTheEndOfALongOutputIsKept(t *testing.T) {
	kept := new(totals)
	for n := range 1000 {
		io.WriteString(kept, strconv.Itoa(n)+"\n")
	}
	if got := kept.end(); len(got) != tailBytes || !strings.HasSuffix(got, "\n998\n999\n") {
		t.Errorf("%d bytes are kept: %q", len(got), got)
	}
}

// TestEveryRowIsMeasuredOnBothSides compares a stack with itself.
func TestEveryRowIsMeasuredOnBothSides(t *testing.T) {
	o := short(t, "^(publish|[^p])") // pages take long
	o.duration = time.Millisecond
	o.inMemory = true
	o.stock = 2
	o.rounds = minRounds
	b := &bench{options: o, stderr: t.Output()}
	if err := b.start(t.Context()); err != nil {
		t.Error(err, b.stop())
		return
	}
	c := &comparison{options: o, stderr: t.Output()}
	c.sides = [2]*side{
		{name: thisTree, api: b.anyone.At.APIURL, place: b.place, zips: checkout.Sizes{"api": 2_000_000, "new": 1}},
		{name: "c011a7d", api: b.anyone.At.APIURL, place: b.place, zips: checkout.Sizes{"api": 1_000_000, "old": 1}},
	}
	for _, s := range c.sides {
		s.processes, s.lifted = b.running(), true
	}
	if err := c.prepare(t.Context()); err != nil {
		t.Error(err)
	}
	left := c.pairs[0]
	for n := range left.sides {
		left.sides[n].work = asking(b.anyone, 200+n, "GET", "/healthz", nil) // the second is refused
	}
	if err := errors.Join(c.measure(t.Context()), b.stop()); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c.report(&out)
	t.Log(out.String())
	// On a busy machine a side may answer nothing in a round of a millisecond.
	row := regexp.MustCompile(`(?m)^\| .* \| (1|16)( \| \d+){2}( \| \d+\.\d\d){3} \| ([\d.]+|NaN)–([\d.]+|\+Inf|NaN) ` +
		`\| (slower|unclear|faster|not slower) \|$`)
	if rows := row.FindAllString(out.String(), -1); len(rows) != 25 {
		t.Errorf("%d rows, expected 25", len(rows))
	}
	for _, want := range []string{
		"| api | 2.000 | 1.000 | 2.000 |\n", "| new | 0.000 | 0.000 | – |\n", "| old | 0.000 | 0.000 | – |\n",
		"GET whoami with 1 client is left out: c011a7d: whoami/1: GET http://", limitsCounted,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, p := range c.pairs[1:] {
		for n, rounds := range p.rounds {
			if len(rounds) != minRounds || rounds[0].used.Resident == 0 {
				t.Errorf("%s has rounds %+v on side %d", p.id(), rounds, n)
			}
		}
	}
	leavesNothing(t)
}

func TestTheRequestLogOfAStackIsAddedUp(t *testing.T) {
	var l totals
	for _, part := range []string{
		"api listens\ntime=1 msg=request bytes=5 aws_calls=3 aws_round_tr", "ips=2 aws_retries=0 rru=2.5 wru=1\n",
		"msg=request aws_calls=1 aws_round_trips=1 aws_retries=0 rru=0 wru=10 workspace=x\nmsg=request aws_calls=9",
	} {
		l.Write([]byte(part))
	}
	l.Write([]byte("\n" + `{"msg":"request","bytes":7,"aws_calls":2,"aws_round_trips":1,"rru":1,"wru":0}` + "\n"))
	want := "requests 4, calls 15, round trips 4, RRU 3.5, WRU 11, bytes 12"
	r := l.reading()
	got := fmt.Sprintf("requests %d, calls %d, round trips %d, RRU %v, WRU %v, bytes %d",
		r.Requests, r.Calls, r.RoundTrips, r.RRU, r.WRU, r.Sent)
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
