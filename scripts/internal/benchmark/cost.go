package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"vitrine/shared/platform/limits"
)

// Prices in dollars of us-east-1, without free tiers. AWS changes them; compare them before you rely on a sum:
// aws.amazon.com/api-gateway/pricing, /lambda/pricing (arm64), /dynamodb/pricing/on-demand, /s3/pricing (Standard),
// /cloudfront/pricing and /cloudwatch/pricing.
const (
	restRequest  = 3.50 / 1e6 // of a REST API, which streams
	httpRequest  = 1.00 / 1e6 // of an HTTP API
	gatewayByte  = 0.09 / 1e9 // sent to clients
	invocation   = 0.20 / 1e6
	gigabyteTime = 13.33 / 1e6 // a GB of memory for a second
	writeUnit    = 0.625 / 1e6
	readUnit     = 0.125 / 1e6
	objectWrite  = 5.00 / 1e6 // PUT, COPY and LIST
	objectRead   = 0.40 / 1e6 // GET and HEAD; DELETE is free
	edgeRequest  = 1.00 / 1e6 // HTTPS
	edgeByte     = 0.02 / 1e9 // sent to the origin
	loggedByte   = 0.50 / 1e9
)

// What a function waits for in AWS, which engines on one machine cannot tell. They are estimates of a call within a
// region, and only Lambda's time is computed from them.
const (
	itemWait        = 5500 * time.Microsecond
	transactionWait = 14 * time.Millisecond
	objectWait      = 30 * time.Millisecond
)

// Memory of the functions in GB, and with how much of it a function has a whole core.
const (
	smallFunction  = 0.5
	uploadFunction = 1.0
	wholeCore      = 1769.0 / 1024
)

// How often the requests are made whose calls are counted, unless the options say less.
const (
	hotReads    = 1000
	costedFlows = 100
)

const costLegend = `
Dollars for a million, in brackets the counts of one. Counted on engines of one machine: calls, WRU, RRU, bytes of
bodies and of log lines. Lambda is estimated: 5.5 ms for a call of DynamoDB, 14 ms for a transaction, 30 ms for one of
S3, and the CPU time that the hosts took here by the share of a core of a function of 0.5 GB (1 GB for uploads). Hot is
the mean of 1,000 reads of one file by one function; in a deployment each function takes permits and fills its memory by
itself. A publication is of 3 files, and PUTs pass CloudFront. Left out: storage, KMS, a gateway's own log, headers,
idle jobs and retries. Prices are AWS's public ones for us-east-1, on demand, without free tiers.
`

// bill is what an operation costs. Counts are of one operation.
type bill struct {
	rest, http float64 // requests at the gateways, each of which invokes a function
	edge       float64 // requests at CloudFront
	puts       float64 // that clients send to S3
	uploaded   float64 // bytes of those
	memory     float64 // GB of the functions; 0: nothing is billed
	atOnce     float64 // operations that a function works on at the same time; 0: one

	rru, wru      float64
	writes, reads float64 // requests to S3, those of clients too
	sent, logged  float64 // bytes
	running       time.Duration
}

// of counts what the operations of a row asked of AWS.
func (b bill) of(r *row) bill {
	called := func(names ...string) (n float64) {
		for _, name := range names {
			n += r.per(float64(r.used.Names[name]))
		}
		return n
	}
	b.rru, b.wru = rru.of(r), wru.of(r)
	b.sent, b.logged = r.per(float64(r.used.Sent)), r.per(float64(r.used.Logged))
	b.writes = b.puts + called("S3.PutObject", "S3.CopyObject", "S3.ListObjectsV2")
	b.reads = called("S3.GetObject", "S3.HeadObject")
	objects, transactions := 0.0, called("DynamoDB.TransactWriteItems")
	for name := range r.used.Names {
		if strings.HasPrefix(name, "S3.") {
			objects += called(name)
		}
	}
	trips := roundTrips.of(r)
	if b.atOnce > 0 {
		trips = calls.of(r)
	}
	items := max(0, trips-transactions-objects)
	waits := items*float64(itemWait) + transactions*float64(transactionWait) + objects*float64(objectWait)
	cpu := r.per(float64(r.used.CPU)) // by the share of a core
	b.running = time.Duration(waits/max(1, b.atOnce) + cpu*wholeCore/b.memory)
	return b
}

// billItem is a line of the table: dollars for one operation, and a count that is shown beside them, if there is one.
type billItem struct {
	title          string
	dollars, shown float64
}

func (b bill) items() []billItem {
	return []billItem{
		{"API Gateway", b.rest*restRequest + b.http*httpRequest, 0},
		{"CloudFront", b.edge*edgeRequest + b.uploaded*edgeByte, 0},
		{"WRU", b.wru * writeUnit, b.wru},
		{"RRU", b.rru * readUnit, b.rru},
		{"S3: PUT, COPY, LIST", b.writes * objectWrite, b.writes},
		{"S3: GET, HEAD", b.reads * objectRead, b.reads},
		{"Lambda", (b.rest+b.http)*invocation + b.running.Seconds()*b.memory*gigabyteTime, 0},
		{"Logs of the functions", b.logged * loggedByte, 0},
		{"Transfer out", b.sent * gatewayByte, 0},
	}
}

// dollars is what one operation costs.
func (b bill) dollars() (sum float64) {
	for _, item := range b.items() {
		sum += item.dollars
	}
	return sum
}

// cell is empty where there is no charge.
func (item billItem) cell() string {
	switch text := fmt.Sprintf("%.2f", item.dollars*1e6); {
	case item.dollars == 0:
		return ""
	case item.shown != 0:
		return fmt.Sprintf("%s (%.2f)", text, item.shown)
	default:
		return text
	}
}

// costRows are requests whose calls are counted, and what the jobs do later.
func (b *bench) costRows(ctx context.Context) ([]row, error) {
	s, err := b.openShelf(ctx)
	if err == nil {
		err = b.makeBundles(ctx)
	}
	if err != nil {
		return nil, err
	}
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
	m := &maker{bench: b, ctx: ctx}
	cold, lone := b.coldRow(), b.loneRow()
	publish := b.publishRow()
	publish.stock, publish.work = repeated(publish.work, b.atMost(costedFlows)), nil
	cold.bill = content
	publish.bill, lone.bill = flow, flow
	often := b.atMost(hotReads)
	rows := []row{
		cold,
		{name: "hot", title: "Content GET, 4 KB, hot", bill: content, stock: repeated(m.hotRead(smallSize), often)},
		{
			name:  "view",
			title: "Agent view, 10 files",
			bill:  bill{http: 1, memory: smallFunction},
			stock: repeated(getting(s.Agent, s.path("/agent-view")), often),
		},
		publish,
		lone,
	}
	for n := range rows {
		rows[n].whole = true
	}
	jobs := bill{memory: smallFunction, atOnce: limits.JobWorkers}
	for _, l := range lives {
		steps := b.steps(l, b.livesCounted())
		steps[len(steps)-1].bill = jobs
		rows = append(rows, steps...)
	}
	return rows, m.err
}

// printBills prints a column for each row that is billed, and a line for each item.
func (b *bench) printBills(w io.Writer, rows []*row) error {
	head, last := []string{"$ per million"}, []string{"**Sum**"}
	var lines [][]string
	for _, r := range rows {
		if r.bill.memory == 0 {
			continue
		}
		l := r.bill.of(r)
		for n, item := range l.items() {
			if len(head) == 1 {
				lines = append(lines, []string{item.title})
			}
			lines[n] = append(lines[n], item.cell())
		}
		head, last = append(head, r.title), append(last, fmt.Sprintf("**%.2f**", l.dollars()*1e6))
	}
	printTable(w, head, append(lines, last)...)
	return nil
}
