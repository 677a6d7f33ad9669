//go:build !linux

package engines

import "net"

// heldPort is a port that was free a moment ago. Only Linux can reserve it for a child; elsewhere a
// lost race appears as errPortTaken and is retried.
type heldPort struct{ number int }

func holdPort(port int) (*heldPort, error) {
	listener, err := net.Listen("tcp4", address(port))
	if err != nil {
		return nil, portInUse(port, err)
	}
	return &heldPort{listener.Addr().(*net.TCPAddr).Port}, listener.Close()
}

func (h *heldPort) release() {}
