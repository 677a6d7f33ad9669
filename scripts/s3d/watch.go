package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// killAfter is how long a watched command may take to end when it is asked to.
const killAfter = 5 * time.Second

// watch runs the command as a child and ends it when standard input ends. It
// passes SIGINT and SIGTERM on, and the exit code of the command is its own.
func watch(ended <-chan struct{}, command []string) error {
	if len(command) == 0 {
		return errors.New("-watch needs a command: s3d -watch -- COMMAND ARGUMENTS")
	}
	// The kernel's parent-death signal is bound to the thread that starts the
	// child, so that thread has to live as long as the watcher.
	runtime.LockOSThread()
	child := exec.Command(command[0], command[1:]...)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = dieWithParent()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := child.Start(); err != nil {
		return fmt.Errorf("start %s: %w", command[0], err)
	}
	go end(child.Process, ended, signals)
	return exitOf(child.Wait())
}

// end asks the process to end at the first reason to, and kills it when it
// does not.
func end(process *os.Process, ended <-chan struct{}, signals <-chan os.Signal) {
	var asked os.Signal = syscall.SIGTERM
	select {
	case <-ended:
	case asked = <-signals:
	}
	_ = process.Signal(asked) // fails only when the process has ended
	time.Sleep(killAfter)
	_ = process.Kill()
}

// exitOf turns the end of a child into our own exit code.
func exitOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	return exitCode(max(exit.ExitCode(), 1)) // -1 means that a signal ended it
}
