package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	page     = "https://example.com/client.json" // the certificate of httptest names its host
	maxBytes = 10 << 10
)

var outer = netip.MustParseAddr("93.184.215.14")

// fakeResolver answers each lookup of a name with the next of its answers, and then with the last one.
type fakeResolver map[string][][]netip.Addr

func (f fakeResolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	answers := f[host]
	if len(answers) == 0 {
		return nil, errors.New("no such host")
	}
	if len(answers) > 1 {
		f[host] = answers[1:]
	}
	return answers[0], nil
}

// site is a server that a client takes for a public one.
type site struct {
	*Client
	mu    sync.Mutex
	dials []string
}

// newSite serves every address that the client connects to by a real server with TLS.
func newSite(t *testing.T, h http.HandlerFunc) *site {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	s := &site{}
	s.Client = New(5*time.Second, nil)
	s.Roots = x509.NewCertPool()
	s.Roots.AddCert(server.Certificate())
	s.Resolver = fakeResolver{"example.com": {{outer}}}
	s.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		s.mu.Lock()
		s.dials = append(s.dials, address)
		s.mu.Unlock()
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return s
}

func TestADocumentIsReadWithoutAnythingThatTellsOfTheReader(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	var seen []http.Header
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Clone())
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Cache-Control", "public, max-age=600")
		w.Header().Set("Age", "60")
		io.WriteString(w, `{"a":1}`)
	})
	for range 2 {
		body, fresh, err := s.Get(t.Context(), page, maxBytes)
		if err != nil || string(body) != `{"a":1}` || fresh != 9*time.Minute {
			t.Fatalf("%q %s %v", body, fresh, err)
		}
	}
	want := http.Header{
		"Accept":          {"application/json"},
		"Accept-Encoding": {"identity"},
		"Connection":      {"close"},
		"User-Agent":      {"Vitrine"},
	}
	for _, got := range seen {
		if len(got) != len(want) {
			t.Errorf("sent %v", got)
		}
		for name, values := range want {
			if !slices.Equal(got[name], values) {
				t.Errorf("sent %s %q, not %q", name, got[name], values)
			}
		}
	}
	if !slices.Equal(s.dials, []string{"93.184.215.14:443", "93.184.215.14:443"}) {
		t.Errorf("connected to %v", s.dials)
	}
}

func TestT30NoInnerAddressIsReached(t *testing.T) {
	s := newSite(t, func(http.ResponseWriter, *http.Request) { t.Error("the server is asked") })
	inner := netip.MustParseAddr("10.0.0.1")
	s.Resolver = fakeResolver{
		"inner.example.com":    {{inner}},
		"both.example.com":     {{outer, inner}},
		"metadata.example.com": {{netip.MustParseAddr("169.254.169.254")}},
		"mapped.example.com":   {{netip.MustParseAddr("::ffff:10.0.0.1")}},
		"nothing.example.com":  {{}},
		"0x7f000001":           {{netip.MustParseAddr("127.0.0.1")}},
		"2130706433":           {{netip.MustParseAddr("127.0.0.1")}},
		"127.1":                {{netip.MustParseAddr("127.0.0.1")}},
		"localhost":            {{netip.MustParseAddr("127.0.0.1")}},
	}
	for url, want := range map[string]error{
		"https://127.0.0.1/c":                 errInner,
		"https://169.254.169.254/latest/":     errInner,
		"https://[::1]/c":                     errInner,
		"https://[::ffff:10.0.0.1]/c":         errInner,
		"https://[64:ff9b::a00:1]/c":          errInner,
		"https://[2002:a00:1::1]/c":           errInner,
		"https://[fd00::1]:443/c":             errInner,
		"https://10.0.0.1:443/c":              errInner,
		"https://inner.example.com/c":         errInner,
		"https://both.example.com/c":          errInner,
		"https://metadata.example.com/c":      errInner,
		"https://mapped.example.com/c":        errInner,
		"https://nothing.example.com/c":       errName,
		"https://0x7f000001/c":                errName,
		"https://2130706433/c":                errName,
		"https://127.1/c":                     errName,
		"https://localhost/c":                 errName,
		"https://example.com:22/c":            errPort,
		"https://example.com:/c":              errPort,
		"https://[fd00::1]:8443/c":            errPort,
		"http://example.com/c":                errScheme,
		"gopher://example.com/c":              errScheme,
		"file:///etc/passwd":                  errURL,
		"https://user@example.com/c":          errURL,
		"https://example.com/c#f":             errURL,
		"/c":                                  errURL,
		"https://exa mple.com/c":              errURL,
		"https://example.com@169.254.169.254": errURL,
	} {
		if body, _, err := s.Get(t.Context(), url, maxBytes); body != nil || !errors.Is(err, want) {
			t.Errorf("%s: %v, not %v", url, err, want)
		}
	}
	if len(s.dials) > 0 {
		t.Errorf("connected to %v", s.dials)
	}
}

// A name that resolves to a public address when it is judged and to an inner one afterwards reaches neither but the
// first.
func TestT30ANameThatRebindsIsConnectedWhereItWasJudged(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })
	s.Resolver = fakeResolver{"example.com": {{outer}, {netip.MustParseAddr("127.0.0.1")}}}
	if _, _, err := s.Get(t.Context(), page, maxBytes); err != nil {
		t.Error(err)
	}
	if _, _, err := s.Get(t.Context(), page, maxBytes); !errors.Is(err, errInner) {
		t.Errorf("the second time: %v", err)
	}
	if !slices.Equal(s.dials, []string{"93.184.215.14:443"}) {
		t.Errorf("connected to %v", s.dials)
	}
}

func TestT30NoRedirectIsFollowed(t *testing.T) {
	for _, to := range []string{
		"http://169.254.169.254/latest/", "http://example.com/c", page + "2", "gopher://example.com/",
	} {
		s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			io.WriteString(w, "{}")
		})
		if body, _, err := s.Get(t.Context(), page, maxBytes); body != nil || err == nil || len(s.dials) != 1 {
			t.Errorf("%s: %q %v, connected to %v", to, body, err, s.dials)
		}
	}
}

func TestT31AnEndlessAnswerIsCutOff(t *testing.T) {
	const gigabyte = 1 << 30
	var written atomic.Int64
	ended := make(chan struct{}, 1)
	for _, told := range []string{"1073741824", ""} {
		written.Store(0)
		s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
			if told != "" {
				w.Header().Set("Content-Length", told)
			}
			block := []byte(strings.Repeat(" ", 64<<10))
			for written.Load() < gigabyte {
				n, err := w.Write(block)
				if written.Add(int64(n)); err != nil {
					break
				}
			}
			ended <- struct{}{}
		})
		if body, _, err := s.Get(t.Context(), page, maxBytes); body != nil || !errors.Is(err, errLong) {
			t.Errorf("%d bytes, %v", len(body), err)
		}
		if <-ended; written.Load() >= gigabyte {
			t.Error("all of it was sent")
		}
	}
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, maxBytes)) })
	if body, _, err := s.Get(t.Context(), page, maxBytes); err != nil || len(body) != maxBytes {
		t.Errorf("the largest answer: %d bytes, %v", len(body), err)
	}
	if body, _, err := s.Get(t.Context(), page, maxBytes-1); body != nil || !errors.Is(err, errLong) {
		t.Errorf("a byte more: %d bytes, %v", len(body), err)
	}
}

func TestT31ASlowAnswerIsGivenUp(t *testing.T) {
	for name, begin := range map[string]func(http.ResponseWriter){
		"before its header": func(http.ResponseWriter) {},
		"in its body": func(w http.ResponseWriter) {
			io.WriteString(w, "{")
			w.(http.Flusher).Flush()
		},
	} {
		s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
			begin(w)
			<-r.Context().Done() // when the client has left
		})
		s.Timeout = 200 * time.Millisecond
		if body, _, err := s.Get(t.Context(), page, maxBytes); body != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %q %v", name, body, err)
		}
	}
}

func TestAnAnswerThatIsNoDocumentIsRefused(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"404":           http.NotFound,
		"204":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"compressed":    func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "gzip") },
		"a long header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 64<<10)) },
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "{}")
		},
	} {
		s := newSite(t, h)
		if body, _, err := s.Get(t.Context(), page, maxBytes); body != nil || err == nil {
			t.Errorf("%s: %q %v", name, body, err)
		} else if strings.Contains(err.Error(), "client.json") {
			t.Errorf("%s: the error quotes the URL: %v", name, err)
		}
	}
}

func TestACertificateOfAnotherHostIsRefused(t *testing.T) {
	s := newSite(t, func(http.ResponseWriter, *http.Request) { t.Error("the server is asked") })
	s.Resolver = fakeResolver{"other.test": {{outer}}, "example.com": {{outer}}}
	if _, _, err := s.Get(t.Context(), "https://other.test/c", maxBytes); err == nil {
		t.Error("a certificate serves another host")
	}
	s.Roots = x509.NewCertPool()
	if _, _, err := s.Get(t.Context(), page, maxBytes); err == nil {
		t.Error("a certificate of no known authority serves")
	}
}

func TestExemptOriginsAloneMayBeOnThisMachine(t *testing.T) {
	var asked atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); io.WriteString(w, "{}") })
	server, other := httptest.NewServer(h), httptest.NewServer(h)
	defer server.Close()
	defer other.Close()
	c := New(5*time.Second, []string{server.URL})
	if body, _, err := c.Get(t.Context(), server.URL+"/client.json", maxBytes); err != nil || string(body) != "{}" {
		t.Errorf("%q %v", body, err)
	}
	for _, url := range []string{
		other.URL + "/client.json",
		strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/client.json",
		strings.Replace(server.URL, "http:", "https:", 1) + "/client.json",
		strings.Replace(server.URL, "//", "//user@", 1) + "/client.json",
	} {
		if _, _, err := c.Get(t.Context(), url, maxBytes); err == nil {
			t.Errorf("%s is read", url)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("%d requests", asked.Load())
	}
}
