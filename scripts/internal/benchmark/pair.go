package main

import (
	"context"
	"fmt"
	"time"

	"vitrine/scripts/testkit/wire"
)

// pair is a row that is measured on both sides.
type pair struct {
	name, title string
	clients     int
	work        [2]operation // of this tree, and of the baseline
	rounds      [2][]round
}

func (p *pair) id() string { return fmt.Sprintf("%s/%d", p.name, p.clients) }

// probe is a route or a flow of one side.
type probe struct {
	name, title string
	work        operation
}

// Bounds of what is done before a row is measured, and beyond its time.
const (
	seedTimeout  = 5 * time.Minute
	slotPatience = 30 * time.Second
)

// probes publishes what is read, by public routes only, and returns what is measured. Each client publishes in a
// workspace of its own.
func (s *side) probes(ctx context.Context) ([]probe, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, seedTimeout, fmt.Errorf("seeding takes more than %v", seedTimeout))
	defer cancel()
	s.client = httpClient(nil)
	anyone, err := wire.Discover(ctx, s.client, s.api)
	if err != nil {
		return nil, err
	}
	var agents []*wire.Agent
	for range manyClients + 1 {
		agent, _, err := anyone.Provision(ctx)
		if err != nil {
			return nil, err
		}
		agents = append(agents, agent)
	}
	read, err := publishRead(ctx, agents[0])
	if err != nil {
		return nil, err
	}
	shelf, err := fillShelf(ctx, anyone, agents[manyClients])
	if err != nil {
		return nil, err
	}
	owner, api := shelf.owner, anyone.At.APIURL
	view := api + "/v1/artifacts/" + string(shelf.published.ArtifactID) + "/agent-view"
	return []probe{
		{"whoami", "GET whoami", asking(owner, 200, "GET", api+"/v1/whoami")},
		{"content-4k", "GET content, 4 KB", fetching(s.client, read.urls[0], read.sizes[0])},
		{"content-head", "HEAD content", asking(anyone, 200, "HEAD", read.urls[0])},
		{"content-1m", "GET content, 1 MB", fetching(s.client, read.urls[1], read.sizes[1])},
		{"agent-view", "GET agent view, 10 files", asking(owner, 200, "GET", view)},
		{"list", "GET list, 50 artifacts", asking(owner, 200, "GET", api+"/v1/artifacts")},
		{"resolve", "POST resolve", sending(anyone, api+"/v1/access-links/resolve", shelf.link)},
		{"viewer", "GET viewer page", asking(anyone, 200, "GET", anyone.At.AppURL+"/al/"+string(shelf.link.PublicID))},
		{"publish", "Publish flow of 3 files", publishing(agents[:manyClients])},
	}, nil
}

// prepare makes the rows that the command line asks for.
func (c *comparison) prepare(ctx context.Context) error {
	var probes [2][]probe
	for n, s := range c.sides {
		c.say("publishing what is read from %s", s.name)
		var err error
		if probes[n], err = s.probes(ctx); err != nil {
			return s.explain(err)
		}
	}
	for n, this := range probes[0] {
		for _, clients := range []int{1, manyClients} {
			p := &pair{
				name:    this.name,
				title:   this.title,
				clients: clients,
				work:    [2]operation{this.work, probes[1][n].work},
			}
			if c.rows.MatchString(p.id()) {
				c.pairs = append(c.pairs, p)
			}
		}
	}
	if c.pairs == nil {
		return fmt.Errorf("no row matches %q", c.rows)
	}
	return nil
}

// measure runs all rounds. In each, both sides of a row are measured one after the other, so that other load on the
// machine falls on both. Their order changes from row to row and from round to round.
func (c *comparison) measure(ctx context.Context) error {
	all := time.Duration(2*len(c.pairs)) * (time.Duration(c.baseline.rounds)*c.duration + c.warming())
	c.say("measuring %d rows in %d rounds: about %v", len(c.pairs), c.baseline.rounds, all.Round(time.Second))
	for _, p := range c.pairs {
		for n := range c.sides {
			if _, err := c.slot(ctx, p, n, c.warming()); err != nil {
				return err
			}
		}
	}
	for number := range c.baseline.rounds {
		for i, p := range c.pairs {
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

// slot measures one side of a row once.
func (c *comparison) slot(ctx context.Context, p *pair, n int, long time.Duration) (round, error) {
	most := long + slotPatience
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("no end after %v", most))
	defer cancel()
	began := time.Now()
	took, err := drive(ctx, p.clients, long, p.work[n])
	if err != nil {
		return round{}, c.sides[n].explain(fmt.Errorf("%s: %w", p.id(), err))
	}
	r := row{took: took, elapsed: time.Since(began)}
	return round{rate: r.rate(), p50: millis(r.percentile(50))}, nil
}
