//go:build !linux

package main

import "syscall"

// dieWithParent has no equivalent here; the parent kills the process group.
func dieWithParent() *syscall.SysProcAttr { return nil }
