package stack

import (
	"context"
	"sync"
	"time"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/bundle"
	"vitrine/functions/assembly/jobs"
	"vitrine/shared/platform/keyring"
)

// JobsEvery is how often the stack looks for due work, bundles among it.
const JobsEvery = time.Second

// startJobs processes due work, as the jobs of a deployment do, until the result is called. Its
// clients are not those of the hosts, so that Options.Middleware does not affect it.
func (s *Stack) startJobs(ctx context.Context, o Options) (stop func(), err error) {
	c, err := config(o, s.Origins, keyring.Set{})
	if err != nil {
		return nil, err
	}
	c.Middleware = nil
	services, err := assembly.Open(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { repeat(ctx, o.held(jobs.Host(services, o.Log.With("host", "jobs")).Run)) })
	running.Go(func() { repeat(ctx, o.held(bundle.Host(services, o.Log.With("host", "bundle")).Run)) })
	return func() {
		cancel()
		running.Wait()
	}, nil
}

// held returns work that is left out as long as the jobs wait.
func (o Options) held(work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if o.JobsWait != nil && o.JobsWait() {
			return nil
		}
		return work(ctx)
	}
}

// repeat runs work every JobsEvery. The work logs its failures, and its next run tries again.
func repeat(ctx context.Context, work func(context.Context) error) {
	tick := time.NewTicker(JobsEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		_ = work(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
