package main

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/bundle"
	assemblyjobs "vitrine/functions/assembly/jobs"
	"vitrine/functions/jobs"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/limits"
)

// life is a way in which publications end.
type life struct {
	name, title string
	delete      bool // by their owner, after the first step
	steps       []lifeStep
}

// lifeStep is what the jobs do at a time.
type lifeStep struct {
	title string
	after time.Duration // the step before
}

var indexing = lifeStep{"let others find its bytes", limits.UploadPatience}

// lives are the ways in which publications of unclaimed workspaces end.
var lives = []life{
	{
		name:  "expired",
		title: "It expires",
		steps: []lifeStep{
			indexing, {"expire and purge", limits.EphemeralArtifact}, {"delete its bytes", limits.CollectAfter},
		},
	},
	{
		name:   "deleted",
		title:  "Its owner deletes it",
		delete: true,
		steps:  []lifeStep{indexing, {"purge", 0}, {"delete its bytes", limits.CollectAfter}},
	},
}

const dueLegend = `
Artifacts of 3 files that are all due at once. Calls and capacity are of one artifact, with queries that find nothing, a
few for all together, and without what an owner's request to delete takes.
`

func (b *bench) livesCounted() int { return b.atMost(costedFlows) }

// dueRows are the steps of all ways in which publications end. The jobs run in this process.
func (b *bench) dueRows(context.Context) (rows []row, err error) {
	for _, l := range lives {
		rows = append(rows, b.steps(l, b.dueArtifacts)...)
	}
	return rows, nil
}

// ending are publications that end.
type ending struct {
	life
	published []shown
	passed    time.Duration
	names     *totals // calls of the jobs
	jobs      *jobs.Host
}

// steps are a row for each step of the end of publications, and one of all together. Publishing is not measured.
func (b *bench) steps(l life, artifacts int) []row {
	e := &ending{life: l, names: new(totals)}
	all := row{name: l.name, title: l.title + ": all", done: artifacts}
	var rows []row
	for n, step := range l.steps {
		work := func(ctx context.Context, r *row) error {
			if n == 0 {
				if err := b.publishEnding(ctx, e, artifacts); err != nil {
					return err
				}
			}
			r.done = artifacts
			if err := e.take(ctx, step, r); err != nil {
				return err
			}
			all.elapsed += r.elapsed
			all.used = all.used.plus(r.used, 1)
			if l.delete && n == 0 {
				return e.deleteAll(ctx)
			}
			return nil
		}
		rows = append(rows, row{name: l.name, title: l.title + ": " + step.title, run: work})
	}
	all.run = func(_ context.Context, r *row) error {
		r.elapsed, r.used = all.elapsed, all.used
		return nil
	}
	return append(rows, all)
}

// publishEnding publishes artifacts in tables of their own, so that nothing else falls due there.
func (b *bench) publishEnding(ctx context.Context, e *ending, artifacts int) error {
	b.say("publishing %d artifacts: %s", artifacts, e.title)
	if err := b.serve(ctx, "bench-"+e.name); err != nil {
		return err
	}
	perAgent, err := prepare(ctx, b, len(b.agents), func(m *maker) (all []shown) {
		for n := m.n; n < artifacts; n += len(b.agents) { // one after the other in each workspace
			all = append(all, m.show(b.agents[m.n], site()...))
		}
		return all
	})
	if err != nil {
		return err
	}
	e.published = slices.Concat(perAgent...)
	services, err := b.scheduled(func() time.Time { return time.Now().Add(e.passed) }, e.names.name)
	if err != nil {
		return err
	}
	e.jobs = assemblyjobs.Host(services, slog.New(slog.DiscardHandler))
	return nil
}

// take lets the jobs take a step, and counts what that asks of AWS.
func (e *ending) take(ctx context.Context, step lifeStep, r *row) error {
	e.passed += step.after
	began, before := time.Now(), e.names.reading()
	ctx, counts := meter.With(ctx)
	if err := workOff(ctx, e.jobs); err != nil {
		return err
	}
	r.elapsed = time.Since(began)
	r.used = reading{
		Calls:      counts.Calls(),
		RoundTrips: counts.RoundTrips(),
		RRU:        counts.RRU(),
		WRU:        counts.WRU(),
		Names:      e.names.reading().plus(before, -1).Names,
	}
	return nil
}

// deleteAll deletes what was published.
func (e *ending) deleteAll(ctx context.Context) error {
	_, err := each(ctx, len(e.published), func(ctx context.Context, i int) (none struct{}, err error) {
		s := e.published[i]
		return none, asking(s.Agent, http.StatusOK, "DELETE", s.path(""), nil)(ctx, 0)
	})
	return err
}

// workOff wakes the jobs until they end before their time is over, which is when nothing is due any more.
func workOff(ctx context.Context, host *jobs.Host) error {
	for {
		began := time.Now()
		if err := host.Run(ctx); err != nil || time.Since(began) < jobs.Most {
			return err
		}
	}
}

// makeBundles makes the bundles of all revisions that are published, as its function does within a minute.
func (b *bench) makeBundles(ctx context.Context) error {
	services, err := b.scheduled(time.Now)
	if err != nil {
		return err
	}
	return bundle.Host(services, slog.New(slog.DiscardHandler)).Run(ctx)
}

// scheduled are the services of the functions that a schedule wakes, on the engines of the bench.
func (b *bench) scheduled(now func() time.Time, more ...func(*middleware.Stack) error) (*assembly.Services, error) {
	e, at := b.engines, b.anyone.At
	return assembly.Open(assembly.Config{
		Environment: credential.Preview,
		Origins: address.Origins{
			API:     at.APIURL,
			Upload:  at.UploadURL,
			Content: at.ContentURL,
			App:     at.AppURL,
			MCP:     at.MCPURL,
		},
		Tables:           dynamo.Named(b.tables),
		Bucket:           e.Bucket,
		AWS:              e.AWS(),
		DynamoDBEndpoint: e.DynamoDB,
		S3Endpoint:       e.S3,
		S3Domain:         e.S3Domain,
		Limits:           lifted(),
		Now:              now,
		Middleware:       more,
	})
}
