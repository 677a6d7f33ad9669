package engines

import (
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// portInUse is the error for a port that was asked for by number.
func portInUse(port int, err error) error {
	return fmt.Errorf("port %d is not free (%w): end the program that listens there, or choose another port", port, err)
}
