//go:build !linux

package runtime

import "syscall"

// ownGroup keeps a Ctrl-C in the terminal from the process. When we are killed, its Runtime API is gone, which ends it
// as soon as it asks for the next invocation.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
