package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/address"
)

// pair is a row that is measured on both sides.
type pair struct {
	name, title string
	clients     int
	sides       [2]row // of this tree, and of the baseline
	rounds      [2][]round
	unserved    error // why the baseline does not serve it
}

func (p *pair) id() string { return fmt.Sprintf("%s/%d", p.name, p.clients) }

// Bounds of what is done before a row is measured, and beyond its time.
const (
	seedTimeout  = 5 * time.Minute
	slotPatience = 30 * time.Second
)

// comparedStock is how much is made in a round for a row that uses something up.
const comparedStock = 96

// attach returns a bench whose hosts are those of the side, with a workspace for each client.
func (s *side) attach(ctx context.Context, o options, stderr io.Writer) (*bench, error) {
	s.client = httpClient(nil)
	anyone, err := wire.Discover(ctx, s.client, s.api)
	if err != nil {
		return nil, err
	}
	o.stock = cmp.Or(o.stock, comparedStock)
	b := &bench{options: o, stderr: stderr, place: s.place, anyone: anyone}
	b.hosts = &hosts{Origins: address.Origins{
		API:     anyone.At.APIURL,
		Upload:  anyone.At.UploadURL,
		Content: anyone.At.ContentURL,
		App:     anyone.At.AppURL,
	}}
	if err := b.openGate(ctx); err != nil {
		return nil, err
	}
	if err := b.provision(ctx); err != nil {
		return nil, err
	}
	return b, b.publish(ctx)
}

// compared prepares the rows of one side.
func (s *side) compared(ctx context.Context, o options, stderr io.Writer) ([]row, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, seedTimeout, fmt.Errorf("seeding takes more than %v", seedTimeout))
	defer cancel()
	b, err := s.attach(ctx, o, stderr)
	if err != nil {
		return nil, err
	}
	prepare := o.compared
	switch {
	case o.all:
		prepare = allCompared
	case prepare == nil:
		prepare = standard.compared
	}
	rows, err := prepare(b, ctx)
	return byClients(rows), err
}

// prepare makes the rows that the command line asks for.
func (c *comparison) prepare(ctx context.Context) error {
	var rows [2][]row
	for n, s := range c.sides {
		c.say("publishing what is read from %s", s.name)
		var err error
		if rows[n], err = s.compared(ctx, c.options, c.stderr); err != nil {
			return s.explain(err)
		}
	}
	for n, this := range rows[0] {
		if c.options.rows.MatchString(this.id()) {
			c.pairs = append(c.pairs, &pair{
				name:    this.name,
				title:   this.title,
				clients: this.clients,
				sides:   [2]row{this, rows[1][n]},
			})
		}
	}
	if c.pairs == nil {
		return fmt.Errorf("no row matches %q", c.options.rows)
	}
	return nil
}

// measure runs all rounds. In each, both sides of a row are measured one after the other, so that other load on the
// machine falls on both. Their order changes from row to row and from round to round.
func (c *comparison) measure(ctx context.Context) error {
	all := time.Duration(2*len(c.pairs)) * (time.Duration(c.baseline.rounds)*c.duration + c.warming())
	c.say("measuring %d rows in %d rounds: about %v, and what it takes to prepare them", len(c.pairs), c.baseline.rounds,
		all.Round(time.Second))
	for _, p := range c.pairs {
		if err := c.warm(ctx, p); err != nil {
			return err
		}
	}
	for number := range c.baseline.rounds {
		for i, p := range c.pairs {
			if p.unserved != nil {
				continue
			}
			first := (number + i) % 2
			for _, n := range []int{first, 1 - first} {
				r, err := c.slot(ctx, p, n, c.duration)
				if err != nil {
					return err
				}
				p.rounds[n] = append(p.rounds[n], r)
			}
			c.say("round %d of %d, %s: %.0f requests/s, %s %.0f", number+1, c.baseline.rounds, p.id(),
				p.rounds[0][number].rate, c.sides[1].name, p.rounds[1][number].rate)
		}
	}
	return nil
}

// warming is how long a row runs before the first round.
func (c *comparison) warming() time.Duration { return c.duration / turns }

// warm runs both sides of a row for a while. A row that the baseline refuses is left out, because it may be older than
// the route; this tree has to serve all.
func (c *comparison) warm(ctx context.Context, p *pair) error {
	for n := range c.sides {
		_, err := c.slot(ctx, p, n, c.warming())
		if err != nil && n == 1 && ctx.Err() == nil && c.sides[n].running() {
			p.unserved = err
			c.say("%s is left out: %v", p.id(), err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// slot measures one side of a row once. What the row uses up is made before.
func (c *comparison) slot(ctx context.Context, p *pair, n int, long time.Duration) (round, error) {
	r, s := p.sides[n], c.sides[n]
	failed := func(err error) (round, error) { return round{}, s.explain(fmt.Errorf("%s: %w", p.id(), err)) }
	if r.stock != nil {
		making, stop := context.WithTimeoutCause(ctx, seedTimeout, fmt.Errorf("preparing takes more than %v", seedTimeout))
		defer stop()
		tasks, err := r.stock(making)
		if err != nil {
			return failed(err)
		}
		r.work = consuming(tasks)
	}
	most := long + slotPatience
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("no end after %v", most))
	defer cancel()
	spentBefore, _ := s.logged.reading()
	if r.stock != nil { // else nothing has come since the last slot
		spentBefore = s.logged.quiet(ctx)
	}
	before, began := s.processes.usage(), time.Now()
	took, err := drive(ctx, p.clients, long, r.work)
	r.took, r.elapsed = took, time.Since(began)
	if err != nil {
		return failed(err)
	}
	return r.round(before, s.processes.usage(), s.logged.quiet(ctx).minus(spentBefore)), nil
}

// round returns what a row measured in one round.
func (r *row) round(before, after usage, used spent) round {
	n := float64(max(len(r.took), 1))
	return round{
		rate:     r.rate(),
		p50:      millis(r.percentile(50)),
		p95:      millis(r.percentile(95)),
		p99:      millis(r.percentile(99)),
		hosts:    millis(after.hosts-before.hosts) / n,
		engines:  millis(after.engines-before.engines) / n,
		resident: megabytes(after.resident),
		calls:    float64(used.Calls) / n,
		rru:      used.RRU / n,
		wru:      used.WRU / n,
	}
}
