// Package secret holds texts that must not be printed.
package secret

import "crypto/subtle"

// Text is a key or token. Printing it hides the value; encoding/json and a conversion to string reveal it.
type Text string

// String hides the value.
func (Text) String() string { return "[secret]" }

// GoString hides the value.
func (Text) GoString() string { return "[secret]" }

// Same reports, in constant time, whether a parameter was given exactly once and with this value.
func Same(values []string, want string) bool {
	return len(values) == 1 && subtle.ConstantTimeCompare([]byte(values[0]), []byte(want)) == 1
}
