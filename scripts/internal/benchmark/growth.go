package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// What is compared, and how far it may grow.
const (
	fewArtifacts = 10
	growthBudget = 1.3
	growthNoise  = 0.1              // a request: counters are leased by time, so a slow machine leases more of them
	pageSize     = fewArtifacts / 2 // both workspaces fill a page
)

// How many requests of a kind are made of a workspace.
const (
	growthReads     = 200
	growthPublishes = 10 // each is one more artifact
)

// growth compares what requests cost in a workspace before and after it has many artifacts.
func (b *bench) growth(ctx context.Context, stdout io.Writer) error {
	s, err := b.sow(ctx)
	if err != nil {
		return err
	}
	var measured [2][]*row
	counts := []int{fewArtifacts, b.artifacts}
	for n, count := range counts {
		began := time.Now()
		b.say("seeding %d artifacts", count-s.grown)
		if err := s.grow(ctx, count); err != nil {
			return err
		}
		b.say("seeded in %.1f s", time.Since(began).Seconds())
		for _, r := range b.growthRows(s) {
			measured[n] = append(measured[n], &r)
			b.say("measuring %s", r.name)
			if err := b.consume(ctx, &r); err != nil {
				return err
			}
		}
	}
	return compareGrowth(stdout, counts, measured)
}

// seeded is a workspace with one published artifact, of which the others are copies.
type seeded struct {
	*field
	agent     *wire.Agent
	published contract.Published
}

func (b *bench) sow(ctx context.Context) (*seeded, error) {
	g, err := b.newAgent(ctx)
	if err != nil {
		return nil, err
	}
	s := &seeded{agent: g}
	if s.published, err = g.PublishFiles(ctx, "Report", "", site()...); err != nil {
		return nil, err
	}
	s.field, err = b.openField(ctx, s.published.ArtifactID)
	return s, err
}

func (b *bench) growthRows(s *seeded) []row {
	artifacts := s.agent.At.APIURL + "/v1/artifacts"
	reads := func(name string, work operation) row {
		return row{name: name, stock: func(ctx context.Context) ([]task, error) {
			tasks := make([]task, growthReads)
			for n := range tasks {
				tasks[n] = once(work)
			}
			return tasks, work(ctx, 0)
		}}
	}
	rows := []row{
		reads("list", asking(s.agent, 200, "GET", fmt.Sprintf("%s?limit=%d", artifacts, pageSize))),
		reads("agent view", asking(s.agent, 200, "GET", artifacts+"/"+string(s.published.ArtifactID)+"/agent-view")),
		reads("content GET", asking(b.anyone, 200, "GET", s.published.RevisionContentURL)),
		{name: "publish", stock: func(ctx context.Context) (tasks []task, err error) {
			drafts, err := b.drafts(ctx, growthPublishes, func(int) *wire.Agent { return s.agent })
			for _, d := range drafts {
				tasks = append(tasks, d.publish)
			}
			return tasks, err
		}},
	}
	for n := range rows {
		rows[n].clients, rows[n].logged = 1, 1
	}
	return rows
}

const growthHead = `| What | Artifacts | AWS calls | RRU | WRU | p50 ms | p99 ms |
|---|--:|--:|--:|--:|--:|--:|
`

// compareGrowth prints both measurements and fails if calls or capacity grow. Times are of this machine and only shown.
func compareGrowth(w io.Writer, counts []int, measured [2][]*row) error {
	fmt.Fprint(w, growthHead)
	var over []error
	for n, few := range measured[0] {
		many := measured[1][n]
		for i, r := range []*row{few, many} {
			fmt.Fprintf(w, "| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f |\n", r.name, counts[i], r.per(float64(r.used.Calls)),
				r.per(r.used.RRU), r.per(r.used.WRU), millis(r.percentile(50)), millis(r.percentile(99)))
		}
		ratio := max(grown(few.per(float64(few.used.Calls)), many.per(float64(many.used.Calls))),
			grown(few.per(few.used.RRU), many.per(many.used.RRU)), grown(few.per(few.used.WRU), many.per(many.used.WRU)))
		fmt.Fprintf(w, "| | ratio | %.2f (budget < %.1f) | | | %.2f | |\n", ratio, growthBudget,
			times(millis(few.percentile(50)), millis(many.percentile(50))))
		if ratio >= growthBudget {
			over = append(over, fmt.Errorf("%s costs %.2f times as much with %d artifacts as with %d; the budget is %.1f",
				few.name, ratio, counts[1], counts[0], growthBudget))
		}
	}
	fmt.Fprintf(w, "\nTimes are shown only; the tables are in memory.\n"+machine, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return errors.Join(over...)
}

// grown is times, or 1 where the difference is noise.
func grown(few, many float64) float64 {
	if math.Abs(many-few) < growthNoise {
		return 1
	}
	return times(few, many)
}

// times is how many times as much b is as a.
func times(a, b float64) float64 {
	if a == b {
		return 1 // also of zero
	}
	return b / a
}
