package fault_test

import (
	"errors"
	"fmt"

	"vitrine/shared/platform/fault"
)

var errUnreachable = errors.New("connection refused")

// read stands in for a store that does not answer. It reports what the caller can do, and keeps the
// cause for the log.
func read() error {
	return fault.Wrap(fault.DatabaseUnavailable, errUnreachable, "the database does not answer")
}

func Example() {
	err := fmt.Errorf("publish: %w", read())

	fmt.Println("code:   ", fault.CodeOf(err))
	fmt.Println("repeat: ", fault.KindOf(err) == fault.KindUnavailable)
	fmt.Println("shown:  ", fault.Of(err).Message)
	fmt.Println("logged: ", err)
	// Output:
	// code:    database_unavailable
	// repeat:  true
	// shown:   the database does not answer
	// logged:  publish: database_unavailable: the database does not answer: connection refused
}

// An error without a Fault in its chain is Internal, and no part of its text is shown.
func ExampleOf_unclassified() {
	f := fault.Of(errUnreachable)

	fmt.Println(f.Code, f.Message == string(fault.Internal))
	// Output:
	// internal_error true
}
