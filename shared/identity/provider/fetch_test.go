package provider

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/shared/adapter/fetch"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// fakeResolver has one address for all names.
type fakeResolver string

func (f fakeResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(string(f))}, nil
}

// host serves keys by HTTPS at a name that resolves to a public address.
type host struct {
	*env
	client   *fetch.Client
	requests atomic.Int64
	dials    atomic.Int64
}

func newHost(t *testing.T, h http.HandlerFunc) *host {
	t.Helper()
	e := &host{env: newEnv(t)}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.requests.Add(1)
		h(w, r)
	}))
	t.Cleanup(server.Close)
	e.client = fetch.New(10*time.Second, nil)
	e.client.Roots = x509.NewCertPool()
	e.client.Roots.AddCert(server.Certificate())
	e.client.Resolver = fakeResolver("93.184.215.14")
	e.client.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		e.dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	e.Documents = e.client
	e.Providers[0].JWKS = "https://example.com/keys" // the certificate of httptest names this host
	return e
}

// wantUnavailable fails unless an assertion is refused because the keys cannot be read, after so many requests.
func (h *host) wantUnavailable(t *testing.T, requests int64) {
	t.Helper()
	for range 5 {
		_, err := h.Assertion(t.Context(), h.assertion(t, nil))
		wantCode(t, err, fault.OAuthTemporarilyUnavailable)
	}
	if got := h.requests.Load(); got != requests {
		t.Errorf("%d requests, want %d", got, requests)
	}
}

func TestT21AHostThatHangsIsGivenUp(t *testing.T) {
	for name, begin := range map[string]func(http.ResponseWriter){
		"before its header": func(http.ResponseWriter) {},
		"in its body": func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"keys":[`)
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, func(w http.ResponseWriter, r *http.Request) {
				begin(w)
				<-r.Context().Done() // when the client has left
			})
			h.client.Timeout = 200 * time.Millisecond
			h.wantUnavailable(t, 1)
		})
	}
}

// TestT21ACallerWaitsAsLongAsItsContext has a host that hangs longer than the caller stays.
func TestT21ACallerWaitsAsLongAsItsContext(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	h := newHost(t, func(http.ResponseWriter, *http.Request) {
		close(began)
		<-end
	})
	t.Cleanup(func() { close(end) })
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-began
		leave()
	}()
	_, err := h.Assertion(ctx, h.assertion(t, nil))
	wantCode(t, err, fault.OAuthTemporarilyUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestT21AHostThatSendsTooMuchIsCutOff(t *testing.T) {
	for size, told := range map[int64]bool{5 << 20: true, 100 << 20: true, 100<<20 + 1: false} {
		t.Run(fmt.Sprintf("%d bytes, told %v", size, told), func(t *testing.T) {
			var sent atomic.Int64
			ended := make(chan struct{}, 1)
			h := newHost(t, func(w http.ResponseWriter, _ *http.Request) {
				if told {
					w.Header().Set("Content-Length", fmt.Sprint(size))
				}
				block := []byte(strings.Repeat(" ", 64<<10))
				for sent.Load() < size {
					n, err := w.Write(block)
					sent.Add(int64(n))
					if err != nil {
						break
					}
				}
				ended <- struct{}{}
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h.wantUnavailable(t, 1)
			<-ended
			runtime.ReadMemStats(&after)
			if sent.Load() >= size {
				t.Error("all of it was sent")
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
				t.Errorf("%d bytes were allocated", took)
			}
		})
	}
}

func TestT21NoRedirectAndNoInnerAddressIsFollowed(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the inner host is asked") }))
	defer inner.Close()
	h := newHost(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", inner.URL+"/keys")
		w.WriteHeader(http.StatusFound)
	})
	h.wantUnavailable(t, 1)

	for _, address := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "fd00::1"} {
		h := newHost(t, func(http.ResponseWriter, *http.Request) {})
		h.client.Resolver = fakeResolver(address)
		h.wantUnavailable(t, 0)
		if n := h.dials.Load(); n != 0 {
			t.Errorf("%s: %d connections", address, n)
		}
	}
}

// TestT21AHostThatFlipsItsKeysHarmsItsOwnTokensOnly has a host with another key under another id at each request.
func TestT21AHostThatFlipsItsKeysHarmsItsOwnTokensOnly(t *testing.T) {
	keys := []signingKey{newEC(t, "k0"), newEC(t, "k1"), newEC(t, "k2")}
	var h *host
	h = newHost(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Write(publish(t, keys[min(h.requests.Load()-1, 2)]))
	})
	h.take(t, keys[0], "")
	h.take(t, keys[1], "")
	h.take(t, keys[0], fault.OAuthInvalidSignature)
	h.take(t, keys[2], fault.OAuthInvalidSignature)
	h.take(t, keys[1], "")
	if got := h.requests.Load(); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

// TestT21AHostThatLiesAboutTheIdHasNoKey has a host that answers each question with a key under the wrong id.
func TestT21AHostThatLiesAboutTheIdHasNoKey(t *testing.T) {
	h := newHost(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Write(publish(t, newKid(signingKeys()["ES256"], 1), newEC(t, "ec")))
	})
	for range 20 {
		h.take(t, h.key, fault.OAuthInvalidSignature)            // the id names another key
		h.take(t, newKid(h.key, 2), fault.OAuthInvalidSignature) // no key has the id
	}
	if got := h.requests.Load(); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

func TestT20AFloodAtOnceAsksTheHostOnce(t *testing.T) {
	key := signingKeys()["ES256"]
	h := newHost(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(publish(t, key)) })
	tokens := make([]string, 300)
	for n := range tokens {
		tokens[n] = newKid(key, n).sign(t, contract.AssertionType, assertionClaims(), nil)
	}
	var all sync.WaitGroup
	for _, token := range tokens {
		all.Go(func() {
			_, err := h.Assertion(t.Context(), token)
			wantCode(t, err, fault.OAuthInvalidSignature)
		})
	}
	all.Wait()
	h.take(t, key, "")
	if got := h.requests.Load(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}
