// Package fault classifies failures by what the caller can do about them and gives each its wire code.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Fault is a failure that may be shown. Message goes to the caller; the cause never does.
type Fault struct {
	Code Code
	// Message is shown to people and agents; it holds no secret, URL or internal detail.
	Message string
	// RetryAfter is how long to wait before trying again; zero sends no header.
	RetryAfter time.Duration

	cause error
}

// New makes a fault with a message for the caller.
func New(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// NewCode makes a fault whose message is its code, for answers that must not reveal more.
func NewCode(code Code) *Fault { return &Fault{Code: code, Message: string(code)} }

// Wrap makes a fault with a cause that is logged but not shown.
func Wrap(code Code, cause error, format string, args ...any) *Fault {
	f := New(code, format, args...)
	f.cause = cause
	return f
}

// After returns a copy of f with a Retry-After.
func (f *Fault) After(wait time.Duration) *Fault {
	g := *f
	g.RetryAfter = wait
	return &g
}

// WithCode returns a copy of f with another code.
func (f *Fault) WithCode(code Code) *Fault {
	g := *f
	g.Code = code
	return &g
}

// Error joins code, message and cause; it is for logs.
func (f *Fault) Error() string {
	s := string(f.Code)
	if f.Message != s {
		s += ": " + f.Message
	}
	if f.cause != nil {
		s += ": " + f.cause.Error()
	}
	return s
}

// Unwrap returns the hidden cause.
func (f *Fault) Unwrap() error { return f.cause }

// Of finds the fault in err. For an error without one it returns an Internal fault that shows no part of err.
func Of(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Code: Internal, Message: string(Internal), cause: err}
}

// CodeOf returns the wire code of err: Internal for an unclassified error, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return Of(err).Code
}

// KindOf returns what the caller of err can do.
func KindOf(err error) Kind { return CodeOf(err).Kind() }
