package checkout

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"vitrine/scripts/testkit/expect"
)

const (
	module  = "module vitrine\n\ngo 1.26\n"
	program = "package main\n\nfunc main() { print(\"stack\") }\n"
)

func newTree(t *testing.T, files map[string]string) Tree {
	t.Helper()
	tree := Tree{Dir: t.TempDir()}
	write(t, tree.Dir, files)
	return tree
}

func TestTheStackIsFoundWhereItsCommitHasIt(t *testing.T) {
	for _, folder := range []string{"scripts/internal/local", "scripts/local"} {
		t.Run(folder, func(t *testing.T) {
			tree := newTree(t, map[string]string{"go.mod": module, folder + "/main.go": program})
			file := filepath.Join(t.TempDir(), "local")
			if err := tree.Stack(t.Context(), file, ""); err != nil {
				t.Fatal(err)
			}
			if said, err := exec.Command(file).CombinedOutput(); string(said) != "stack" {
				t.Errorf("it says %q (%v)", said, err)
			}
		})
	}
}

func TestACommitWithoutAStackIsRefused(t *testing.T) {
	err := newTree(t, map[string]string{"go.mod": module}).Stack(t.Context(), "", "")
	expect.Error(t, err, "scripts/internal/local or scripts/local")
}

func TestTheCompilerIsQuoted(t *testing.T) {
	broken := "package main\n\nfunc main() { broken() }\n"
	tree := newTree(t, map[string]string{"go.mod": module, "scripts/local/main.go": broken})
	err := tree.Stack(t.Context(), filepath.Join(t.TempDir(), "local"), "")
	expect.Error(t, err, "main.go:3:15: undefined: broken")
}

const numbers = `package main

import "vitrine/shared/limits"

func numbers() int { return int(limits.Default()) }
`

const lift = `package main

import "vitrine/shared/platform/limits"

func lift(l limits.Limits) limits.Limits { return l + 1 }
`

func TestALiftedStackHasOtherLimits(t *testing.T) {
	tree := newTree(t, map[string]string{
		"go.mod":                  module,
		"scripts/local/main.go":   "package main\n\nfunc main() { print(numbers()) }\n",
		"scripts/local/local.go":  numbers,
		"shared/limits/limits.go": "package limits\n\ntype Limits int\n\nfunc Default() Limits { return 1 }\n",
	})
	overlay, err := tree.Lift(lift, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for overlay, want := range map[string]string{"": "1", overlay: "2"} {
		file := filepath.Join(t.TempDir(), "local")
		if err := tree.Stack(t.Context(), file, overlay); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(file).CombinedOutput(); string(said) != want {
			t.Errorf("it says %q (%v), want %q", said, err, want)
		}
	}
}

func TestAStackWithLimitsOfItsOwnIsNotLifted(t *testing.T) {
	tree := newTree(t, map[string]string{
		"go.mod":                 module,
		"scripts/local/main.go":  program,
		"scripts/local/local.go": "package main\n\nimport _ \"vitrine/shared/limits\"\n",
	})
	if _, err := tree.Lift(lift, t.TempDir()); !errors.Is(err, errLimits) {
		t.Errorf("got %v", err)
	}
}

func TestZipsAreMeasuredByFunctionAlsoWhenTheBuildFails(t *testing.T) {
	const script = `#!/bin/sh
[ "$1 $2 $3" = "-arch amd64 -out" ] || exit 1
printf 12345 >"$4/api.zip"
printf 123 >"$4/jobs.zip"
`
	for end, says := range map[string]string{"": "", "echo too large >&2\nexit 3\n": "too large"} {
		got, err := newTree(t, map[string]string{"scripts/build": script + end}).Zips(t.Context(), t.TempDir())
		if want := (Sizes{"api": 5, "jobs": 3}); !maps.Equal(got, want) || (err == nil) != (says == "") {
			t.Errorf("%v (%v), want %v", got, err, want)
		}
		if says != "" {
			expect.Error(t, err, "exit status 3", says)
		}
	}
}

func TestACancelledBuildEndsWithWhatItHasStarted(t *testing.T) {
	tree := newTree(t, map[string]string{"scripts/build": `#!/bin/sh
sleep 600 &
trap '' TERM
echo >started
wait
echo >ended
`})
	started := filepath.Join(tree.Dir, "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		os.ReadFile(started) // returns when the script has written
	}()
	if _, err := tree.Zips(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(tree.Dir, "ended")); err != nil {
		t.Error("the child of the script was not ended:", err)
	}
}
