package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
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
	slowAddresses = 25               // of readers from many addresses
	slowHold      = 15 * time.Second // how long a slow reader keeps a connection
	slowPause     = time.Second      // before it asks again
	slowArrival   = time.Second / 50 // between two of them at the start
	otherEvery    = time.Second / 2  // how often the other reader asks
	otherPatience = 40 * time.Second // and how long it waits
	slowBuffer    = 4 << 10          // of a slow reader's socket, so that the kernel does not read for it
)

// slowRow is one line of the table of -slow-readers.
type slowRow struct {
	name, title       string
	slow, idle, place int // readers, and from how many addresses

	other      []time.Duration
	unanswered int

	mu                           sync.Mutex
	admitted, refused, throttled int
	cut                          []time.Duration // how long those that were cut off had held their function
}

const slowHead = `| Slow readers | Other reads | p50 ms | p99 ms | Slowest ms | Unanswered | Admitted | Refused | Throttled | Cut off | after s, p50 |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

const slowLegend = `
The other reader asks for %d KB of another artifact twice a second, whether or not it was answered, and waits %v at most,
which is also what a read counts that was not answered. %d slow readers ask for %d MB of one artifact and take %d bytes a
second, %d more take nothing; all ask again after %v, or when they were refused. Throttled: the gateway had no function for
them. Cut off: by the content host, as its log has it. Each host runs as %d functions.
`

// slowReaders measures what slow readers of one artifact do to the reader of another.
func (b *bench) slowReaders(ctx context.Context, stdout io.Writer) error {
	p, err := b.agents[0].PublishFiles(ctx, "Slow", "", wire.File{Path: "slow.bin", Body: noise(slowFile)})
	if err != nil {
		return err
	}
	fmt.Fprint(stdout, slowHead)
	for _, r := range []*slowRow{
		{name: "none", title: "none"},
		{
			name:  "near",
			title: "from 1 address",
			slow:  slowReaders,
			idle:  idleReaders,
			place: 1,
		},
		{
			name:  "far",
			title: fmt.Sprintf("from %d addresses", slowAddresses),
			slow:  slowReaders,
			idle:  idleReaders,
			place: slowAddresses,
		},
	} {
		if !b.rows.MatchString(r.name) {
			continue
		}
		b.say("measuring %s", r.title)
		if err := b.slowRow(ctx, r, p.RevisionContentURL); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintln(stdout, r.line())
	}
	_, err = fmt.Fprintf(stdout, slowLegend+machine, smallSize>>10, otherPatience, slowReaders, slowFile>>20, slowRate, idleReaders, slowHold, b.processes,
		runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// slowRow measures one row, once the hosts are free of the row before.
func (b *bench) slowRow(ctx context.Context, r *slowRow, target string) error {
	settle, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	read := fetching(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, b.read.urls[0], b.read.sizes[0])
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
	for n := range r.slow + r.idle {
		readers.Go(func() { r.repeat(ctx, n, target) })
	}
	r.others(ctx, read)
	readers.Wait()
	r.cut = cutReaders(b.hostsLog())[before:]
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
			r.other = append(r.other, took)
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
		r.read(ctx, n, target)
		pause(ctx, slowPause)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// read asks once and takes the answer slowly, or not at all, until the reader or the host has enough.
func (r *slowRow) read(ctx context.Context, n int, target string) {
	ctx, cancel := context.WithTimeout(ctx, slowHold)
	defer cancel()
	conn, answer, err := slowGet(ctx, fmt.Sprintf("127.0.1.%d", 1+n%r.place), target)
	if err != nil {
		return
	}
	defer conn.Close()
	release := context.AfterFunc(ctx, func() { conn.Close() })
	defer release()
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

// slowGet asks from one of the loopback addresses of Linux.
func slowGet(ctx context.Context, from, target string) (net.Conn, *http.Response, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, nil, err
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(ctx, "tcp4", u.Host)
	if err != nil {
		return nil, nil, err
	}
	release := context.AfterFunc(ctx, func() { conn.Close() })
	defer release()
	if err = conn.(*net.TCPConn).SetReadBuffer(slowBuffer); err == nil {
		_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", u.RequestURI(), u.Host)
	}
	var answer *http.Response
	if err == nil {
		answer, err = http.ReadResponse(bufio.NewReaderSize(conn, slowRate), nil)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, answer, nil
}

func (r *slowRow) line() string {
	other, cut := &row{took: r.other}, &row{took: r.cut}
	return fmt.Sprintf("| %s | %d | %.0f | %.0f | %.0f | %d | %d | %d | %d | %d | %.1f |", r.title, len(r.other),
		millis(other.percentile(50)), millis(other.percentile(99)), millis(other.percentile(100)), r.unanswered,
		r.admitted, r.refused, r.throttled, len(r.cut), cut.percentile(50).Seconds())
}
