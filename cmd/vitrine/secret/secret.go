// Package secret holds texts that must not be printed, and finds secrets in files.
package secret

// Text is a key or token. It prints as a mark of itself; encoding/json and a conversion give its value.
type Text string

// String hides the value.
func (Text) String() string { return "[secret]" }

// GoString hides the value.
func (Text) GoString() string { return "[secret]" }
