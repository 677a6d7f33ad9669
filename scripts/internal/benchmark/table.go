package main

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// Budgets of a content GET of 4 KB.
const (
	ratioBudget = 1.3
	cpuBudget   = 200 * time.Microsecond // that the hosts add to the bare calls
)

const head = "| What | Clients | AWS calls | RRU | WRU | Round trips | p50 ms | p95 ms | p99 ms | Per second " +
	`| CPU ms, hosts | Engines | KB allocated | Resident MB | Designed |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

const legend = `
Each figure is of one whole flow, page or GET; calls that overlap are one round trip. CPU and allocations are of the
hosts' process, in brackets those of the load's own process, which makes the calls of such a row itself. CPU of the
engines is that of DynamoDB's and S3's together. Resident is the memory of the hosts' process when the row ended. The
PUTs of a flow go to S3 and are not among the hosts' calls. The engines' data is on disk. Hot reads ask for the same
file again and again, cold ones each for another artifact, which the hosts have not read before.
`

const machine = `Machine: %d cores, %s, %s/%s, which load, hosts and engines share.
`

// sayMachine prints what the figures were taken on.
func sayMachine(w io.Writer) {
	fmt.Fprintf(w, machine, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// report prints the table, the figures that have a budget, and the machine.
func report(w io.Writer, groups [][]*row) {
	rows := table(w, groups)
	for _, clients := range []int{1, manyClients} {
		small, bare := rows[fmt.Sprintf("content-4k/%d", clients)], rows[fmt.Sprintf("bare-4k/%d", clients)]
		if cold := rows[fmt.Sprintf("content-cold-4k/%d", clients)]; cold != nil && bare != nil {
			compareTime(w, cold, bare, "cold")
		}
		if small != nil && bare != nil {
			compareTime(w, small, bare, "hot")
			compareCPU(w, small, bare)
		}
		if large := rows[fmt.Sprintf("content-1m/%d", clients)]; small != nil && large != nil {
			fmt.Fprintf(w, "- %s: a GET of 1 MB allocates %.0f KB, one of 4 KB %.0f KB (budget: nothing grows with the file).\n",
				many(clients), large.kilobytes(), small.kilobytes())
		}
	}
	fmt.Fprint(w, legend)
	sayMachine(w)
}

// table prints the rows and returns them by their ids.
func table(w io.Writer, groups [][]*row) map[string]*row {
	fmt.Fprint(w, head)
	rows := map[string]*row{}
	for _, group := range groups {
		for _, r := range group {
			fmt.Fprintln(w, r.line())
			rows[r.id()] = r
		}
	}
	fmt.Fprintln(w)
	return rows
}

// compareTime prints how long a content GET of 4 KB takes beside its bare calls.
func compareTime(w io.Writer, ours, bare *row, kind string) {
	ratio := float64(ours.percentile(50)) / float64(bare.percentile(50))
	fmt.Fprintf(w, "- %s: a %s content GET of 4 KB takes %.2fx the time of the bare calls by p50 (budget %.1fx).\n",
		many(ours.clients), kind, ratio, ratioBudget)
}

// compareCPU prints what a hot content GET of 4 KB takes beside its bare calls.
func compareCPU(w io.Writer, ours, bare *row) {
	fmt.Fprintf(w, "- %s: the hot one takes %d µs of CPU, the three bare calls alone %d µs (budget: at most %d µs more).\n",
		many(ours.clients), ours.cpu().Microseconds(), bare.cpu().Microseconds(), cpuBudget.Microseconds())
}

func many(clients int) string {
	if clients == 1 {
		return "1 client"
	}
	return fmt.Sprint(clients, " clients")
}

func (r *row) line() string {
	own := "%.2f | %.2f | %.0f"
	if r.logged == 0 {
		own = "(%.2f) | %.2f | (%.0f)"
	}
	u := r.used
	const form = "| %s | %d | %.2f | %.1f | %.1f | %.2f | %.2f | %.2f | %.2f | %.0f | "
	return fmt.Sprintf(form+own+" | %.1f | %s |", r.title, r.clients,
		r.per(float64(u.Calls)), r.per(u.RRU), r.per(u.WRU), r.per(float64(u.RoundTrips)),
		millis(r.percentile(50)), millis(r.percentile(95)), millis(r.percentile(99)), r.rate(),
		millis(r.cpu()), millis(r.engineCPU()), r.kilobytes(), megabytes(r.resident), r.designed)
}

// kilobytes is the heap that the counting process allocated for one operation.
func (r *row) kilobytes() float64 { return r.per(float64(r.used.Allocated)) / (1 << 10) }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
