package main

import (
	"io"
	"strings"
	"testing"

	"vitrine/scripts/internal/restore/journal"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/port"
)

func TestARestoreThatWasNotSwitchedToDoesNotServe(t *testing.T) {
	data := t.TempDir()
	if err := (&journal.Journal{State: journal.Ready}).Write(data); err != nil {
		t.Fatal(err)
	}
	code, said := runToEnd(t, "--data", data)
	if code != 1 || !strings.Contains(said, "scripts/restore switch --data "+data) {
		t.Errorf("exit %d, %q", code, said)
	}
}

func TestTheJobsOfARestoreWaitUntilItIsOpen(t *testing.T) {
	j := &journal.Journal{State: journal.Switched}
	var said strings.Builder
	l := &local{options: options{base: port.Base(t), data: t.TempDir()}, out: &said, log: io.Discard}
	if err := j.Write(l.data); err != nil {
		t.Fatal(err)
	}
	if err := l.start(t.Context()); err != nil {
		t.Error(err, l.stop())
		return
	}
	wait := l.jobsWait
	if !wait() || !strings.Contains(said.String(), "scripts/restore open --expire --data "+l.data) {
		t.Errorf("the jobs wait: %t, and it says %s", wait(), said.String())
	}
	j.State = journal.Open
	expect.OK(t, j.Write(l.data))
	if wait() {
		t.Error("the jobs wait although the restore is open")
	}
	if err := l.stop(); err != nil {
		t.Error(err)
	}
}
