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
	{"its three bare calls, 4 KB", [3]bounds{{3, 3}, {2, 2}, {1, 1}}},
	{"the S3 engine's own GET, 4 KB", [3]bounds{{1, 1}, {0, 0}, {0, 0}}},
	{"Content GET, 4 KB, cold", [3]bounds{{3, 4}, {2, 2.5}, {1, 1}}},
	{"Publish flow of 3 files, one key", [3]bounds{{8, 20}, {8, 16}, {40, 67}}},
}

// rowOfOne is a row with 1 client: its title, calls, RRU and WRU.
var rowOfOne = regexp.MustCompile(`(?m)^\| (.*) \| 1 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|`)

func TestRowsSayWhatTheirOperationsTake(t *testing.T) {
	o := short(t, "publish/1$|-4k/1$")
	o.stock = 20
	o.profiles = filepath.Join(t.TempDir(), "profiles")
	var out strings.Builder
	if err := run(t.Context(), o, &out, t.Output()); err != nil {
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
	if profiles, _ := filepath.Glob(filepath.Join(o.profiles, "*.pprof")); len(profiles) != 3 {
		t.Errorf("profiles %s", profiles)
	}
	leavesNothing(t)
}

func TestStoppingLeavesNothing(t *testing.T) {
	o := short(t, "s3-4k/1$")
	o.duration = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(2*time.Second, cancel) // while it measures, or while it starts
	if err := run(ctx, o, t.Output(), t.Output()); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	leavesNothing(t)
}

// TestTheCommandLineChoosesWhatIsMeasured reads command lines.
func TestTheCommandLineChoosesWhatIsMeasured(t *testing.T) {
	type comparison struct {
		commit        string
		rounds, ports int
	}
	plain, against := comparison{"", 5, 8800}, comparison{"v1", 5, 8800}
	for _, c := range []struct {
		args string
		mode string
		want comparison
		time time.Duration
		says string
	}{
		{"", "", plain, 3 * time.Second, ""},
		{"-routes", "routes", plain, 1200 * time.Millisecond, ""},
		{"-routes -seconds 2", "routes", plain, 2 * time.Second, ""},
		{"-mix", "mix", plain, 20 * time.Second, ""},
		{"-all", "", plain, 0, ""},
		{"-against v1", "", against, time.Second, ""},
		{"-against v1 -rounds 9 -ports 9000 -seconds 2", "", comparison{"v1", 9, 9000}, 2 * time.Second, ""},
		{"-against v1 -routes", "routes", against, time.Second, ""},
		{"-mix -against v1", "mix", against, 5 * time.Second, ""},
		{"-all -against v1", "", against, time.Second, ""},
		{says: "only one thing", args: "-routes -growth"},
		{says: "only one thing", args: "-all -routes"},
		{says: "only one thing", args: "-routes -all"},
		{says: "only one thing", args: "-against v1 -routes -pages"},
		{says: "name a commit", args: "-against="},
		{says: "needs an argument", args: "-against"},
		{says: "-rounds 4 is not between 5 and 100", args: "-against v1 -rounds 4"},
		{says: "-rounds 101 is not between 5 and 100", args: "-against v1 -rounds 101"},
		{says: "not between 1 and 65503", args: "-against v1 -ports 65504"},
		{says: "-growth cannot be compared", args: "-against v1 -growth"},
		{says: "cannot profile", args: "-against v1 -profile x"},
		{says: `"v2" is no option`, args: "-against v1 v2"},
	} {
		t.Run(c.args, func(t *testing.T) {
			o, err := parse(strings.Fields(c.args), io.Discard)
			got := comparison{o.commit, o.rounds, o.ports}
			if c.says == "" && (err != nil || o.flag != c.mode || got != c.want || o.duration != c.time) {
				t.Errorf("got %q, %+v for %v (%v), want %q, %+v for %v", o.flag, got, o.duration, err, c.mode, c.want, c.time)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestAllMeasuresEachModeOnItsOwn(t *testing.T) {
	var flags []string
	for _, m := range inAll() {
		flags = append(flags, m.flag)
	}
	want := []string{"", "pages", "publishes", "mix", "routes", "afterlife", "cost", "memory"}
	if !slices.Equal(flags, want) {
		t.Errorf("%q, want %q", flags, want)
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
