package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
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
	due  time.Time // of its next poll
}

// live counts what the polls of open pages cost in an hour.
func (b *bench) live(ctx context.Context, stdout io.Writer) error {
	pages, err := prepare(ctx, b, openPages, (*maker).openPage)
	if err != nil {
		return err
	}
	times := float64(manyPages) / openPages
	var lines [][]string
	for _, v := range []struct {
		title string
		pages []openPage
		grow  float64 // how many times as many polls manyPages make
	}{
		{"of one artifact", slices.Repeat(pages[:1], openPages), math.Sqrt(times)},
		{"of an artifact each", pages, times},
	} {
		b.say("counting: %d pages %s", openPages, v.title)
		r := row{
			name:    "polls",
			title:   v.title,
			clients: openPages,
			work:    b.polling(v.pages),
		}
		if err := b.turn(ctx, &r, b.duration); err != nil {
			return err
		}
		l := bill{http: 1, memory: smallFunction}.of(&r)
		polls := float64(r.done) / b.duration.Hours()
		lines = append(lines,
			pollLine(openPages, v.title+", counted", polls, l), pollLine(manyPages, v.title, polls*v.grow, l))
	}
	head := []string{"Pages that are open for an hour", "Polls", "One waits s", "RRU", "WRU", "Lambda GB-s", "$"}
	printTable(stdout, head, lines...)
	sayMachine(stdout, liveLegend, openPages, b.duration, manyPages, openPages, itemWait, smallFunction)
	return nil
}

// pollLine says what so many polls of pages cost in an hour.
func pollLine(pages int, title string, polls float64, l bill) []string {
	return []string{
		fmt.Sprintf("%d %s", pages, title),
		fmt.Sprintf("%.0f", polls),
		fmt.Sprintf("%.1f", float64(pages)*3600/polls),
		fmt.Sprintf("%.0f", polls*l.rru),
		fmt.Sprintf("%.0f", polls*l.wru),
		fmt.Sprintf("%.0f", polls*l.running.Seconds()*l.memory),
		fmt.Sprintf("%.3f", polls*l.dollars()),
	}
}

// openPage publishes an artifact and opens its link.
func (m *maker) openPage() openPage {
	s := m.site()
	_, ask := m.opening(s.UnlistedURL)
	return openPage{
		url:  m.anyone.At.AppURL + "/api/live/access-links/" + string(ask.PublicID),
		body: map[string]any{"blob": ask.Blob, "revision_id": s.RevisionID},
	}
}

// polling lets each page poll when it is due, up to the end of the time. Pages do not open all at once.
func (b *bench) polling(pages []openPage) operation {
	began := time.Now()
	for n := range pages {
		pages[n].due = began.Add(3 * time.Second * time.Duration(n) / openPages)
	}
	return func(ctx context.Context, n int) error {
		p := &pages[n]
		if p.due.Sub(began) > b.duration {
			return errNoMore
		}
		pause(ctx, time.Until(p.due))
		a, err := call(ctx, b.anyone, http.StatusNoContent, "POST", p.url, p.body)
		if err != nil {
			return err
		}
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		p.due = time.Now().Add(time.Duration(seconds) * time.Second)
		return err
	}
}
