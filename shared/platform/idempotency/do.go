package idempotency

import "time"

// Do is DoWith for a command that answers with its stored result.
func Do[T any](c Command, r *Record, now time.Time, run func() (T, error)) (T, error) {
	return DoWith(c, r, now, run, func(first T) (T, error) { return first, nil })
}

// DoWith runs a command once. It calls run, unless r holds the stored result of a first run. If r does, or another
// attempt stores its result while run runs, replay answers from that result. DoWith refuses the same key with another
// request, and an attempt while another one runs. run has to store the result of type R in the transaction of its
// changes. It returns the *AlreadyDone of a transaction that lost against another attempt.
func DoWith[R, T any](
	c Command, r *Record, now time.Time, run func() (T, error), replay func(first R) (T, error),
) (T, error) {
	var none T
	if !r.Finished(now) {
		result, err := run()
		if err == nil {
			return result, nil
		}
		if r, err = lost(err, now); err != nil {
			return none, err
		}
	}
	first, err := First[R](r, c)
	if err != nil {
		return none, err
	}
	return replay(first)
}
