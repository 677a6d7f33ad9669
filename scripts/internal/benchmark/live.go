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
	openPages = 50
	manyPages = 1000
	mostPolls = 50_000 // more than come in any time
)

const sharedPages = "one" // the name of their row

const liveLegend = `
Pages poll each as long after the last answer as that said, and nothing changes; the first poll follows the opening of a
page at once. Requests, RRU and WRU are counted for 50 pages and multiplied. Polls of one artifact grow with the root of
the number of its pages, because the server lets each wait longer; others with the number. Lambda's time is estimated as
for -cost. Dollars are gateway, Lambda, RRU, WRU, logs and transfer.
`

// openPage is a page of an access link that polls.
type openPage struct {
	url  string
	body map[string]any
	due  time.Time // of its next poll
}

// liveRows are polls of pages of one artifact, and of pages of an artifact each. Of the former the server makes the
// number of polls grow with the root of the number of pages.
func (b *bench) liveRows(ctx context.Context) ([]row, error) {
	pages, err := prepare(ctx, b, openPages, (*maker).openPage)
	if err != nil {
		return nil, err
	}
	polls := func(name, title string, pages []openPage) row {
		return row{
			name:    name,
			title:   title,
			clients: openPages,
			bill:    bill{http: 1, memory: smallFunction},
			stock: func(context.Context) ([]operation, error) {
				return slices.Repeat([]operation{b.polling(pages)}, mostPolls), nil
			},
		}
	}
	return []row{
		polls(sharedPages, "of one artifact", slices.Repeat(pages[:1], openPages)),
		polls("own", "of an artifact each", pages),
	}, nil
}

// printPolls prints what the polls cost in an hour.
func (b *bench) printPolls(w io.Writer, rows []*row) error {
	var lines [][]string
	for _, r := range rows {
		grow := float64(manyPages) / openPages // as many times as many polls
		if r.name == sharedPages {
			grow = math.Sqrt(grow)
		}
		l, polls := r.bill.of(r), float64(r.done)/b.duration.Hours()
		lines = append(lines,
			pollLine(openPages, r.title+", counted", polls, l), pollLine(manyPages, r.title, polls*grow, l))
	}
	head := []string{"Pages that are open for an hour", "Polls", "One waits s", "RRU", "WRU", "Lambda GB-s", "$"}
	printTable(w, head, lines...)
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
	s := m.show(m.inTurn(m.n), site()...)
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
