package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

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

// afterlifeFlows is how many publications a figure is the mean of, unless the options say less.
const afterlifeFlows = 120

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

const afterlifeLegend = `
Each figure is of one publication, the mean of %d that fall due at once. It is without what the owner's request to
delete takes, and with queries that find nothing, a few for all publications together.
`

// afterlives counts what the jobs do with publications, by the way in which these end.
func (b *bench) afterlives(ctx context.Context, stdout io.Writer) error {
	var rows []*row
	for _, l := range lives {
		steps, err := b.ends(ctx, l, b.livesCounted())
		if err != nil {
			return err
		}
		rows = append(rows, steps...)
	}
	printRows(stdout, "Afterlife of a publication of 3 files", []column{calls, rru, wru}, rows...)
	sayMachine(stdout, afterlifeLegend, b.livesCounted())
	return nil
}

func (b *bench) livesCounted() int { return cmp.Or(b.stock, afterlifeFlows) }

// due publishes artifacts and lets the jobs work off everything that falls due of them. The jobs run in this process.
func (b *bench) due(ctx context.Context, stdout io.Writer) error {
	steps, err := b.ends(ctx, lives[0], b.dueArtifacts)
	if err != nil {
		return err
	}
	printRows(stdout, "What the jobs do", []column{seconds, perSecond, calls, rru, wru}, steps...)
	sayMachine(stdout, "%d artifacts of 3 files, all due at once; calls and capacity are of one artifact.", b.dueArtifacts)
	return nil
}

// ends publishes artifacts in tables of its own, so that nothing else falls due there, and returns what each step of
// their end takes, and then all of them together.
func (b *bench) ends(ctx context.Context, l life, artifacts int) ([]*row, error) {
	b.say("publishing %d artifacts: %s", artifacts, l.title)
	b.place.tables += "-" + l.name
	if err := b.serve(ctx); err != nil {
		return nil, err
	}
	if err := b.provision(ctx); err != nil {
		return nil, err
	}
	perAgent, err := prepare(ctx, b, len(b.agents), func(m *maker) (all []shown) {
		for n := m.n; n < artifacts; n += len(b.agents) { // one after the other in each workspace
			all = append(all, m.show(b.agents[m.n], site()...))
		}
		return all
	})
	published := slices.Concat(perAgent...)
	if err != nil {
		return nil, err
	}
	var passed time.Duration
	names := new(totals)
	services, err := b.scheduled(func() time.Time { return time.Now().Add(passed) }, names.name)
	if err != nil {
		return nil, err
	}
	host := assemblyjobs.Host(services, slog.New(slog.DiscardHandler))
	all := &row{title: l.title + ": all", done: artifacts}
	var rows []*row
	for n, step := range l.steps {
		b.say("%s", step.title)
		passed += step.after
		r := &row{title: l.title + ": " + step.title, done: artifacts}
		began, before := time.Now(), names.reading()
		counted, counts := meter.With(ctx)
		if err := workOff(counted, host); err != nil {
			return nil, fmt.Errorf("%s: %w", step.title, err)
		}
		r.elapsed = time.Since(began)
		r.used = readingOf(counts)
		r.used.Names = names.reading().plus(before, -1).Names
		all.elapsed += r.elapsed
		all.used = all.used.plus(r.used, 1)
		rows = append(rows, r)
		if l.delete && n == 0 {
			_, err := each(ctx, len(published), func(ctx context.Context, i int) (none struct{}, err error) {
				return none, asking(published[i].Agent, 200, "DELETE", published[i].path(""), nil)(ctx, 0)
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return append(rows, all), nil
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
func (b *bench) scheduled(now func() time.Time, middleware ...addition) (*assembly.Services, error) {
	e, at := b.place.engines, b.anyone.At
	return assembly.Open(assembly.Config{
		Environment: credential.Preview,
		Origins: address.Origins{
			API:     at.APIURL,
			Upload:  at.UploadURL,
			Content: at.ContentURL,
			App:     at.AppURL,
			MCP:     at.MCPURL,
		},
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
