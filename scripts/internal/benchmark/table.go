package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// column is a figure of rows.
type column struct {
	title, form string
	of          func(r *row) float64
}

// The columns that tables are made of.
var (
	clients    = column{title: "Clients", form: "%.0f", of: func(r *row) float64 { return float64(r.clients) }}
	opCount    = column{title: "Operations", form: "%.0f", of: func(r *row) float64 { return float64(r.done) }}
	calls      = perOperation("AWS calls", "%.2f", func(u reading) float64 { return float64(u.Calls) })
	rru        = perOperation("RRU", "%.1f", func(u reading) float64 { return u.RRU })
	wru        = perOperation("WRU", "%.1f", func(u reading) float64 { return u.WRU })
	roundTrips = perOperation("Round trips", "%.2f", func(u reading) float64 { return float64(u.RoundTrips) })
	perSecond  = column{title: "Per second", form: "%.0f", of: (*row).rate}
	seconds    = column{title: "Seconds", form: "%.1f", of: func(r *row) float64 { return r.elapsed.Seconds() }}
	hostCPU    = perOperation("CPU ms, hosts", "%.2f", func(u reading) float64 { return millis(u.CPU) })
	allocating = perOperation("KB allocated", "%.0f", func(u reading) float64 { return float64(u.Allocated) / (1 << 10) })
	memoryUsed = column{title: "Resident MB", form: "%.1f", of: func(r *row) float64 { return megabytes(r.used.Resident) }}
	weight     = perOperation("KB", "%.1f", func(u reading) float64 { return float64(u.Sent) / 1000 })
	memoryPeak = column{title: "At most", form: "%.1f", of: func(r *row) float64 { return megabytes(r.used.Peak) }}
)

// perOperation is a column of what one operation takes.
func perOperation(title, form string, of func(u reading) float64) column {
	return column{title: title, form: form, of: func(r *row) float64 { return r.per(of(r.used)) }}
}

// latency is a column of milliseconds that p percent of the operations stayed below or at.
func latency(p int) column {
	return column{
		title: fmt.Sprintf("p%d ms", p),
		form:  "%.2f",
		of:    func(r *row) float64 { return millis(r.percentile(p)) },
	}
}

// exactly is a column with two digits.
func exactly(c column) column {
	c.form = "%.2f"
	return c
}

// measured are the columns of rows that are measured with clients.
var measured = []column{
	clients, calls, rru, wru, roundTrips, latency(50), latency(95), latency(99), perSecond, hostCPU, allocating,
	memoryUsed,
}

// cell puts into brackets what a row of own calls takes of this process instead of the hosts'.
func (c column) cell(r *row) string {
	form := c.form
	if r.own && (c.title == hostCPU.title || c.title == allocating.title) {
		form = "(" + form + ")"
	}
	return fmt.Sprintf(form, c.of(r))
}

// printRows prints rows with the columns after their titles.
func printRows(w io.Writer, columns []column, rows ...*row) {
	head := []string{"What"}
	for _, c := range columns {
		head = append(head, c.title)
	}
	var lines [][]string
	for _, r := range rows {
		line := []string{r.title}
		for _, c := range columns {
			line = append(line, c.cell(r))
		}
		lines = append(lines, line)
	}
	printTable(w, head, lines...)
}

// printTable prints a table in Markdown.
func printTable(w io.Writer, head []string, lines ...[]string) {
	fmt.Fprintf(w, "| %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("--:|", len(head)-1))
	for _, line := range lines {
		fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | "))
	}
}

// sayMachine prints a legend and what the figures were taken on.
func sayMachine(w io.Writer, legend string) {
	fmt.Fprintf(w, "\n%s\nMachine: %d cores, %s, %s/%s, which load, hosts and engines share.\n",
		strings.TrimSpace(legend), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }
