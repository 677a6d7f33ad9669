package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vitrine/scripts/internal/benchmark/checkout"
	"vitrine/scripts/testkit/port"
)

func TestAComparisonIsReadFromTheCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want baseline
		time time.Duration
		says string
	}{
		"a commit": {
			args: []string{"-against", "c011a7d"},
			want: baseline{commit: "c011a7d", rounds: 5, base: 8800},
			time: time.Second,
		},
		"all flags": {
			args: []string{"-against", "v1", "-rounds", "9", "-ports", "9000", "-seconds", "2"},
			want: baseline{commit: "v1", rounds: 9, base: 9000},
			time: 2 * time.Second,
		},
		"no commit":   {args: []string{"-against", ""}, says: "name a commit"},
		"no argument": {args: []string{"-against"}, says: "needs an argument"},
		"few rounds":  {args: []string{"-against", "v1", "-rounds", "4"}, says: "-rounds 4 is not between 5 and 100"},
		"many rounds": {args: []string{"-against", "v1", "-rounds", "101"}, says: "-rounds 101 is not between 5 and 100"},
		"high ports":  {args: []string{"-against", "v1", "-ports", "65504"}, says: "not between 1 and 65503"},
		"routes": {
			args: []string{"-against", "v1", "-routes"},
			want: baseline{commit: "v1", rounds: 5, base: 8800},
			time: time.Second,
		},
		"a mix": {
			args: []string{"-mix", "-against", "v1"},
			want: baseline{commit: "v1", rounds: 5, base: 8800},
			time: 5 * time.Second,
		},
		"everything": {
			args: []string{"-all", "-against", "v1"},
			want: baseline{commit: "v1", rounds: 5, base: 8800},
			time: time.Second,
		},
		"a mode that is not served": {args: []string{"-against", "v1", "-growth"}, says: "-growth cannot be compared"},
		"two modes":                 {args: []string{"-against", "v1", "-routes", "-pages"}, says: "only one thing"},
		"a profile":                 {args: []string{"-against", "v1", "-profile", "x"}, says: "cannot profile"},
		"a second commit":           {args: []string{"-against", "v1", "v2"}, says: `"v2" is no option`},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(c.args, io.Discard)
			if c.says == "" && (err != nil || o.baseline != c.want || o.duration != c.time) {
				t.Errorf("got %+v for %v (%v), want %+v for %v", o.baseline, o.duration, err, c.want, c.time)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestNothingStartsForAnUnknownCommit(t *testing.T) {
	o := short(t, "")
	o.baseline = baseline{commit: "nowhere", rounds: minRounds, base: port.Base(t)}
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
			busy := s.base + offset
			l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(busy)))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			err = s.freePorts()
			for _, part := range []string{"port " + strconv.Itoa(busy), "c011a7d", "-ports BASE"} {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
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
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	s.wait()
}

func TestAWatchedCommandEndsWithStandardInput(t *testing.T) {
	var failed *exec.ExitError
	err := watch(strings.NewReader(""), []string{"sleep", "600"})
	if !errors.As(err, &failed) || failed.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("got %v", err)
	}
}

func TestAWatchedCommandMayEndByItself(t *testing.T) {
	open, _ := io.Pipe()
	if err := watch(open, []string{"true"}); err != nil {
		t.Error(err)
	}
}

func TestTheEndOfALongOutputIsKept(t *testing.T) {
	kept := new(tail)
	for n := range 1000 {
		io.WriteString(kept, strconv.Itoa(n)+"\n")
	}
	if got := kept.String(); len(got) != tailBytes || !strings.HasSuffix(got, "\n998\n999\n") {
		t.Errorf("%d bytes are kept: %q", len(got), got)
	}
}

// TestEveryRowIsMeasuredOnBothSides compares a stack with itself.
func TestEveryRowIsMeasuredOnBothSides(t *testing.T) {
	o := short(t, "^(publish|[^p])") // pages take long
	o.duration = time.Millisecond
	o.inMemory = true
	o.stock = 2
	o.baseline.rounds = minRounds
	b := &bench{options: o, stderr: t.Output()}
	if err := b.start(t.Context()); err != nil {
		t.Error(err, b.stop())
		return
	}
	c := &comparison{options: o, stderr: t.Output()}
	c.sides = [2]*side{
		{name: thisTree, api: b.hosts.Origins.API, place: b.place, zips: checkout.Sizes{"api": 2_000_000, "new": 1}},
		{name: "c011a7d", api: b.hosts.Origins.API, place: b.place, zips: checkout.Sizes{"api": 1_000_000, "old": 1}},
	}
	for _, s := range c.sides {
		s.processes, s.lifted = b.running(), true
	}
	if err := c.prepare(t.Context()); err != nil {
		t.Error(err)
	}
	left := c.pairs[0]
	for n := range left.sides {
		left.sides[n].work = asking(b.anyone, 200+n, "GET", b.hosts.Origins.API+"/healthz") // the second is refused
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
		"| api | 2.000 | 1.000 | 2.000 |\n", "| new | 0.000 | – | – |\n", "| old | – | 0.000 | – |\n",
		"GET whoami with 1 client is left out: c011a7d: whoami/1: a request answers 200", limitsCounted,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, p := range c.pairs[1:] {
		for n, rounds := range p.rounds {
			if len(rounds) != minRounds || rounds[0].resident == 0 {
				t.Errorf("%s has rounds %+v on side %d", p.id(), rounds, n)
			}
		}
	}
	leavesNothing(t)
}

func TestTheRequestLogOfAStackIsAddedUp(t *testing.T) {
	var l logSum
	for _, part := range []string{
		"api listens\ntime=1 msg=request bytes=5 aws_calls=3 aws_round_tr", "ips=2 aws_retries=0 rru=2.5 wru=1\n",
		"msg=request aws_calls=1 aws_round_trips=1 aws_retries=0 rru=0 wru=10 workspace=x\nmsg=request aws_calls=9",
	} {
		l.Write([]byte(part))
	}
	want := spent{Calls: 4, RoundTrips: 3, RRU: 2.5, WRU: 11}
	if got := l.quiet(t.Context()); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
