package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	var got []string
	for _, row := range regexp.MustCompile(`(?m)^\| (.*) \| 1 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|`).FindAllStringSubmatch(out.String(), -1) {
		got = append(got, strings.Join(row[1:], " "))
	}
	want := []string{
		"Content GET, 4 KB, hot 3.00 2.0 1.0", "its three bare calls, 4 KB 3.00 2.0 1.0",
		"the S3 engine's own GET, 4 KB 1.00 0.0 0.0",
		"Content GET, 4 KB, cold 4.00 2.5 1.0", "Publish flow of 3 files, one key 15.00 14.5 61.0",
	}
	if len(got) != len(want) || !slices.Equal(got[:4], want[:4]) || !near(got[4], want[4]) {
		t.Errorf("calls, RRU and WRU are %q, want %q", got, want)
	}
	if profiles, _ := filepath.Glob(filepath.Join(o.profiles, "*.pprof")); len(profiles) != 3 {
		t.Errorf("profiles %s", profiles)
	}
	leavesNothing(t)
}

// near tells whether a row takes what another says, or up to a tenth more RRU and WRU and a third more calls: on a busy
// machine few operations are measured, and what one of them repeats or does for the first time is much of their mean. The
// journeys hold the exact numbers.
func near(got, want string) bool {
	var calls, rru, wru, wantCalls, wantRRU, wantWRU float64
	const form = "Publish flow of 3 files, one key %f %f %f"
	_, err1 := fmt.Sscanf(got, form, &calls, &rru, &wru)
	_, err2 := fmt.Sscanf(want, form, &wantCalls, &wantRRU, &wantWRU)
	return errors.Join(err1, err2) == nil && calls >= wantCalls && calls <= wantCalls*4/3 &&
		rru >= wantRRU && rru <= wantRRU*1.1 && wru >= wantWRU && wru <= wantWRU*1.1
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
