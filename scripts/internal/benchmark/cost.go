package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// How often the requests are made whose calls are counted, unless the options say less.
const (
	hotReads    = 1000
	costedFlows = 100
)

// bill is what an operation costs. Counts are of one operation.
type bill struct {
	title      string
	rest, http float64 // requests at the gateways, each of which invokes a function
	edge       float64 // requests at CloudFront
	puts       float64 // that clients send to S3
	uploaded   float64 // bytes of those
	memory     float64 // GB of the functions

	rru, wru       float64
	writes, reads  float64 // requests to S3, those of clients too
	sent, logged   float64 // bytes
	running        time.Duration
	transactions   float64
	calls, trips   float64
	cpu            time.Duration
	simultaneously float64 // how many operations a function works on at once; 0: one
}

// count adds what a number of operations asked of AWS.
func (l *bill) count(s spent, called names, n float64) {
	l.rru, l.wru = s.RRU/n, s.WRU/n
	l.calls, l.trips = float64(s.Calls)/n, float64(s.RoundTrips)/n
	l.writes = l.puts + float64(called["S3.PutObject"]+called["S3.CopyObject"]+called["S3.ListObjectsV2"])/n
	l.reads = float64(called["S3.GetObject"]+called["S3.HeadObject"]) / n
	l.transactions = float64(called["DynamoDB.TransactWriteItems"]) / n
	objects := 0
	for name, times := range called {
		if strings.HasPrefix(name, "S3.") {
			objects += times
		}
	}
	l.estimate(float64(objects) / n)
}

// estimate computes how long functions run: what they wait for, and their CPU time by their share of a core.
func (l *bill) estimate(objects float64) {
	trips := l.trips
	if l.simultaneously > 0 {
		trips = l.calls
	}
	items := max(0, trips-l.transactions-objects)
	waits := items*float64(itemWait) + l.transactions*float64(transactionWait) + objects*float64(objectWait)
	l.running = time.Duration(waits/max(1, l.simultaneously) + float64(l.cpu)*wholeCore/l.memory)
}

// billItem is a line of the table: dollars for one operation.
type billItem struct {
	title string
	price func(l bill) float64
	shown func(l bill) float64 // a count that is shown beside the dollars, if there is one
}

var billItems = []billItem{
	{"API Gateway", func(l bill) float64 { return l.rest*restRequest + l.http*httpRequest }, nil},
	{"CloudFront", func(l bill) float64 { return l.edge*edgeRequest + l.uploaded*edgeByte }, nil},
	{"WRU", func(l bill) float64 { return l.wru * writeUnit }, func(l bill) float64 { return l.wru }},
	{"RRU", func(l bill) float64 { return l.rru * readUnit }, func(l bill) float64 { return l.rru }},
	{
		"S3: PUT, COPY, LIST",
		func(l bill) float64 { return l.writes * objectWrite },
		func(l bill) float64 { return l.writes },
	},
	{
		"S3: GET, HEAD",
		func(l bill) float64 { return l.reads * objectRead },
		func(l bill) float64 { return l.reads },
	},
	{"Lambda", func(l bill) float64 {
		return (l.rest+l.http)*invocation + l.running.Seconds()*l.memory*gigabyteTime
	}, nil},
	{"Logs of the functions", func(l bill) float64 { return l.logged * loggedByte }, nil},
	{"Transfer out", func(l bill) float64 { return l.sent * gatewayByte }, nil},
}

const costLegend = `
Dollars for a million, in brackets the counts of one. Counted on engines of one machine: calls, WRU, RRU, bytes of
bodies and of log lines. Lambda is estimated: %v for a call of DynamoDB, %v for a transaction, %v for one of S3, and
the CPU time that the hosts took here by the share of a core of a function of %g GB (%g GB for uploads). Jobs work on
%d artifacts at once. Hot is the mean of %d reads of one file by one function; in a deployment each function takes
permits and fills its memory by itself. A publication is of 3 files, and PUTs pass CloudFront. Left out: storage, KMS,
a gateway's own log, headers, idle jobs and retries.
Prices are AWS's public ones for us-east-1, on demand, without free tiers.
`

// cost counts what a few requests and the jobs ask of AWS and prints what a million of each costs.
func (b *bench) cost(ctx context.Context, stdout io.Writer) error {
	bills, err := b.requestBills(ctx)
	if err != nil {
		return err
	}
	for _, l := range lives {
		one, err := b.lifeBill(ctx, l)
		if err != nil {
			return err
		}
		bills = append(bills, one)
	}
	printBills(stdout, bills)
	fmt.Fprintf(stdout, costLegend, itemWait, transactionWait, objectWait, smallFunction, uploadFunction,
		limits.JobWorkers, b.atMost(hotReads))
	sayMachine(stdout)
	return nil
}

// atMost is n, or less if the options say so.
func (b *bench) atMost(n int) int {
	if b.stock > 0 {
		return min(n, b.stock)
	}
	return n
}

// costed is a request whose calls are counted.
type costed struct {
	bill
	stock func(ctx context.Context) ([]task, error)
	lines int // in the request log
}

func (b *bench) requestBills(ctx context.Context) ([]bill, error) {
	var bills []bill
	costed, err := b.costed(ctx)
	for _, c := range costed {
		if err != nil {
			return nil, err
		}
		b.say("counting: %s", c.title)
		r := row{
			name:    c.title,
			clients: 1,
			stock:   c.stock,
			logged:  c.lines,
		}
		if err = b.wholly(ctx, &r); err == nil {
			n := float64(len(r.took))
			c.sent, c.logged = float64(r.used.Sent)/n, float64(r.used.Logged)/n
			c.cpu = r.cpu()
			c.count(r.used.spent, r.used.Names, n)
			bills = append(bills, c.bill)
		}
	}
	return bills, err
}

// wholly does all that is prepared for a row, however long it takes.
func (b *bench) wholly(ctx context.Context, r *row) error {
	long := b.duration
	defer func() { b.duration = long }()
	b.duration = time.Hour
	return b.consume(ctx, r)
}

func (b *bench) costed(ctx context.Context) ([]costed, error) {
	s, err := b.openShelf(ctx)
	if err != nil {
		return nil, err
	}
	view := asking(s.owner, 200, "GET", b.anyone.At.APIURL+"/v1/artifacts/"+string(s.published.ArtifactID)+"/agent-view")
	read := fetching(httpClient(nil), b.read.urls[0], b.read.sizes[0])
	content := bill{rest: 1, memory: smallFunction}
	flow := bill{
		http:     flowRequests,
		edge:     float64(flowRequests - 1 + len(site())), // all but publish, which the api host serves
		puts:     float64(len(site())),
		uploaded: float64(bytesOf(site())),
		memory:   (2*uploadFunction + smallFunction) / flowRequests,
	}
	of := func(l bill, title string) bill { l.title = title; return l }
	return []costed{
		{of(content, "Content GET, 4 KB, cold"), b.coldReads, 1},
		{of(content, "Content GET, 4 KB, hot"), repeated(read, b.atMost(hotReads)), 1},
		{bill{title: "Agent view, 10 files", http: 1, memory: smallFunction}, repeated(view, b.atMost(hotReads)), 1},
		{of(flow, "Publish, one key"), repeated(publishing(b.agents, site), b.atMost(costedFlows)), flowRequests},
		{of(flow, "Publish, a new key"), b.loneFlows, flowRequests},
	}, nil
}

func bytesOf(files []wire.File) (sum int) {
	for _, f := range files {
		sum += len(f.Body)
	}
	return sum
}

// repeated does an operation once, which is not measured, and then n times.
func repeated(work operation, n int) func(ctx context.Context) ([]task, error) {
	return func(ctx context.Context) ([]task, error) {
		tasks := make([]task, n)
		for i := range tasks {
			tasks[i] = once(work)
		}
		return tasks, work(ctx, 0)
	}
}

// lifeBill is what the jobs cost that follow a publication.
func (b *bench) lifeBill(ctx context.Context, l life) (bill, error) {
	one := bill{
		title:          "Afterlife: " + strings.ToLower(l.title[:1]) + l.title[1:],
		memory:         smallFunction,
		simultaneously: limits.JobWorkers,
	}
	steps, err := b.live(ctx, l)
	var sum worked
	for _, w := range steps {
		sum.add(w)
	}
	one.count(sum.spent, sum.names, float64(b.flowsOfLife()))
	return one, err
}

// printBills prints a column for each bill and a line for each item.
func printBills(w io.Writer, bills []bill) {
	fmt.Fprint(w, "| $ per million |")
	for _, l := range bills {
		fmt.Fprintf(w, " %s |", l.title)
	}
	fmt.Fprint(w, "\n|---|", strings.Repeat("--:|", len(bills)), "\n")
	sums := make([]float64, len(bills))
	for _, item := range billItems {
		fmt.Fprintf(w, "| %s |", item.title)
		for n, l := range bills {
			dollars := item.price(l) * 1e6
			sums[n] += dollars
			fmt.Fprintf(w, " %s |", billed(item, l, dollars))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "| **Sum** |")
	for _, sum := range sums {
		fmt.Fprintf(w, " **%.2f** |", sum)
	}
	fmt.Fprintln(w)
}

// billed is a cell, empty where there is no charge.
func billed(item billItem, l bill, dollars float64) string {
	switch {
	case dollars == 0:
		return ""
	case item.shown != nil:
		return fmt.Sprintf("%.2f (%.2f)", dollars, item.shown(l))
	}
	return fmt.Sprintf("%.2f", dollars)
}
