package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lineSpeed is how slow a line is.
type lineSpeed struct {
	delay time.Duration // of a request
	rate  int           // bytes a second that answers may take together
}

var lineForm = regexp.MustCompile(`^([1-9]\d{0,3})ms,([1-9]\d{0,5})KB$`)

func (o *options) setLine(text string) error {
	figures := lineForm.FindStringSubmatch(text)
	if figures == nil {
		return errors.New("write the delay of a request and what passes in a second, as 150ms,200KB")
	}
	delay, _ := strconv.Atoi(figures[1]) // it matched
	kilobytes, _ := strconv.Atoi(figures[2])
	o.line = lineSpeed{delay: time.Duration(delay) * time.Millisecond, rate: kilobytes * 1000}
	return nil
}

// slowLine is a forward proxy that makes hosts of this machine as slow to reach as by a line. Each request waits for
// the delay, the first one of a host for two more, which stand for TCP and TLS. All answers together pass at the rate,
// heads included.
type slowLine struct {
	lineSpeed
	onward http.RoundTripper

	mu    sync.Mutex
	ready map[string]time.Time // when a host's connection is open
	free  time.Time            // when all that was let through has passed
	sent  []*transfer
}

// transfer is a request that passed the line.
type transfer struct {
	method       string
	target       *url.URL
	began, ended time.Time // ended is zero while it runs
	bytes        int       // of the answer
	cut          bool      // the host ended the answer too early
}

func newSlowLine(s lineSpeed, onward http.RoundTripper) *slowLine {
	return &slowLine{lineSpeed: s, onward: onward, ready: map[string]time.Time{}}
}

// startLine starts a proxy and returns its URL, and how it ends.
func startLine(s lineSpeed) (l *slowLine, url string, stop func(), err error) {
	l = newSlowLine(s, &http.Transport{DisableCompression: true, DisableKeepAlives: true, DialContext: dialNarrow})
	url, stop, err = serveHere(&http.Server{Handler: l})
	return l, url, stop, err
}

// serveHere starts a server on the loopback interface and returns its URL, and how it ends.
func serveHere(s *http.Server) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", func() {}, err
	}
	s.ErrorLog = silent
	go s.Serve(listener)
	return "http://" + listener.Addr().String(), func() { s.Close() }, nil
}

// silent is for servers whose clients leave when they like.
var silent = log.New(io.Discard, "", 0)

// isLocal reports whether a name is of this machine, such as the own origin of an artifact.
func isLocal(name string) bool { return name == "localhost" || strings.HasSuffix(name, ".localhost") }

// dialNarrow opens a connection that holds little, so that a host sees how slowly its answer passes.
func dialNarrow(ctx context.Context, network, address string) (net.Conn, error) {
	if name, port, err := net.SplitHostPort(address); err == nil && isLocal(name) { // resolvers do not know all of them
		address = net.JoinHostPort("localhost", port)
	}
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if t, ok := c.(*net.TCPConn); ok {
		err = t.SetReadBuffer(64 << 10)
	}
	return c, err
}

func (l *slowLine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Scheme != "http" { // that of CONNECT is empty
		http.Error(w, "this proxy forwards requests of http:// URLs only", http.StatusNotImplemented)
		return
	}
	if ip := net.ParseIP(r.URL.Hostname()); !isLocal(r.URL.Hostname()) && !ip.IsLoopback() {
		http.Error(w, "this proxy reaches hosts of this machine only", http.StatusForbidden)
		return
	}
	t := l.begin(r)
	defer l.end(t)
	if l.wait(r) != nil {
		return
	}
	forward := httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {}, // nothing
		Transport:     l.onward,
		FlushInterval: -1,
		ErrorLog:      silent,
		ModifyResponse: func(a *http.Response) error {
			head, err := httputil.DumpResponse(a, false)
			if err != nil {
				return err
			}
			a.Body = &pacedBody{a.Body, l, t, r.Context()}
			return l.pass(r.Context(), t, len(head), 0)
		},
	}
	forward.ServeHTTP(w, r)
}

func (l *slowLine) begin(r *http.Request) *transfer {
	t := &transfer{method: r.Method, target: r.URL, began: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, t)
	return t
}

func (l *slowLine) end(t *transfer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.ended = time.Now()
}

// wait waits as long as the request takes to its host.
func (l *slowLine) wait(r *http.Request) error {
	l.mu.Lock()
	open, known := l.ready[r.URL.Host]
	if !known {
		open = time.Now().Add(2 * l.delay)
		l.ready[r.URL.Host] = open
	}
	l.mu.Unlock()
	pause(r.Context(), max(0, time.Until(open))+l.delay)
	return r.Context().Err()
}

// maxLag is how far an answer may fall behind the line without losing what it could have passed. The machine wakes
// nobody in time.
const maxLag = 100 * time.Millisecond

// pass waits until n more bytes of an answer have passed, which could pass that long ago.
func (l *slowLine) pass(ctx context.Context, t *transfer, n int, lag time.Duration) error {
	l.mu.Lock()
	if least := time.Now().Add(-lag); l.free.Before(least) {
		l.free = least
	}
	l.free = l.free.Add(time.Duration(n) * time.Second / time.Duration(l.rate))
	through := l.free
	t.bytes += n
	l.mu.Unlock()
	pause(ctx, time.Until(through))
	return ctx.Err()
}

// since returns the requests that began at a time or later.
func (l *slowLine) since(at time.Time) (sent []transfer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.sent {
		if !t.began.Before(at) {
			sent = append(sent, *t)
		}
	}
	slices.SortStableFunc(sent, func(x, y transfer) int { return x.began.Compare(y.began) })
	return sent
}

// pacedBody is the body of an answer that passes a line in parts as large as packets, so that answers share it evenly.
type pacedBody struct {
	io.ReadCloser
	line *slowLine
	of   *transfer
	ctx  context.Context
}

const packet = 1400

func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), packet)])
	if err != nil && err != io.EOF && b.ctx.Err() == nil {
		b.line.mu.Lock()
		b.of.cut = true
		b.line.mu.Unlock()
	}
	if n > 0 {
		if late := b.line.pass(b.ctx, b.of, n, maxLag); late != nil {
			return 0, late
		}
	}
	return n, err
}
