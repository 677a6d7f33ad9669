package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

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
	atOnce     float64 // operations that a function works on at the same time; 0: one

	rru, wru      float64
	writes, reads float64 // requests to S3, those of clients too
	sent, logged  float64 // bytes
	running       time.Duration
}

// of counts what the operations of a row asked of AWS.
func (l bill) of(r *row) bill {
	called := func(names ...string) (n float64) {
		for _, name := range names {
			n += r.per(float64(r.used.Names[name]))
		}
		return n
	}
	l.rru, l.wru = rru.of(r), wru.of(r)
	l.sent, l.logged = r.per(float64(r.used.Sent)), r.per(float64(r.used.Logged))
	l.writes = l.puts + called("S3.PutObject", "S3.CopyObject", "S3.ListObjectsV2")
	l.reads = called("S3.GetObject", "S3.HeadObject")
	objects, transactions := 0.0, called("DynamoDB.TransactWriteItems")
	for name := range r.used.Names {
		if strings.HasPrefix(name, "S3.") {
			objects += called(name)
		}
	}
	trips := roundTrips.of(r)
	if l.atOnce > 0 {
		trips = calls.of(r)
	}
	items := max(0, trips-transactions-objects)
	waits := items*float64(itemWait) + transactions*float64(transactionWait) + objects*float64(objectWait)
	cpu := r.per(float64(r.used.CPU)) // by the share of a core
	l.running = time.Duration(waits/max(1, l.atOnce) + cpu*wholeCore/l.memory)
	return l
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
		rows, err := b.ends(ctx, l, b.livesCounted())
		if err != nil {
			return err
		}
		one := bill{
			title:  "Afterlife: " + strings.ToLower(l.title[:1]) + l.title[1:],
			memory: smallFunction,
			atOnce: limits.JobWorkers,
		}
		bills = append(bills, one.of(rows[len(rows)-1]))
	}
	printBills(stdout, bills)
	sayMachine(stdout, costLegend, itemWait, transactionWait, objectWait, smallFunction, uploadFunction,
		limits.JobWorkers, b.atMost(hotReads))
	return nil
}

// requestBills are what the requests cost whose calls are counted.
func (b *bench) requestBills(ctx context.Context) (bills []bill, err error) {
	s, err := b.openShelf(ctx)
	if err != nil {
		return nil, err
	}
	read, view := b.hotRead(0), getting(s.Agent, s.path("/agent-view"))
	content := bill{rest: 1, memory: smallFunction}
	flow := bill{
		http:   flowRequests,
		edge:   float64(flowRequests - 1 + len(site())), // all but publish, which the api host serves
		puts:   float64(len(site())),
		memory: (2*uploadFunction + smallFunction) / flowRequests,
	}
	for _, f := range site() {
		flow.uploaded += float64(len(f.Body))
	}
	publish := repeated(publishing(b.agents, site), b.atMost(costedFlows))
	for _, c := range []struct {
		title string
		bill  bill
		row   row
	}{
		{"Content GET, 4 KB, cold", content, b.coldRow()},
		{"Content GET, 4 KB, hot", content, row{stock: repeated(read, b.atMost(hotReads))}},
		{"Agent view, 10 files", bill{http: 1, memory: smallFunction}, row{stock: repeated(view, b.atMost(hotReads))}},
		{"Publish, one key", flow, row{stock: publish, lines: flowRequests}},
		{"Publish, a new key", flow, b.loneRow()},
	} {
		c.row.title, c.bill.title = c.title, c.title
		if err := b.wholly(ctx, &c.row); err != nil {
			return nil, err
		}
		bills = append(bills, c.bill.of(&c.row))
	}
	return bills, nil
}

// printBills prints a column for each bill and a line for each item.
func printBills(w io.Writer, bills []bill) {
	head, last := []string{"$ per million"}, []string{"**Sum**"}
	var lines [][]string
	for _, item := range billItems {
		line := []string{item.title}
		for _, l := range bills {
			line = append(line, item.cell(l))
		}
		lines = append(lines, line)
	}
	for _, l := range bills {
		head, last = append(head, l.title), append(last, fmt.Sprintf("**%.2f**", l.dollars()*1e6))
	}
	printTable(w, head, append(lines, last)...)
}

// dollars is what one operation costs.
func (l bill) dollars() (sum float64) {
	for _, item := range billItems {
		sum += item.price(l)
	}
	return sum
}

// cell is empty where there is no charge.
func (item billItem) cell(l bill) string {
	dollars := item.price(l) * 1e6
	switch {
	case dollars == 0:
		return ""
	case item.shown != nil:
		return fmt.Sprintf("%.2f (%.2f)", dollars, item.shown(l))
	}
	return fmt.Sprintf("%.2f", dollars)
}
