package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/expect"
)

func TestALineIsReadStrictly(t *testing.T) {
	for text, want := range map[string]lineSpeed{
		"150ms,200KB": {150 * time.Millisecond, 200_000},
		"1ms,60KB":    {time.Millisecond, 60_000},
	} {
		if o, err := parse([]string{"-line", text}, io.Discard); err != nil || o.line != want || o.flag != "line" {
			t.Errorf("-line %q is %v (%v), want %v", text, o.line, err, want)
		}
	}
	for _, text := range []string{
		"", "150ms", "150,200", "150ms,200", "150ms, 200KB", "0ms,200KB", "150ms,0KB", "-1ms,200KB", "1s,200KB",
		"150ms,200kb", "150ms,2MB", "150ms,200KB/s",
	} {
		_, err := parse([]string{"-line", text}, io.Discard)
		expect.Error(t, err, "as 150ms,200KB")
	}
}

// onward answers in the place of the hosts behind a line.
type onward func(r *http.Request) (*http.Response, error)

func (f onward) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering answers all requests with a body, each read of which takes almost as long as a packet.
func answering(body string) onward {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, ProtoMajor: 1, Body: io.NopCloser(slow{strings.NewReader(body)})}, nil
	}
}

type slow struct{ io.Reader }

func (s slow) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	time.Sleep(time.Duration(n) * 999 * time.Nanosecond) // in a bubble
	return n, err
}

// get asks for a URL by a line.
func get(l *slowLine, url string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	l.ServeHTTP(w, httptest.NewRequest("GET", url, nil))
	return w
}

const delay = 150 * time.Millisecond

// newFastLine passes a byte in a microsecond.
func newFastLine(to http.RoundTripper) *slowLine { return newSlowLine(lineSpeed{delay, 1_000_000}, to) }

func TestARequestWaitsForItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFastLine(answering("tides"))
		for n, c := range []struct {
			name, url string
			want      time.Duration
		}{
			{"the first one of a host", "http://localhost:1/a", 3 * delay},
			{"the next one", "http://localhost:1/b", delay},
			{"the first one of another port", "http://localhost:2/", 3 * delay},
			{"the first one of another host", "http://127.0.0.1:1/", 3 * delay},
		} {
			began, w := time.Now(), get(l, c.url)
			sent := l.since(time.Time{})[n]
			want := c.want + time.Duration(sent.bytes)*time.Microsecond
			if took := time.Since(began); took != want || sent.ended.Sub(sent.began) != want {
				t.Errorf("%s took %v for %d bytes, want %v", c.name, took, sent.bytes, want)
			}
			if w.Body.String() != "tides" || sent.bytes <= w.Body.Len() {
				t.Errorf("%q came in %d bytes, head and all", w.Body, sent.bytes)
			}
		}
	})
}

// TestRequestsAtOnceOpenOneConnection has two requests of a host wait for the same connection.
func TestRequestsAtOnceOpenOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, began := newFastLine(answering("")), time.Now()
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() { get(l, "http://localhost:1/") })
			time.Sleep(delay) // in a bubble
		}
		wait.Wait()
		for n, s := range l.since(began) {
			if early := 3*delay - s.ended.Sub(began); early > 0 {
				t.Errorf("request %d ended %v before the connection was open", n, early)
			}
		}
	})
}

func TestAnswersShareALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, began := newFastLine(answering(strings.Repeat("x", 100_000))), time.Now()
		var wait sync.WaitGroup
		for _, url := range []string{"http://localhost:1/", "http://127.0.0.1:1/"} {
			wait.Go(func() { get(l, url) })
		}
		wait.Wait()
		sent := l.since(began)
		whole := 3*delay + time.Duration(sent[0].bytes+sent[1].bytes)*time.Microsecond
		if took := time.Since(began); took != whole {
			t.Errorf("both took %v, want %v", took, whole)
		}
		for _, s := range sent {
			if early := whole - s.ended.Sub(began); early > packet*time.Microsecond {
				t.Errorf("one ended %v before the other", early)
			}
		}
	})
}

func TestALineReachesThisMachineOnly(t *testing.T) {
	l := newFastLine(onward(func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was forwarded", r.URL)
		return nil, io.EOF
	}))
	for target, c := range map[string]struct {
		method string
		status int
	}{
		"/":                        {"GET", 501},
		"https://localhost/":       {"GET", 501},
		"localhost:1":              {"CONNECT", 501},
		"http://example.org/":      {"GET", 403},
		"http://localhost.org/":    {"GET", 403},
		"http://10.0.0.1/":         {"POST", 403},
		"http://169.254.169.254/":  {"GET", 403},
		"http://me@example.org:1/": {"GET", 403},
	} {
		w := httptest.NewRecorder()
		l.ServeHTTP(w, httptest.NewRequest(c.method, target, nil))
		if w.Code != c.status || len(l.since(time.Time{})) != 0 {
			t.Errorf("%s %s is answered with %d, want %d", c.method, target, w.Code, c.status)
		}
	}
}

func TestALineChangesNothing(t *testing.T) {
	body := noise(100_000)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Encoding", "zstd")
		w.Header().Set("Saw", r.Host+" "+r.URL.RequestURI()+" "+r.Header.Get("Accept-Encoding")+" "+string(got))
		w.WriteHeader(418)
		w.Write(body[:50_000])
		if r.Method == "DELETE" {
			panic(http.ErrAbortHandler)
		}
		w.Write(body[50_000:])
	}))
	defer host.Close()
	l, proxy, stop, err := startLine(lineSpeed{time.Millisecond, 900_000_000})
	expect.OK(t, err)
	defer stop()
	at := expect.Value(url.Parse(proxy))(t)
	plain := &http.Transport{Proxy: http.ProxyURL(at), DisableKeepAlives: true, DisableCompression: true}
	client := http.Client{Transport: plain}
	for method, accepts := range map[string]string{"POST": "br, zstd", "DELETE": ""} {
		r := expect.Value(http.NewRequest(method, host.URL+"/a%2Fb?c", strings.NewReader("tides")))(t)
		r.Header.Set("Accept-Encoding", accepts)
		a := expect.Value(client.Do(r))(t)
		got, err := io.ReadAll(a.Body)
		a.Body.Close()
		whole := err == nil && bytes.Equal(got, body)
		if a.StatusCode != 418 || a.Header.Get("Content-Encoding") != "zstd" {
			t.Errorf("the answer is %d with %v", a.StatusCode, a.Header)
		}
		want := strings.TrimPrefix(host.URL, "http://") + " /a%2Fb?c " + accepts + " tides"
		if saw := a.Header.Get("Saw"); saw != want {
			t.Errorf("the host saw %q, want %q", saw, want)
		}
		if cut := l.since(time.Time{})[len(l.sent)-1].cut; whole != (method == "POST") || cut == whole {
			t.Errorf("%s: whole %v (%v), said to be cut: %v", method, whole, err, cut)
		}
	}
}
