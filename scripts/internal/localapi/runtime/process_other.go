//go:build !linux

package runtime

import "syscall"

// ownGroup keeps a Ctrl-C in the terminal from the process. When this process is killed, its
// Runtime API is gone, which ends the function as soon as it requests the next invocation.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
