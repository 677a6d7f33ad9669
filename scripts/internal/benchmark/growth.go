package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// What is compared, and how far it may grow.
const (
	smallWorkspace = 10
	growthBudget   = 1.3
	growthNoise    = 0.1                // a request: counters are leased by time, so a slow machine leases more of them
	pageSize       = smallWorkspace / 2 // both workspaces fill a page
)

// How many requests of a kind are made of a workspace.
const (
	growthReads     = 200
	growthPublishes = 10 // each is one more artifact
)

// growth compares what requests cost in a workspace before and after it has many artifacts.
func (b *bench) growth(ctx context.Context, stdout io.Writer) error {
	if err := b.openGate(ctx); err != nil {
		return err
	}
	m := &maker{bench: b, ctx: ctx}
	owner, _ := m.provision()
	s := m.show(owner, site()...)
	if m.err != nil {
		return m.err
	}
	f, err := b.openField(ctx, s.ArtifactID)
	if err != nil {
		return err
	}
	var measured [2][]*row
	for n, count := range []int{smallWorkspace, b.artifacts} {
		began := time.Now()
		b.say("seeding %d artifacts", count-f.grown)
		if err := f.grow(ctx, count); err != nil {
			return err
		}
		b.say("seeded in %.1f s", time.Since(began).Seconds())
		if measured[n], err = b.growthRows(ctx, s, count); err != nil {
			return err
		}
	}
	return compareGrowth(stdout, measured)
}

func (b *bench) growthRows(ctx context.Context, s shown, artifacts int) (rows []*row, err error) {
	for _, r := range []row{
		{title: "list", stock: repeated(getting(s.Agent, fmt.Sprint("/v1/artifacts?limit=", pageSize)), growthReads)},
		{title: "agent view", stock: repeated(getting(s.Agent, s.path("/agent-view")), growthReads)},
		{title: "content GET", stock: repeated(getting(b.anyone, s.RevisionContentURL), growthReads)},
		{title: "publish", stock: func(ctx context.Context) ([]operation, error) {
			return prepare(ctx, b, growthPublishes, func(m *maker) operation { return m.draft(s.Agent) })
		}},
	} {
		r.title += fmt.Sprintf(", %d artifacts", artifacts)
		if err := b.wholly(ctx, &r); err != nil {
			return nil, err
		}
		rows = append(rows, &r)
	}
	return rows, nil
}

// compareGrowth prints both measurements and fails if calls or capacity grow. Times are of this machine and only shown.
func compareGrowth(w io.Writer, measured [2][]*row) error {
	var all []*row
	for n := range measured[0] {
		all = append(all, measured[0][n], measured[1][n])
	}
	fine := wru
	fine.form = "%.2f"
	printRows(w, "What", []column{calls, rru, fine, latency(50), latency(99)}, all...)
	fmt.Fprintln(w)
	var over []error
	for n, few := range measured[0] {
		ratio, many := 0.0, measured[1][n]
		for _, c := range []column{calls, rru, wru} {
			ratio = max(ratio, grown(c.of(few), c.of(many)))
		}
		text := fmt.Sprintf("%s cost %.2f times as much as %s (budget < %.1f)", many.title, ratio, few.title, growthBudget)
		fmt.Fprintln(w, "- "+text)
		if ratio >= growthBudget {
			over = append(over, errors.New(text))
		}
	}
	sayMachine(w, "Times are shown only; the tables are in memory.")
	return errors.Join(over...)
}

// grown is how many times as much many is as few, or 1 where the difference is noise.
func grown(few, many float64) float64 {
	if math.Abs(many-few) < growthNoise {
		return 1
	}
	return many / few
}
