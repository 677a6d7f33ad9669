package runtime

import "syscall"

// ownGroup keeps a Ctrl-C in the terminal from the process, and lets it end when we are killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
