package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"vitrine/scripts/internal/benchmark/checkout"
)

const pairHead = `| What | Clients | Requests/s, %[1]s | %[2]s | p50 ms, %[1]s | %[2]s | Ratio | Spread | Verdict |
|---|--:|--:|--:|--:|--:|--:|--:|---|
`

const sizeHead = `
| Function | Zip MB for amd64, %s | %s | Ratio |
|---|--:|--:|--:|
`

const pairLegend = `
Each figure is the median of %d rounds of %v. The ratio is how many times as long a request takes as in %s, by the
medians of the requests a second. The spread is a confidence interval of 94 %% for the ratio of a round; of five rounds it
goes from the lowest to the highest. Slower: the ratio and the whole spread are above %[4]v. Unclear: the ratio is and
the spread is not, and more rounds or a quieter machine would tell. Faster: both are below 1/%[4]v.
Each side has engines of its own, DynamoDB's in memory. %[5]s
Hosts and engines are processes of their own, whose CPU time the kernel counts; resident is the memory of the hosts'.
Calls and capacity are those of the request log.
"This tree" is the working tree, also with what is not committed, but without ignored files.
`

const spentHead = "\n| What | Clients | CPU ms of hosts, %[1]s | %[2]s | Ratio | Of engines, %[1]s | %[2]s " +
	`| p95 ms, %[1]s | %[2]s | p99 ms, %[1]s | %[2]s |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

const countedHead = "\n| What | Clients | AWS calls, %[1]s | %[2]s | RRU, %[1]s | %[2]s | WRU, %[1]s | %[2]s " +
	`| Resident MB, %[1]s | %[2]s |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

const (
	limitsCounted = "Rate limits are counted and lifted."
	limitsOff     = "Rate limits are off and requests not counted, because one of the commits cannot lift them otherwise."
)

// pairTables are the tables with a line for each row.
var pairTables = []struct {
	head string
	line func(*pair) string
}{
	{pairHead, (*pair).line}, {spentHead, (*pair).spentLine}, {countedHead, (*pair).countedLine},
}

// report prints the tables of the rows and that of the zip files.
func (c *comparison) report(w io.Writer) {
	this, base := c.sides[0], c.sides[1]
	for _, t := range pairTables {
		fmt.Fprintf(w, t.head, this.name, base.name)
		for _, p := range c.pairs {
			if p.unserved == nil {
				fmt.Fprintln(w, t.line(p))
			}
		}
	}
	fmt.Fprintf(w, sizeHead, this.name, base.name)
	reportSizes(w, this.zips, base.zips)
	if base.unbuilt != nil {
		fmt.Fprintf(w, "\nThe build of the functions of %s fails: %v\n", base.name, base.unbuilt)
	}
	numbers := limitsOff
	if c.counts() {
		numbers = limitsCounted
	}
	fmt.Fprintf(w, pairLegend, c.baseline.rounds, c.duration, base.name, slowerRatio, numbers)
	for _, p := range c.pairs {
		if p.unserved != nil {
			fmt.Fprintf(w, "%s with %s is left out: %v.\n", p.title, many(p.clients), p.unserved)
		}
	}
	sayMachine(w)
}

func (p *pair) line() string {
	f := compareRounds(p.rounds[0], p.rounds[1])
	this, base := f.medians[0], f.medians[1]
	return fmt.Sprintf("| %s | %d | %.0f | %.0f | %.2f | %.2f | %.2f | %.2f–%.2f | %s |", p.title, p.clients,
		this.rate, base.rate, this.p50, base.p50, f.ratio, f.low, f.high, f.verdict())
}

func (p *pair) spentLine() string {
	this, base := medianRound(p.rounds[0]), medianRound(p.rounds[1])
	ratio := "–"
	if base.hosts > 0 {
		ratio = fmt.Sprintf("%.2f", this.hosts/base.hosts)
	}
	return fmt.Sprintf("| %s | %d | %.2f | %.2f | %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |", p.title, p.clients,
		this.hosts, base.hosts, ratio, this.engines, base.engines, this.p95, base.p95, this.p99, base.p99)
}

func (p *pair) countedLine() string {
	this, base := medianRound(p.rounds[0]), medianRound(p.rounds[1])
	return fmt.Sprintf("| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f |", p.title, p.clients,
		this.calls, base.calls, this.rru, base.rru, this.wru, base.wru, this.resident, base.resident)
}

// reportSizes prints a line for each function that one of the sides has.
func reportSizes(w io.Writer, this, base checkout.Sizes) {
	all := maps.Clone(this)
	maps.Copy(all, base)
	for _, host := range slices.Sorted(maps.Keys(all)) {
		ratio := "–"
		if this[host] > 0 && base[host] > 0 {
			ratio = fmt.Sprintf("%.3f", float64(this[host])/float64(base[host]))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", host, zipSize(this[host]), zipSize(base[host]), ratio)
	}
}

// zipSize returns megabytes, or a dash where there is no such function.
func zipSize(bytes int64) string {
	if bytes == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(bytes)/1e6)
}
