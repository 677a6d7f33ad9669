package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
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
	return options{rows: regexp.MustCompile(rows), duration: 60 * time.Millisecond}
}

func TestRowsSayWhatTheirOperationsTake(t *testing.T) {
	o := short(t, "publish/1$|-4k/1$")
	o.stock = 20
	o.profiles = filepath.Join(t.TempDir(), "profiles")
	var out strings.Builder
	if err := run(t.Context(), o, &out, t.Output()); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	got := regexp.MustCompile(`(?m)^\| (.*) \| 1 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|`).FindAllStringSubmatch(out.String(), -1)
	if len(got) != len(wantRows) {
		t.Fatalf("%d rows, want %d", len(got), len(wantRows))
	}
	for n, want := range wantRows {
		if row := got[n]; row[1] != want.title || !want.calls.holds(row[2]) || !want.rru.holds(row[3]) ||
			!want.wru.holds(row[4]) {
			t.Errorf("calls, RRU and WRU are %q, want %+v", row[1:], want)
		}
	}
	if profiles, _ := filepath.Glob(filepath.Join(o.profiles, "*.pprof")); len(profiles) != 3 {
		t.Errorf("profiles %s", profiles)
	}
	leavesNothing(t)
}

// bounds hold a mean.
type bounds struct{ least, most float64 }

func (b bounds) holds(text string) bool {
	value, err := strconv.ParseFloat(text, 64)
	return err == nil && value >= b.least && value <= b.most
}

// wantRows are what rows take. Of a hot read the hosts may have the file and permits of its counter. Of flows few are
// measured on a busy machine, and what one of them repeats or does for the first time is much of their mean. The journeys
// hold the exact numbers.
var wantRows = []struct {
	title           string
	calls, rru, wru bounds
}{
	{"Content GET, 4 KB, hot", bounds{1, 3}, bounds{2, 2}, bounds{0, 1}},
	{"its three bare calls, 4 KB", bounds{3, 3}, bounds{2, 2}, bounds{1, 1}},
	{"the S3 engine's own GET, 4 KB", bounds{1, 1}, bounds{0, 0}, bounds{0, 0}},
	{"Content GET, 4 KB, cold", bounds{3, 4}, bounds{2, 2.5}, bounds{1, 1}},
	{"Publish flow of 3 files, one key", bounds{8, 20}, bounds{8, 16}, bounds{40, 67}},
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

func leavesNothing(t *testing.T) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}
