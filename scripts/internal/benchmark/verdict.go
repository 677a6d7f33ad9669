package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// slowerRatio is how many times as long a request may take before it counts as slower.
const slowerRatio = 1.05

// spreadDoubt is the highest probability that the median lies below a spread, and also that it lies above.
const spreadDoubt = 1.0 / 32

const pairLegend = `
Each figure is the median of %d rounds of %v. The ratio is how many times as long a request takes as in %s, by the
medians of the requests a second. The spread is a confidence interval of 94 %% for the ratio of a round; of five rounds
it goes from the lowest to the highest. Slower: the ratio and the whole spread are above %[4]v. Unclear: the ratio is
and the spread is not, and more rounds or a quieter machine would tell. Faster: both are below 1/%[4]v.
Each side has engines of its own, DynamoDB's in memory, and counts requests against limits that no load reaches.
"This tree" is the working tree, also with what is not committed.
`

// report prints the tables of the rows.
func (c *comparison) report(w io.Writer) {
	requests := perSecond
	requests.title = "Requests/s"
	c.table(w, []column{requests, latency(50), hostCPU}, []string{"Ratio", "Spread", "Verdict"}, func(p *pair) []string {
		v := compare(p.values(0, requests), p.values(1, requests))
		return []string{fmt.Sprintf("%.2f", v.ratio), fmt.Sprintf("%.2f–%.2f", v.low, v.high), v.String()}
	})
	columns := []column{calls, rru, wru, latency(95), latency(99), memoryUsed}
	c.table(w, columns, nil, func(*pair) []string { return nil })
	sayMachine(w, fmt.Sprintf(pairLegend, c.rounds, c.duration, c.names[1], slowerRatio))
	for _, p := range c.pairs {
		if p.unserved != nil {
			fmt.Fprintf(w, "%s is left out: %v.\n", p.sides[0].id(), p.unserved)
		}
	}
}

// table prints columns of both sides, and more of each pair.
func (c *comparison) table(w io.Writer, columns []column, more []string, of func(*pair) []string) {
	head := []string{"What", clients.title}
	for _, col := range columns {
		head = append(head, col.title+", "+thisTree, c.names[1])
	}
	var lines [][]string
	for _, p := range c.pairs {
		if p.unserved != nil {
			continue
		}
		line := []string{p.sides[0].title, clients.cell(p.sides[0])}
		for _, col := range columns {
			for n := range p.rounds {
				line = append(line, fmt.Sprintf(col.form, median(p.values(n, col))))
			}
		}
		lines = append(lines, append(line, of(p)...))
	}
	printTable(w, append(head, more...), lines...)
	fmt.Fprintln(w)
}

// values are what a column tells of the rounds of one side.
func (p *pair) values(side int, c column) []float64 {
	var out []float64
	for _, r := range p.rounds[side] {
		out = append(out, c.of(r))
	}
	return out
}

// verdict is how many times as long a request takes in this tree as in its baseline.
type verdict struct {
	ratio     float64 // of the medians of the rates
	low, high float64 // spread of the ratios of the rounds
}

// compare compares requests a second of rounds that were measured in turn.
func compare(this, base []float64) verdict {
	ratios := make([]float64, len(this))
	for n := range ratios {
		ratios[n] = base[n] / this[n]
	}
	v := verdict{ratio: median(base) / median(this)}
	v.low, v.high = spread(ratios)
	return v
}

// String says whether this tree is slower or faster than its baseline by more than a twentieth. It is unclear when the
// ratio of the medians says slower and the spread of the rounds does not.
func (v verdict) String() string {
	switch {
	case v.ratio > slowerRatio && v.low > slowerRatio:
		return "slower"
	case v.ratio > slowerRatio:
		return "unclear"
	case v.ratio < 1/slowerRatio && v.high < 1/slowerRatio:
		return "faster"
	}
	return "not slower"
}

// median returns the value in the middle, or the mean of the two there.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread returns the interval between order statistics that holds the median of the distribution of the values with a
// probability of at least 15 in 16, whatever the distribution is: of five values, the lowest and the highest.
func spread(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	cut := 0                             // values at each end that are left out
	exactly := math.Pow(0.5, float64(n)) // the probability that so many values lie below the median
	for atMost := exactly; cut+1 < (n+1)/2; cut++ {
		exactly *= float64(n-cut) / float64(cut+1)
		if atMost += exactly; atMost > spreadDoubt {
			break
		}
	}
	return sorted[cut], sorted[n-1-cut]
}
