package engines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

// parentVariable makes this test binary a parent that starts engines and waits
// to be killed.
const parentVariable = "VITRINE_TEST_ENGINE_PARENT"

// family is what the parent prints about its engines.
type family struct {
	WatcherGroup, S3Group int // process groups of the engines
	Temporary             string
}

func TestMain(m *testing.M) {
	if os.Getenv(parentVariable) != "" {
		os.Exit(actAsParent())
	}
	os.Exit(m.Run())
}

func actAsParent() int {
	e, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = json.NewEncoder(os.Stdout).Encode(family{
		WatcherGroup: e.DynamoDBProcess.running.cmd.Process.Pid,
		S3Group:      e.S3Process.running.cmd.Process.Pid,
		Temporary:    e.temporary,
	})
	if err != nil {
		return 1
	}
	select {}
}

func TestNoEngineOutlivesAParentThatIsKilled(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"=1")
	parent.Stderr = os.Stderr
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var f family
	err = json.NewDecoder(stdout).Decode(&f)
	watcher, s3d := membersOf(t, f.WatcherGroup), membersOf(t, f.S3Group)
	if err := errors.Join(err, parent.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // says that it was killed
	if len(watcher) != 2 || len(s3d) != 1 {
		t.Errorf("the engines were %v and %v, want a watcher with Dynoxide, and s3d", watcher, s3d)
	}
	expect.Soon(t, "the engines end", func() bool {
		return len(membersOf(t, f.WatcherGroup))+len(membersOf(t, f.S3Group)) == 0
	})
	expect.Soon(t, "the temporary data goes", func() bool {
		_, err := os.Stat(f.Temporary)
		return errors.Is(err, fs.ErrNotExist)
	})
}

func TestNoDynoxideOutlivesAWatcherThatIsKilled(t *testing.T) {
	e := start(t, Options{})
	watcher := e.DynamoDBProcess.running.cmd.Process
	if err := watcher.Kill(); err != nil {
		t.Fatal(err)
	}
	expect.Soon(t, "Dynoxide ends", func() bool { return len(membersOf(t, watcher.Pid)) == 0 })
}

// membersOf lists the living processes of a process group.
func membersOf(t *testing.T, group int) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var living []string
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		// pid (name) state ppid pgrp …
		var state string
		var parent, pgrp int
		if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent, &pgrp); err != nil {
			t.Fatal(err)
		}
		if pgrp == group && !strings.Contains("ZX", state) {
			living = append(living, string(stat[:bytes.LastIndexByte(stat, ')')+1]))
		}
	}
	return living
}
