package idempotency

import "time"

// Do runs a command whose stored result is what it answers; see DoWith.
func Do[T any](c Command, r *Record, now time.Time, run func() (T, error)) (T, error) {
	return DoWith(c, r, now, run, func(first T) (T, error) { return first, nil })
}

// DoWith runs a command once: replay answers it from the stored result of its first run, if r holds one or another
// attempt stores one meanwhile, and run does it otherwise. The same key with another request is refused, and so is an
// attempt while another one runs. run has to store the result of type R in the transaction of its changes, and return
// the *AlreadyDone of one that lost against another attempt.
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
