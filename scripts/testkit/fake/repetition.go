package fake

import (
	"time"

	"vitrine/shared/platform/idempotency"
)

// Repetition is a command that is sent again, with the records that it may meet.
type Repetition struct {
	Command idempotency.Command
	Done    idempotency.Record // of the command itself, with its result
	Running idempotency.Record // of the command itself
	Other   idempotency.Record // of one with the same key and another body
}

// Repeated returns the repetition of a command that had this result.
func Repeated(result string, until time.Time) Repetition {
	r := Repetition{Command: idempotency.Command{Fingerprint: idempotency.FingerprintOf("POST", "/", nil)}}
	r.Done = idempotency.Record{
		Fingerprint: r.Command.Fingerprint,
		Done:        true,
		Expires:     until,
		Result:      []byte(result),
	}
	r.Running, r.Other = r.Done, r.Done
	r.Running.Done = false
	r.Other.Fingerprint[0]++
	return r
}
