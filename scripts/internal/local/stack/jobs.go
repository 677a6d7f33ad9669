package stack

import (
	"context"
	"time"

	"vitrine/shared/boot"
	"vitrine/shared/boot/jobs"
	"vitrine/shared/platform/keyring"
)

// jobsEvery is how often the stack looks for due work.
const jobsEvery = time.Second

// startJobs processes due work, as the jobs of a deployment do, until the result is called. Its
// clients are not those of the hosts, so that Options.Middleware does not affect it.
func (s *Stack) startJobs(ctx context.Context, o Options) (stop func(), err error) {
	c := config(o, s.Origins, keyring.Set{})
	c.Middleware = nil
	services, err := boot.Open(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		host := jobs.Host(services, o.Log.With("host", "jobs"))
		tick := time.NewTicker(jobsEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			host.Run(ctx) // the function logs failures; the next round tries again
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}, nil
}
