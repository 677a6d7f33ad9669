package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// The users of a mix by what they do, and how many pages they read.
const (
	browsers     = 70
	publishers   = 10
	pollers      = 20
	mixUsers     = browsers + publishers + pollers
	mixPages     = 8
	mixSeconds   = 20
	mixedSeconds = 5 // in a round of -against
)

// mix is what users do at the same time, each one as soon as the answer is there.
type mix struct {
	b     *bench
	reads *http.Client
	pages []mixedPage
	polls []string // paths that every agent may read, of its own artifact
	kinds []*mixKind
}

// mixedPage is a page that is opened by its link.
type mixedPage struct {
	page
	viewer string
	ask    contract.ResolveRequest
}

// mixKind is one kind of users. Their operations are counted together.
type mixKind struct {
	title string
	users int
	do    func(ctx context.Context, user, turn int) error

	mu     sync.Mutex
	row    row
	failed []error
}

// openMix publishes what the users read.
func (b *bench) openMix(ctx context.Context) (*mix, error) {
	m := &mix{b: b, reads: httpClient(nil)}
	m.kinds = []*mixKind{
		{title: "open a page with 20 files by its link", users: browsers, do: m.browse},
		{title: "publish 3 files", users: publishers, do: m.publish},
		{title: "poll: agent view, list or usage policy", users: pollers, do: m.poll},
	}
	var err error
	if m.pages, err = each(ctx, mixPages, func(ctx context.Context, i int) (mixedPage, error) {
		p, err := publishPage(ctx, b.inTurn(i))
		if err != nil {
			return mixedPage{}, err
		}
		public, blob, err := wire.SplitLink(p.link)
		return mixedPage{
			page:   p,
			viewer: b.anyone.At.AppURL + "/al/" + string(public),
			ask:    contract.ResolveRequest{PublicID: public, Blob: blob},
		}, err
	}); err != nil {
		return nil, err
	}
	polled, err := each(ctx, len(b.agents), func(ctx context.Context, i int) (id.Artifact, error) {
		p, err := b.agents[i].PublishFiles(ctx, "Polled", "", site()...)
		return p.ArtifactID, err
	})
	for _, a := range polled {
		m.polls = append(m.polls, "/v1/artifacts/"+string(a)+"/agent-view")
	}
	return m, err
}

// browse opens a page as a browser does: the viewer, what its link shows, and all files.
func (m *mix) browse(ctx context.Context, user, turn int) error {
	p := m.pages[(user+turn)%len(m.pages)]
	if err := asking(m.b.anyone, http.StatusOK, "GET", p.viewer)(ctx, 0); err != nil {
		return err
	}
	var shown contract.Resolved
	a, err := m.b.anyone.Do(ctx, "POST", m.b.anyone.At.AppURL+"/api/access-links/resolve", p.ask)
	if err := unpack(a, err, http.StatusOK, &shown); err != nil {
		return err
	}
	return p.reading(m.reads, shown.IframeSrc)(ctx, 0)
}

func (m *mix) publish(ctx context.Context, user, _ int) error {
	return publishing(m.b.agents, site)(ctx, user%len(m.b.agents))
}

func (m *mix) poll(ctx context.Context, user, turn int) error {
	n := user % len(m.b.agents)
	paths := []string{m.polls[n], "/v1/artifacts", "/v1/usage-policy"}
	g := m.b.agents[n]
	return asking(g, http.StatusOK, "GET", g.At.APIURL+paths[turn%len(paths)])(ctx, 0)
}

// act does the next of one of all users.
func (m *mix) act(ctx context.Context, user, turn int) error {
	for _, k := range m.kinds {
		if user < k.users {
			return k.act(ctx, user, turn)
		}
		user -= k.users
	}
	return fmt.Errorf("there is no user %d more", user)
}

// act measures one operation. One that is cut off because ctx has ended does not count.
func (k *mixKind) act(ctx context.Context, user, turn int) error {
	began := time.Now()
	err := k.do(ctx, user, turn)
	took := time.Since(began)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		k.row.took = append(k.row.took, took)
	case ctx.Err() == nil:
		k.failed = append(k.failed, err)
	}
	return err
}

// operation returns what each of 100 clients does again and again.
func (m *mix) operation() operation {
	turns := make([]int, mixUsers)
	return func(ctx context.Context, client int) error {
		turns[client]++
		return m.act(ctx, client, turns[client])
	}
}

// mixRows is the mix as one row, as -against measures it.
func (b *bench) mixRows(ctx context.Context) ([]row, error) {
	m, err := b.openMix(ctx)
	if err != nil {
		return nil, err
	}
	return []row{{
		name:    "mix",
		title:   fmt.Sprintf("Mix of %d users", mixUsers),
		clients: mixUsers,
		work:    m.operation(),
	}}, nil
}

const mixHead = `| What users do | Users | Operations | Per second | p50 ms | p95 ms | p99 ms | Errors |
|---|--:|--:|--:|--:|--:|--:|--:|
`

const mixSpentHead = `
| Requests/s | AWS calls/s | RRU/s | WRU/s | CPU of the hosts | Of the engines | Resident MB |
|--:|--:|--:|--:|--:|--:|--:|
`

const mixLegend = `
%d users for %v, who go on as soon as the answer is there. A page that is opened is the viewer, its link and
all files, 6 at a time. CPU is in cores. Resident is the memory of the hosts' process at the end.
`

var errMix = errors.New("operations of the mix failed")

// mix measures users who browse, publish and poll at the same time. It fails if any operation does.
func (b *bench) mix(ctx context.Context, stdout io.Writer) error {
	b.say("publishing what users read")
	m, err := b.openMix(ctx)
	if err != nil {
		return err
	}
	b.say("%d users work for %v", mixUsers, b.duration)
	all := &row{logged: 1}
	before, err := b.before(all)
	if err != nil {
		return err
	}
	engines, began := b.running().usage().engines, time.Now()
	m.run(ctx, b.duration)
	elapsed := time.Since(began)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	after, err := b.hosts.quiet()
	if err != nil {
		return err
	}
	fmt.Fprint(stdout, mixHead)
	for _, k := range m.kinds {
		k.row.elapsed = elapsed
		fmt.Fprintln(stdout, k.line())
	}
	used, s := b.running().usage(), after.spent.minus(before.spent)
	each := elapsed.Seconds()
	fmt.Fprintf(stdout, mixSpentHead+"| %.0f | %.0f | %.0f | %.0f | %.2f | %.2f | %.1f |\n",
		float64(after.Requests-before.Requests)/each, float64(s.Calls)/each, s.RRU/each, s.WRU/each,
		(after.CPU-before.CPU).Seconds()/each, (used.engines-engines).Seconds()/each, megabytes(used.resident))
	fmt.Fprintf(stdout, mixLegend, mixUsers, b.duration)
	sayMachine(stdout)
	return m.err()
}

// run lets all users work until the time is over, and each at least once. What is under way then is awaited and counts.
func (m *mix) run(ctx context.Context, long time.Duration) {
	end, act := time.Now().Add(long), m.operation()
	var users sync.WaitGroup
	for n := range mixUsers {
		users.Go(func() {
			for again := true; again && ctx.Err() == nil; again = time.Now().Before(end) {
				_ = act(ctx, n) // its kind keeps the error
			}
		})
	}
	users.Wait()
}

func (k *mixKind) line() string {
	r := &k.row
	return fmt.Sprintf("| %s | %d | %d | %.1f | %.2f | %.2f | %.2f | %d |", k.title, k.users, len(r.took), r.rate(),
		millis(r.percentile(50)), millis(r.percentile(95)), millis(r.percentile(99)), len(k.failed))
}

// err returns the first failure of each kind of users.
func (m *mix) err() error {
	var errs []error
	for _, k := range m.kinds {
		if len(k.failed) > 0 {
			errs = append(errs, fmt.Errorf("%w: %s, %d times, first: %w", errMix, k.title, len(k.failed), k.failed[0]))
		}
	}
	return errors.Join(errs...)
}
