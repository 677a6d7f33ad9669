package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"vitrine/functions/jobs"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/platform/contract"
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

// worked is what the jobs asked of AWS.
type worked struct {
	spent
	names names
}

func (w *worked) add(o worked) {
	w.spent.add(o.spent)
	if w.names == nil {
		w.names = names{}
	}
	for name, n := range o.names {
		w.names[name] += n
	}
}

const afterlifeHead = `| Afterlife of a publication of 3 files | AWS calls | RRU | WRU |
|---|--:|--:|--:|
`

const afterlifeLegend = `
Each figure is of one publication, the mean of %d that fall due at once. It is without what the owner's request to
delete takes, and with queries that find nothing, a few for all publications together.
`

// afterlives counts what the jobs do with publications, by the way in which these end.
func (b *bench) afterlives(ctx context.Context, stdout io.Writer) error {
	fmt.Fprint(stdout, afterlifeHead)
	for _, l := range lives {
		steps, err := b.live(ctx, l)
		if err != nil {
			return err
		}
		var sum worked
		for n, w := range steps {
			fmt.Fprintln(stdout, b.lifeLine(l.title+": "+l.steps[n].title, w))
			sum.add(w)
		}
		fmt.Fprintln(stdout, b.lifeLine(l.title+": all", sum))
	}
	fmt.Fprintf(stdout, afterlifeLegend, b.flowsOfLife())
	sayMachine(stdout)
	return nil
}

func (b *bench) flowsOfLife() int { return cmp.Or(b.stock, afterlifeFlows) }

func (b *bench) lifeLine(title string, w worked) string {
	n := float64(b.flowsOfLife())
	return fmt.Sprintf("| %s | %.1f | %.1f | %.1f |", title, float64(w.Calls)/n, w.RRU/n, w.WRU/n)
}

// live publishes in tables of its own, so that nothing else falls due there, and returns what each step takes.
func (b *bench) live(ctx context.Context, l life) ([]worked, error) {
	b.say("publishing %d artifacts: %s", b.flowsOfLife(), l.title)
	if err := b.moveTo(ctx, l.name); err != nil {
		return nil, err
	}
	published, err := b.publicationsOfLife(ctx)
	if err != nil {
		return nil, err
	}
	var passed time.Duration
	sum := new(totals)
	host, err := b.jobs(func() time.Time { return time.Now().Add(passed) }, sum.name)
	if err != nil {
		return nil, err
	}
	var steps []worked
	for n, step := range l.steps {
		b.say("%s", step.title)
		passed += step.after
		w, err := work(ctx, host, sum)
		if err == nil && l.delete && n == 0 {
			err = deleteAll(ctx, published)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.title, err)
		}
		steps = append(steps, w)
	}
	return steps, nil
}

// publicationsOfLife publishes 3 files in each of many artifacts, one after the other in each workspace.
func (b *bench) publicationsOfLife(ctx context.Context) ([]shown, error) {
	perAgent, err := each(ctx, len(b.agents), func(ctx context.Context, i int) (out []shown, err error) {
		for n := i; err == nil && n < b.flowsOfLife(); n += len(b.agents) {
			var p contract.Published
			p, err = b.agents[i].PublishFiles(ctx, "Report", "", site()...)
			out = append(out, shown{b.agents[i], p})
		}
		return out, err
	})
	return slices.Concat(perAgent...), err
}

func deleteAll(ctx context.Context, all []shown) error {
	_, err := each(ctx, len(all), func(ctx context.Context, i int) (none struct{}, err error) {
		return none, asking(all[i].Agent, 200, "DELETE", all[i].path(""))(ctx, 0)
	})
	return err
}

// work lets the jobs do what is due and returns what they asked of AWS.
func work(ctx context.Context, host *jobs.Host, sum *totals) (worked, error) {
	before := sum.reading().Names
	counted, counts := meter.With(ctx)
	err := workOff(counted, host)
	return worked{spentOf(counts), sum.reading().Names.minus(before)}, err
}

// moveTo starts the hosts anew on tables of their own, with a workspace for each client.
func (b *bench) moveTo(ctx context.Context, name string) error {
	err := b.hosts.close()
	b.hosts = nil
	if err != nil {
		return err
	}
	b.place.tables, b.agents = b.place.tables+"-"+name, nil
	if err := b.serve(); err != nil {
		return err
	}
	if err := b.openGate(ctx); err != nil {
		return err
	}
	return b.provision(ctx)
}
