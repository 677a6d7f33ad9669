package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
)

// What is compared, and how far it may grow.
const (
	smallWorkspace = 10
	growthBudget   = 1.3
	growthNoise    = 0.1                // a request: counters are leased by time, so a slow machine leases more of them
	pageSize       = smallWorkspace / 2 // both workspaces fill a page

	countedArtifacts = 10_000 // as far as pages count
)

// How many requests of a kind are made of a workspace.
const (
	growthReads     = 200
	growthPublishes = 10 // each is one more artifact
	growthPages     = 5
)

const growthLegend = `
Times are shown only; the tables are in memory. Pages are those of a member, and count and search up to a bound: they
have no budget. KB are of bodies, not compressed.
`

// growingPages are pages of a member whose cost grows with the workspace, up to a bound.
var growingPages = map[string]string{
	"overview": "/dashboard", "artifacts": "/artifacts", "a search": "/artifacts?q=report&sort=title",
}

// growthRows are requests to a workspace of a member before and after it has many artifacts.
func (b *bench) growthRows(ctx context.Context) (rows []row, err error) {
	m := &maker{bench: b, ctx: ctx}
	w := m.enter("growth@example.org")
	p := m.approve(w, site())
	if m.err != nil {
		return nil, m.err
	}
	f, err := b.openField(ctx, p.ArtifactID)
	if err != nil {
		return nil, err
	}
	owner := b.with(m.createKey(p).Secret)
	add := func(name string, artifacts int, prepare stock) {
		rows = append(rows, row{
			name:  name,
			title: fmt.Sprintf("%s, %d artifacts", name, artifacts),
			whole: true,
			stock: func(ctx context.Context) ([]operation, error) {
				if err := f.grow(ctx, artifacts); err != nil {
					return nil, err
				}
				return prepare(ctx)
			},
		})
	}
	drafts := func(ctx context.Context) ([]operation, error) {
		return prepare(ctx, b, growthPublishes, func(m *maker) operation { return m.draft(owner) })
	}
	list := getting(owner, fmt.Sprint("/v1/artifacts?limit=", pageSize))
	for _, artifacts := range []int{smallWorkspace, b.artifacts} {
		for name, path := range growingPages {
			page := func(ctx context.Context, _ int) error {
				_, err := w.ask(ctx, http.StatusOK, "GET", w.app+path, nil)
				return err
			}
			add(name, min(artifacts, countedArtifacts), repeated(page, growthPages))
			rows[len(rows)-1].optional = true // a busy machine takes too long for it
		}
		add("list", artifacts, repeated(list, growthReads))
		add("agent view", artifacts, repeated(getting(owner, p.path("/agent-view")), growthReads))
		add("content GET", artifacts, repeated(getting(b.anyone, p.RevisionContentURL), growthReads))
		add("publish", artifacts, drafts)
	}
	return rows, m.err
}

// compareGrowth prints each row with few artifacts above the same with many, and fails if calls or capacity grow where
// they must not.
func (b *bench) compareGrowth(w io.Writer, rows []*row) error {
	slices.SortStableFunc(rows, func(x, y *row) int { return cmp.Compare(x.name, y.name) })
	printRows(w, b.columns, rows...)
	fmt.Fprintln(w)
	var over []error
	for n := range len(rows) - 1 {
		few, many := rows[n], rows[n+1]
		if _, free := growingPages[few.name]; free || few.name != many.name {
			continue
		}
		ratio := 0.0
		for _, c := range []column{calls, rru, wru} {
			ratio = max(ratio, grown(c.of(few), c.of(many)))
		}
		text := fmt.Sprintf("%s cost %.2f times as much as %s (budget < %.1f)", many.title, ratio, few.title, growthBudget)
		fmt.Fprintln(w, "- "+text)
		if ratio >= growthBudget {
			over = append(over, errors.New(text))
		}
	}
	return errors.Join(over...)
}

// grown is how many times as much many is as few, or 1 where the difference is noise.
func grown(few, many float64) float64 {
	if math.Abs(many-few) < growthNoise {
		return 1
	}
	return many / few
}
