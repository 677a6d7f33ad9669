package main

import (
	"errors"
	"testing"
)

func TestTheExitCodeOfAWatchedCommandIsOurs(t *testing.T) {
	running := make(chan struct{})
	for name, c := range map[string]struct {
		command []string
		code    exitCode
	}{
		"failure":  {[]string{"sh", "-c", "exit 7"}, 7},
		"a signal": {[]string{"sh", "-c", "kill -KILL $$"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var code exitCode
			if err := watch(running, c.command); !errors.As(err, &code) || code != c.code {
				t.Errorf("got %v, want %v", err, c.code)
			}
		})
	}
	if err := watch(running, []string{"true"}); err != nil {
		t.Errorf("success gives %v", err)
	}
}

func TestAWatchedCommandEndsWhenStandardInputEnds(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	var code exitCode
	if err := watch(ended, []string{"sleep", "600"}); !errors.As(err, &code) {
		t.Errorf("got %v", err)
	}
}

func TestAWatchedCommandThatCannotStartIsAnError(t *testing.T) {
	var code exitCode
	for _, command := range [][]string{nil, {"/does/not/exist"}} {
		if err := watch(nil, command); err == nil || errors.As(err, &code) {
			t.Errorf("%v gives %v", command, err)
		}
	}
}
