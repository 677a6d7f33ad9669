package main

import "syscall"

// dieWithParent kills the child when the watcher itself is killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
