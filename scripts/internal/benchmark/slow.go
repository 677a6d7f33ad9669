package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"vitrine/scripts/testkit/wire"
)

const (
	slowSeconds   = 60               // how long a row is measured by default
	slowReaders   = 200              // that take slowRate
	idleReaders   = 20               // that take no bytes
	slowRate      = 1 << 10          // bytes a second
	slowFile      = 10 << 20         // bytes of what they ask for: the largest file of a free workspace
	slowHold      = 15 * time.Second // how long a slow reader keeps a connection
	slowPause     = time.Second      // before it asks again
	slowArrival   = time.Second / 50 // between two of them at the start
	otherEvery    = time.Second / 2  // how often the other reader asks
	otherPatience = 40 * time.Second // and how long it waits
	slowBuffer    = 4 << 10          // of a slow reader's socket, so that the kernel does not read for it
)

// slowRow is one line of the table of -slow-readers: a row of the other reader, beside slow ones.
type slowRow struct {
	row
	slow, place int // readers, and from how many addresses

	mu                                       sync.Mutex
	unanswered, admitted, refused, throttled int
	cut                                      row // of those that were cut off: how long they had held their function
}

var slowHead = []string{
	"Slow readers", "Other reads", "p50 ms", "p99 ms", "Slowest ms", "Unanswered", "Admitted", "Refused", "Throttled",
	"Cut off", "after s, p50",
}

const slowLegend = `
The other reader asks for %d KB of another artifact twice a second, whether or not it was answered, and waits %v at
most, which is also what a read counts that was not answered. %d slow readers ask for %d MB of one artifact and take %d
bytes a second, %d more take nothing; all ask again after %v, or when they were refused. Throttled: the gateway had no
function for them. Cut off: by the content host, as its log has it. Each host runs as %d functions.
`

// slowReaders measures what slow readers of one artifact do to the reader of another.
func (b *bench) slowReaders(ctx context.Context, stdout io.Writer) error {
	p, err := b.agents[0].PublishFiles(ctx, "Slow", "", wire.File{Path: "slow.bin", Body: noise(slowFile)})
	if err != nil {
		return err
	}
	var lines [][]string
	for _, r := range []*slowRow{
		{row: row{name: "none", title: "none"}},
		{row: row{name: "near", title: "from 1 address"}, slow: slowReaders, place: 1},
		{row: row{name: "far", title: "from 25 addresses"}, slow: slowReaders, place: 25},
	} {
		if !b.asked.MatchString(r.name) {
			continue
		}
		b.say("measuring %s", r.title)
		if err := b.slowRow(ctx, r, p.RevisionContentURL); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		lines = append(lines, r.line())
	}
	printTable(stdout, slowHead, lines...)
	sayMachine(stdout, slowLegend, smallSize>>10, otherPatience, slowReaders, slowFile>>20, slowRate, idleReaders,
		slowHold, b.processes)
	return nil
}

// slowRow measures one row, once the hosts are free of the row before.
func (b *bench) slowRow(ctx context.Context, r *slowRow, target string) error {
	settle, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	read := fetching(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, b.reads[0].url, b.reads[0].size)
	for began := time.Now(); ; began = time.Now() {
		if err := read(settle, 0); err == nil && time.Since(began) < time.Second {
			break
		}
		if settle.Err() != nil {
			return errors.New("the hosts do not answer a read of 4 KB within a second, although nobody else asks")
		}
		time.Sleep(otherEvery)
	}
	before := len(cutReaders(b.hostsLog()))
	ctx, stop := context.WithTimeout(ctx, b.duration)
	defer stop()
	var readers sync.WaitGroup
	for n := range r.slow + r.slow*idleReaders/slowReaders {
		readers.Go(func() { r.repeat(ctx, n, target) })
	}
	r.others(ctx, read)
	readers.Wait()
	r.cut.add(cutReaders(b.hostsLog())[before:], 0, reading{})
	return nil
}

// hostsLog is what functions have printed so far; a log that cannot be read tells of nothing.
func (b *bench) hostsLog() string {
	log, _ := os.ReadFile(filepath.Join(b.folder, requestLog))
	return string(log)
}

var cutLine = regexp.MustCompile(`"duration_ms":([\d.]+),.*"slow_reader":true`)

// cutReaders are how long readers that were cut off had held their functions.
func cutReaders(log string) (held []time.Duration) {
	for _, line := range cutLine.FindAllStringSubmatch(log, -1) {
		ms, _ := strconv.ParseFloat(line[1], 64) // it matched
		held = append(held, time.Duration(ms*float64(time.Millisecond)))
	}
	return held
}

// others is the reader that slow ones should not harm. A read that is on its way at the end is awaited and counts.
func (r *slowRow) others(ctx context.Context, read operation) {
	tick := time.NewTicker(otherEvery)
	defer tick.Stop()
	var reads sync.WaitGroup
	for ctx.Err() == nil {
		reads.Go(func() {
			one, cancel := context.WithTimeout(context.WithoutCancel(ctx), otherPatience)
			defer cancel()
			began := time.Now()
			err := read(one, 0)
			took := time.Since(began)
			r.mu.Lock()
			defer r.mu.Unlock()
			if err != nil {
				r.unanswered++
				took = otherPatience
			}
			r.add([]time.Duration{took}, 0, reading{})
		})
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	reads.Wait()
}

// repeat is one slow reader, until ctx ends.
func (r *slowRow) repeat(ctx context.Context, n int, target string) {
	pause(ctx, time.Duration(n)*slowArrival)
	for ctx.Err() == nil {
		r.take(ctx, n, target)
		pause(ctx, slowPause)
	}
}

// take asks once and takes the answer slowly, or not at all, until the reader or the host has enough.
func (r *slowRow) take(ctx context.Context, n int, target string) {
	ctx, cancel := context.WithTimeout(ctx, slowHold)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return
	}
	answer, err := slowClient(fmt.Sprintf("127.0.1.%d", 1+n%r.place)).Do(request)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	if !r.answered(answer) {
		return
	}
	buffer := make([]byte, slowRate)
	for err == nil && ctx.Err() == nil {
		if n < r.slow {
			_, err = io.ReadFull(answer.Body, buffer)
		}
		if err == nil {
			pause(ctx, time.Second)
		}
	}
}

func (r *slowRow) answered(a *http.Response) (admitted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case a.StatusCode == http.StatusOK:
		r.admitted++
		return true
	case a.Header.Get("X-Request-Id") != "":
		r.refused++
	default:
		r.throttled++
	}
	return false
}

// slowClient asks from one of the loopback addresses of Linux, each time on a connection of its own.
func slowClient(from string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives:  true,
		DisableCompression: true,
		ReadBufferSize:     slowRate,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, "tcp4", address)
			if err == nil {
				err = conn.(*net.TCPConn).SetReadBuffer(slowBuffer)
			}
			return conn, err
		},
	}}
}

func (r *slowRow) line() []string {
	line := []string{r.title, fmt.Sprint(r.done)}
	for _, p := range []int{50, 99, 100} {
		line = append(line, fmt.Sprintf("%.0f", millis(r.percentile(p))))
	}
	for _, n := range []int{r.unanswered, r.admitted, r.refused, r.throttled, r.cut.done} {
		line = append(line, fmt.Sprint(n))
	}
	return append(line, fmt.Sprintf("%.1f", r.cut.percentile(50).Seconds()))
}
