// Package fake has stand-ins of ports that the tests of several packages use.
package fake

// Outcomes are how the next calls of a fake end.
type Outcomes struct {
	Fails  []error // in their order; calls after them succeed
	OnCall func()  // runs in front of each call
}

// Next ends a call.
func (o *Outcomes) Next() (err error) {
	if o.OnCall != nil {
		o.OnCall()
	}
	if len(o.Fails) > 0 {
		err, o.Fails = o.Fails[0], o.Fails[1:]
	}
	return err
}
