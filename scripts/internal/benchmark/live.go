package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// The open pages that poll, and how many they stand for.
const (
	openPages   = 50
	manyPages   = 1000
	liveSeconds = 180
)

const liveLegend = `
%d pages poll for %v, each as long after the last answer as that said, and nothing changes; the first poll follows the
opening of a page at once. Of %d pages of one artifact the server makes the polls of %d grow with the root of their
number, because it lets each wait longer; those of artifacts of their own grow with their number. Requests, RRU and WRU
are counted here and multiplied. A GB-s is a second of Lambda with 1 GB, estimated as for -cost: %v for a call of
DynamoDB, and the CPU time that the hosts took here by the share of a core of a function of %g GB. Dollars are AWS's
public prices for us-east-1, on demand, without free tiers: gateway, Lambda, RRU, WRU, logs and transfer.
`

// openPage is a page of an access link that polls.
type openPage struct {
	url  string
	body map[string]any
}

// viewing is what open pages cost that poll.
type viewing struct {
	title string
	pages []openPage
	grow  float64 // how many times as many polls manyPages make

	polls float64 // an hour
	bill  bill    // of one poll
}

// viewers counts what the polls of open pages cost.
func (b *bench) viewers(ctx context.Context, stdout io.Writer) error {
	pages, err := each(ctx, openPages, b.openPage)
	if err != nil {
		return err
	}
	same := make([]openPage, openPages)
	for n := range same {
		same[n] = pages[0]
	}
	times := float64(manyPages) / openPages
	for _, v := range []viewing{
		{title: "of one artifact", pages: same, grow: math.Sqrt(times)},
		{title: "of an artifact each", pages: pages, grow: times},
	} {
		b.say("counting: %d pages %s", openPages, v.title)
		if err := b.countPolls(ctx, &v); err != nil {
			return err
		}
		v.print(stdout)
	}
	fmt.Fprintf(stdout, liveLegend, openPages, b.duration, manyPages, openPages, itemWait, smallFunction)
	sayMachine(stdout)
	return nil
}

// openPage publishes an artifact and opens its link.
func (b *bench) openPage(ctx context.Context, n int) (openPage, error) {
	p, err := b.inTurn(n).PublishFiles(ctx, "Watched", "", site()...)
	if err != nil {
		return openPage{}, err
	}
	public, blob, err := wire.SplitLink(p.UnlistedURL)
	return openPage{
		url:  b.anyone.At.AppURL + "/api/live/access-links/" + string(public),
		body: map[string]any{"blob": blob, "revision_id": id.Revision(p.RevisionID)},
	}, err
}

// countPolls lets all pages poll for a while.
func (b *bench) countPolls(ctx context.Context, v *viewing) error {
	before, err := b.hosts.quiet()
	if err != nil {
		return err
	}
	var polls atomic.Int64
	end := time.Now().Add(b.duration)
	all, ctx := errgroup.WithContext(ctx)
	for n, page := range v.pages {
		all.Go(func() error {
			wait := 3 * time.Second * time.Duration(n) / openPages // pages do not open all at once
			for {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(wait):
				}
				if time.Now().After(end) {
					return nil
				}
				var err error
				if wait, err = b.poll(ctx, page); err != nil {
					return err
				}
				polls.Add(1)
			}
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	after, err := b.hosts.settled(context.WithoutCancel(ctx), before.Requests+int(polls.Load()))
	if err != nil {
		return err
	}
	n := float64(polls.Load())
	v.polls = n / b.duration.Hours()
	v.bill = bill{http: 1, memory: smallFunction, cpu: (after.CPU - before.CPU) / time.Duration(n)}
	v.bill.sent, v.bill.logged = float64(after.Sent-before.Sent)/n, float64(after.Logged-before.Logged)/n
	v.bill.count(after.spent.minus(before.spent), after.Names.minus(before.Names), n)
	return nil
}

// poll polls once and returns when to poll again.
func (b *bench) poll(ctx context.Context, p openPage) (time.Duration, error) {
	a, err := b.anyone.Do(ctx, "POST", p.url, p.body)
	if err != nil {
		return 0, err
	}
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if a.Status != http.StatusNoContent || err != nil {
		return 0, fmt.Errorf("a poll answers %d %s", a.Status, a.Body)
	}
	return time.Duration(seconds) * time.Second, nil
}

// print prints what the pages cost that were counted, and what many would.
func (v *viewing) print(w io.Writer) {
	l := v.bill
	fmt.Fprintf(w, "Pages %s: a poll takes %.2f calls, %.2f RRU, %.3f WRU and %.2f ms of the hosts' CPU.\n\n",
		v.title, l.calls, l.rru, l.wru, float64(l.cpu)/1e6)
	fmt.Fprintln(w, "| Open pages | Polls an hour | One waits s | RRU | WRU | Lambda GB-s | $ an hour |")
	fmt.Fprintln(w, "|--:|--:|--:|--:|--:|--:|--:|")
	dollars := 0.0
	for _, item := range billItems {
		dollars += item.price(l)
	}
	for _, many := range []bool{false, true} {
		pages, polls := openPages, v.polls
		if many {
			pages, polls = manyPages, v.polls*v.grow
		}
		fmt.Fprintf(w, "| %d | %.0f | %.1f | %.0f | %.0f | %.0f | %.3f |\n", pages, polls, float64(pages)*3600/polls,
			polls*l.rru, polls*l.wru, polls*l.running.Seconds()*l.memory, polls*dollars)
	}
	fmt.Fprintln(w)
}
