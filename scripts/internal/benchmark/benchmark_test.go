package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/expect"
)

// TestMain lets the test binary be the process of the hosts, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == serveWord {
		main()
	}
	os.Exit(m.Run())
}

// short are options for a short run of the rows that match; all data goes below a folder of the test.
func short(t *testing.T, rows string) options {
	t.Setenv("TMPDIR", t.TempDir())
	return options{mode: standard, asked: regexp.MustCompile(rows), duration: 60 * time.Millisecond}
}

func leavesNothing(t *testing.T) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// bounds hold a mean.
type bounds struct{ least, most float64 }

func (b bounds) holds(text string) bool {
	value, err := strconv.ParseFloat(text, 64)
	return err == nil && value >= b.least && value <= b.most
}

// wantRows are the calls, RRU and WRU that rows take. Of a hot read the hosts may have the file and permits of its
// counter. Of flows few are measured on a busy machine, and what one of them repeats or does for the first time is much
// of their mean. The journeys hold the exact numbers.
var wantRows = []struct {
	title string
	takes [3]bounds
}{
	{"Content GET, 4 KB, hot", [3]bounds{{1, 3}, {2, 2}, {0, 1}}},
	{"the same at its own origin", [3]bounds{{1, 3}, {2, 2}, {0, 1}}},
	{"its three bare calls, 4 KB", [3]bounds{{3, 3}, {2, 2}, {1, 1}}},
	{"Content GET, 4 KB, cold", [3]bounds{{3, 4}, {2, 2.5}, {1, 1}}},
	{"Publish flow of 3 files, one key", [3]bounds{{8, 20}, {8, 16}, {40, 67}}},
}

// rowOfOne is a row with 1 client: its title, calls, RRU and WRU.
var rowOfOne = regexp.MustCompile(`(?m)^\| (.*) \| 1 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|`)

func TestRowsSayWhatTheirOperationsTake(t *testing.T) {
	o := short(t, "^publish-flow/1$|-4k/1$")
	o.stock = 20
	o.profiles = filepath.Join(t.TempDir(), "profiles")
	var out strings.Builder
	if err := o.run(t.Context(), &out, t.Output()); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	got := rowOfOne.FindAllStringSubmatch(out.String(), -1)
	if len(got) != len(wantRows) {
		t.Fatalf("%d rows, want %d", len(got), len(wantRows))
	}
	for n, want := range wantRows {
		if got[n][1] != want.title {
			t.Errorf("row %q, want %q", got[n][1], want.title)
		}
		for i, b := range want.takes {
			if !b.holds(got[n][2+i]) {
				t.Errorf("calls, RRU and WRU are %q, want %+v", got[n][1:], want)
			}
		}
	}
	if profiles, _ := filepath.Glob(filepath.Join(o.profiles, "*.pprof")); len(profiles) != 4 {
		t.Errorf("profiles %s", profiles)
	}
	if !regexp.MustCompile(`- own origin, 1 at once: \d+\.\d\d times`).MatchString(out.String()) {
		t.Error("no ratio of an own origin and the shared one")
	}
	leavesNothing(t)
}

func TestAReadIsComparedWithBareCallsOfAsManyClients(t *testing.T) {
	of := func(name string, clients int, took, cpu time.Duration) *row {
		return &row{
			name:    name,
			title:   name,
			clients: clients,
			own:     name == "bare-4k",
			done:    1,
			took:    []time.Duration{took * time.Microsecond},
			used:    reading{CPU: cpu * time.Microsecond},
		}
	}
	bare, hot := of("bare-4k", 1, 1200, 750), of("hot-4k", 1, 550, 390)
	rows := []*row{hot, bare, of("cold-4k", 1, 1500, 1010), of("cold-4k", 16, 9, 9)}
	b, out := &bench{options: options{mode: standard}}, new(strings.Builder)
	b.compareBare(out, rows)
	const want = `
- hot-4k, 1 at once: 0.46 times the time of the bare calls (budget of a cold one: 1.3), -360 µs of CPU (budget: +200)

- cold-4k, 1 at once: 1.25 times the time of the bare calls (budget of a cold one: 1.3), +260 µs of CPU (budget: +200)
`
	if !strings.HasSuffix(out.String(), "|\n"+want) || !strings.Contains(out.String(), "| (0.75) | (0) |") {
		t.Errorf("got %s\nwant %s", out, want)
	}
}

func TestStoppingLeavesNothing(t *testing.T) {
	o := short(t, "content-4k/1$")
	o.duration = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(2*time.Second, cancel) // while it measures, or while it starts
	if err := o.run(ctx, t.Output(), t.Output()); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	leavesNothing(t)
}

// TestTheCommandLineChoosesWhatIsMeasured reads command lines.
func TestTheCommandLineChoosesWhatIsMeasured(t *testing.T) {
	for _, c := range []struct {
		args, mode, commit string
		rounds             int
		time               time.Duration
		says               string
	}{
		{"", "", "", 5, 3 * time.Second, ""},
		{"-routes", "routes", "", 5, 1200 * time.Millisecond, ""},
		{"-live -seconds 2.5", "live", "", 5, 2500 * time.Millisecond, ""},
		{"-against v1", "", "v1", 5, time.Second, ""},
		{"-routes -against v1 -rounds 9 -seconds 2", "routes", "v1", 9, 2 * time.Second, ""},
		{says: "only one thing", args: "-routes -growth"},
		{says: "needs an argument", args: "-against"},
		{says: "-rounds 4: fewer than 5", args: "-against v1 -rounds 4"},
		{says: "too small", args: "-growth -artifacts 19"},
		{says: "-growth cannot be compared", args: "-against v1 -growth"},
		{says: "cannot profile", args: "-against v1 -profile x"},
		{says: `"v2" is no option`, args: "-against v1 v2"},
	} {
		t.Run(c.args, func(t *testing.T) {
			o, err := parse(strings.Fields(c.args), io.Discard)
			if c.says != "" {
				expect.Error(t, err, c.says)
			} else if err != nil || o.flag != c.mode || o.commit != c.commit || o.rounds != c.rounds || o.duration != c.time {
				t.Errorf("got %q against %q in %d rounds of %v (%v)", o.flag, o.commit, o.rounds, o.duration, err)
			}
		})
	}
}

func TestTasksAreDoneOnce(t *testing.T) {
	done := make(chan int, 20)
	var tasks []operation
	for n := range cap(done) {
		tasks = append(tasks, func(context.Context, int) error { done <- n; return nil })
	}
	took, err := drive(t.Context(), 4, time.Minute, consuming(tasks))
	close(done)
	got := map[int]bool{}
	for n := range done {
		got[n] = true
	}
	if err != nil || len(slices.Concat(took...)) != len(tasks) || len(got) != len(tasks) {
		t.Errorf("%d of %d tasks were done in %d operations (%v)", len(got), len(tasks), len(slices.Concat(took...)), err)
	}
}

func TestTheRequestLogIsAddedUp(t *testing.T) {
	var l totals
	for _, part := range []string{
		"api listens\n" + `{"msg":"request","bytes":5,"aws_calls":3,"aws_round_tr`, `ips":2,"rru":2.5,"wru":1}` + "\n",
		`{"bytes":7,"aws_calls":2,"aws_round_trips":1,"rru":1,"wru":10}` + "\n" + `{"msg":"other"}` + "\n" + `{"aws_calls":9`,
	} {
		l.Write([]byte(part))
	}
	r, want := l.reading(), reading{Requests: 2, Calls: 5, RoundTrips: 3, RRU: 3.5, WRU: 11, Sent: 12}
	want.Logged, want.CPU, want.Allocated = r.Logged, r.CPU, r.Allocated
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("the row (-want +got):\n%s", diff)
	}
}
