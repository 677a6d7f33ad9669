package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheStatOfAProcessIsRead(t *testing.T) {
	got, err := parseStat("17 (a) b (c) S 12 17 17 0 -1 4194560 100 0 0 0 250 31 0 0 20 0 1 0 100 1000 10 1\n")
	if want := (processStat{12, 2810 * time.Millisecond, int64(10 * os.Getpagesize())}); err != nil || got != want {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	for _, text := range []string{"", "17 (a) S 12 17", "17 (a) S x" + strings.Repeat(" 1", 22)} {
		if _, err := parseStat(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestDescendantsLeaveOutOneBranch(t *testing.T) {
	start := func() int {
		t.Helper()
		c := exec.Command("sleep", "600")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			c.Process.Kill()
			c.Wait()
		})
		return c.Process.Pid
	}
	kept, left := start(), start()
	all := descendants(os.Getpid(), left)
	if !slices.Contains(all, kept) || slices.Contains(all, left) {
		t.Errorf("%v, want %d and not %d", all, kept, left)
	}
	if u := (processes{hosts: os.Getpid(), engines: all}).usage(); u.resident == 0 {
		t.Errorf("the memory of this process is not known: %+v", u)
	}
}

func TestThePeakOfMemoryIsReadFromTheStatus(t *testing.T) {
	now, _ := statOf(os.Getpid())
	if most, err := peak(os.Getpid()); err != nil || most < now.resident/2 {
		t.Errorf("%d bytes at most (%v), %d now", most, err, now.resident)
	}
	if _, err := peak(0); err == nil {
		t.Error("there is no process 0")
	}
}
