package engines

import "syscall"

// heldPort reserves a port while the engine is away, so that parallel test binaries never collide
// and a restart finds its port again.
type heldPort struct {
	number int
	socket int
}

// holdPort binds the port, or a free one for 0, without listening. Linux then lets a child that
// sets SO_REUSEADDR (Go and Rust do) bind and listen on it, and does not assign it as a free port.
func holdPort(port int) (*heldPort, error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	held := &heldPort{socket: socket}
	if held.number, err = bindLoopback(socket, port); err != nil {
		held.release()
		return nil, portInUse(port, err)
	}
	return held, nil
}

func bindLoopback(socket, port int) (int, error) {
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, err
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	bound, err := syscall.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	return bound.(*syscall.SockaddrInet4).Port, nil
}

// release gives the port back; h may be nil or released.
func (h *heldPort) release() {
	if h != nil && h.socket >= 0 {
		_ = syscall.Close(h.socket)
		h.socket = -1
	}
}
