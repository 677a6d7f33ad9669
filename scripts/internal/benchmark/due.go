package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"vitrine/functions/jobs"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/boot"
	"vitrine/shared/boot/bundle"
	bootjobs "vitrine/shared/boot/jobs"
	"vitrine/shared/identity/credential"
)

const dueHead = `| What the jobs do | Seconds | Artifacts/s | AWS calls | RRU | WRU |
|---|--:|--:|--:|--:|--:|
`

const dueLegend = `
%d artifacts of 3 files, all due at once; calls and capacity are of one artifact.
`

// due publishes artifacts and lets the jobs work off everything that falls due of them. The jobs run in this process.
func (b *bench) due(ctx context.Context, stdout io.Writer) error {
	b.say("publishing %d artifacts", b.dueArtifacts)
	publish := publishing(b.agents, site)
	free := make(chan int, manyClients)
	for client := range manyClients {
		free <- client
	}
	_, err := each(ctx, b.dueArtifacts, func(ctx context.Context, _ int) (none struct{}, err error) {
		client := <-free
		defer func() { free <- client }()
		return none, publish(ctx, client)
	})
	if err != nil {
		return err
	}
	var passed time.Duration
	host, err := b.jobs(func() time.Time { return time.Now().Add(passed) }, nil)
	if err != nil {
		return err
	}
	fmt.Fprint(stdout, dueHead)
	for _, step := range lives[0].steps {
		passed += step.after
		b.say("%s", step.title)
		counted, counts := meter.With(ctx)
		began := time.Now()
		if err := workOff(counted, host); err != nil {
			return err
		}
		took, n := time.Since(began).Seconds(), float64(b.dueArtifacts)
		fmt.Fprintf(stdout, "| %s | %.1f | %.0f | %.1f | %.1f | %.1f |\n",
			step.title, took, n/took, float64(counts.Calls())/n, counts.RRU()/n, counts.WRU()/n)
	}
	fmt.Fprintf(stdout, dueLegend+machine, b.dueArtifacts, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// jobs is the host of jobs, on the engines of the bench. Its calls pass through what is added to them, if anything is.
func (b *bench) jobs(now func() time.Time, added addition) (*jobs.Host, error) {
	services, err := b.scheduled(now, added)
	if err != nil {
		return nil, err
	}
	return bootjobs.Host(services, slog.New(slog.DiscardHandler)), nil
}

// makeBundles makes the bundles of all revisions that are published, as its function does within a minute.
func (b *bench) makeBundles(ctx context.Context) error {
	services, err := b.scheduled(time.Now, nil)
	if err != nil {
		return err
	}
	return bundle.Host(services, slog.New(slog.DiscardHandler)).Run(ctx)
}

// scheduled are the services of the functions that a schedule wakes.
func (b *bench) scheduled(now func() time.Time, added addition) (*boot.Services, error) {
	e := b.place.engines
	var middleware []addition
	if added != nil {
		middleware = append(middleware, added)
	}
	return boot.Open(boot.Config{
		Environment:      credential.Preview,
		Origins:          b.hosts.Origins,
		Tables:           dynamo.Named(b.place.tables),
		Bucket:           e.Bucket,
		AWS:              e.AWS(),
		DynamoDBEndpoint: e.DynamoDB,
		S3Endpoint:       e.S3,
		S3Domain:         e.S3Domain,
		Limits:           lifted(),
		Now:              now,
		Middleware:       middleware,
	})
}

// workOff wakes the jobs until they end before their time is over, which is when nothing is due any more.
func workOff(ctx context.Context, host *jobs.Host) error {
	for {
		began := time.Now()
		if err := host.Run(ctx); err != nil {
			return err
		}
		if time.Since(began) < jobs.Most {
			return nil
		}
	}
}
