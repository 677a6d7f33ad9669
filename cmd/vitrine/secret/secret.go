// Package secret holds texts that must not be printed, and finds secrets in files.
package secret

import "crypto/subtle"

// Text is a key or token. It prints as a mark of itself; encoding/json and a conversion give its value.
type Text string

// String hides the value.
func (Text) String() string { return "[secret]" }

// GoString hides the value.
func (Text) GoString() string { return "[secret]" }

// Same tells, in a time that does not depend on it, whether a parameter was given exactly once and with this value.
func Same(values []string, want string) bool {
	return len(values) == 1 && subtle.ConstantTimeCompare([]byte(values[0]), []byte(want)) == 1
}
