package runtime

import "syscall"

// ownGroup keeps a Ctrl-C in the terminal from the process, and ends it when this process is
// killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
