package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"vitrine/shared/platform/contract"
)

// Users of a mix, how many pages they read, and how long.
const (
	mixUsers     = 100
	mixPages     = 8
	mixSeconds   = 20
	mixedSeconds = 5 // in a round of -against
)

// act is what a user does in a turn.
type act func(ctx context.Context, user, turn int) error

// mix is what users do at the same time, each one as soon as the answer is there. Those of a kind follow each other.
type mix struct {
	kinds []row // with the users as their clients
	acts  []act // of each user
	turns []int // of each user

	mu     sync.Mutex
	failed map[int][]error // of each user
}

// mixedPage is a page that is opened by its link.
type mixedPage struct {
	page
	viewer string
	ask    contract.ResolveRequest
}

func (m *mix) add(users int, title string, do act) {
	m.kinds = append(m.kinds, row{title: title, clients: users})
	m.acts = append(m.acts, slices.Repeat([]act{do}, users)...)
}

// openMix publishes what the users read.
func (b *bench) openMix(ctx context.Context) (*mix, error) {
	b.say("publishing what users read")
	pages, err := prepare(ctx, b, mixPages, func(m *maker) (p mixedPage) {
		p.page = m.publishPage()
		p.viewer, p.ask = m.opening(p.link)
		return p
	})
	if err != nil {
		return nil, err
	}
	polled, err := prepare(ctx, b, len(b.agents), (*maker).site)
	m := &mix{turns: make([]int, mixUsers), failed: map[int][]error{}}
	client := httpClient(nil)
	m.add(70, "open a page with 20 files by its link", func(ctx context.Context, user, turn int) error {
		return b.browse(ctx, client, pages[(user+turn)%len(pages)])
	})
	publish := publishing(b.agents, site)
	m.add(10, "publish 3 files", func(ctx context.Context, user, _ int) error { return publish(ctx, user) })
	m.add(20, "poll: agent view, list or usage policy", func(ctx context.Context, user, turn int) error {
		own := polled[user%len(polled)]
		paths := []string{own.path("/agent-view"), "/v1/artifacts", "/v1/usage-policy"}
		return getting(own.Agent, paths[turn%len(paths)])(ctx, 0)
	})
	return m, err
}

// browse opens a page as a browser does: the viewer, what its link shows, and all files.
func (b *bench) browse(ctx context.Context, client *http.Client, p mixedPage) error {
	if err := getting(b.anyone, p.viewer)(ctx, 0); err != nil {
		return err
	}
	resolve := b.anyone.At.AppURL + "/api/access-links/resolve"
	shown, err := answered[contract.Resolved](call(ctx, b.anyone, http.StatusOK, "POST", resolve, p.ask))
	if err != nil {
		return err
	}
	return p.reading(client, shown.IframeSrc)(ctx, 0)
}

// row is the mix as one row. A failure ends it, unless the users are patient.
func (m *mix) row(patient bool) row {
	return row{
		name:    "mix",
		title:   fmt.Sprintf("Mix of %d users", mixUsers),
		clients: mixUsers,
		lines:   unknown,
		work: func(ctx context.Context, user int) error {
			m.turns[user]++
			err := m.acts[user](ctx, user, m.turns[user])
			if err == nil || !patient || ctx.Err() != nil {
				return err
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.failed[user] = append(m.failed[user], err)
			return nil
		},
	}
}

// mixRows is the mix as -against measures it.
func (b *bench) mixRows(ctx context.Context) ([]row, error) {
	m, err := b.openMix(ctx)
	if err != nil {
		return nil, err
	}
	return []row{m.row(false)}, nil
}

const mixLegend = `
%d users for %v, who go on as soon as the answer is there. A page that is opened is the viewer, its link and
all files, 6 at a time. CPU is in cores. Resident is the memory of the hosts' process at the end.
`

// inSecond is a column of what all users take in a second.
func inSecond(title, form string, of func(u reading) float64) column {
	return column{title: title, form: form, of: func(r *row) float64 { return of(r.used) / r.elapsed.Seconds() }}
}

// mixSpent are the columns of what all users take together.
var mixSpent = []column{
	inSecond("Requests/s", "%.0f", func(u reading) float64 { return float64(u.Requests) }),
	inSecond("AWS calls/s", "%.0f", func(u reading) float64 { return float64(u.Calls) }),
	inSecond("RRU/s", "%.0f", func(u reading) float64 { return u.RRU }),
	inSecond("WRU/s", "%.0f", func(u reading) float64 { return u.WRU }),
	inSecond("CPU of the hosts", "%.2f", func(u reading) float64 { return u.CPU.Seconds() }),
	inSecond("Of the engines", "%.2f", func(u reading) float64 { return u.Engines.Seconds() }),
	memoryUsed,
}

// mix measures users who browse, publish and poll at the same time. It fails if any operation does.
func (b *bench) mix(ctx context.Context, stdout io.Writer) error {
	m, err := b.openMix(ctx)
	if err != nil {
		return err
	}
	b.say("%d users work for %v", mixUsers, b.duration)
	all := m.row(true)
	if err := b.turn(ctx, &all, b.duration); err != nil {
		return err
	}
	failed, users := map[string]int{}, clients
	users.title = "Users"
	failures := column{title: "Errors", form: "%.0f", of: func(r *row) float64 { return float64(failed[r.title]) }}
	var kinds []*row
	user := 0
	for _, k := range m.kinds {
		k.add(slices.Concat(all.each[user:user+k.clients]...), all.elapsed, reading{})
		for range k.clients {
			failed[k.title] += len(m.failed[user])
			user++
		}
		kinds = append(kinds, &k)
	}
	columns := []column{users, opCount, perSecond, latency(50), latency(95), latency(99), failures}
	printRows(stdout, "What users do", columns, kinds...)
	fmt.Fprintln(stdout)
	printRows(stdout, "Together", mixSpent, &all)
	sayMachine(stdout, mixLegend, mixUsers, b.duration)
	return m.err()
}

var errMix = errors.New("operations of the mix failed")

// err tells of the operations that failed of one user.
func (m *mix) err() error {
	for user, errs := range m.failed {
		return fmt.Errorf("%w: of %d users, as %d of user %d: %w", errMix, len(m.failed), len(errs), user, errs[0])
	}
	return nil
}
