package main

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// watchWord is the argument with which the program starts itself to watch a command, which follows.
const watchWord = "watch"

// stopTimeout is how long a watched command may take to end when it is asked to: a stack drains its hosts and stops two
// engines.
const stopTimeout = 45 * time.Second

// watch runs a command and ends it when standard input ends, which the kernel does when the parent is killed.
func watch(stdin io.Reader, args []string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, stdin) // an error is an end as well
		if c.Process.Signal(syscall.SIGTERM) == nil {
			time.Sleep(stopTimeout)
			c.Process.Kill()
		}
	}()
	return c.Wait()
}
