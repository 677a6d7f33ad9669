package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/journey/harness"
)

// killingProxy stands between a command and a deployment, counts the requests, and kills the command at one of them.
type killingProxy struct {
	t       testing.TB
	direct  *http.Client
	handles sync.WaitGroup

	mu     sync.Mutex
	behind map[string]string // address of the proxy by origin
	seen   []string          // requests of this run
	at     int               // number of the request to kill at, from 1; 0 for none
	after  bool              // kill once the request has had its effect, not before
	kill   func()
	dead   bool
	stored map[string]bool // paths of the files that were stored
}

func newKillingProxy(t testing.TB) *killingProxy {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp4", address)
	}
	transport := &http.Transport{DisableCompression: true, DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &killingProxy{
		t:      t,
		direct: &http.Client{Transport: transport},
		behind: map[string]string{},
		stored: map[string]bool{},
	}
}

// address returns the address at which the proxy answers for an origin.
func (p *killingProxy) address(origin string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.behind[origin] == "" {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, origin) }))
		p.t.Cleanup(s.Close)
		p.behind[origin] = s.URL
	}
	return p.behind[origin]
}

// aim chooses the request of the next run to kill at.
func (p *killingProxy) aim(at int, after bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.after = at, after
	p.seen, p.kill = nil, nil
	p.dead = false
}

func (p *killingProxy) serve(w http.ResponseWriter, r *http.Request, origin string) {
	p.handles.Add(1)
	defer p.handles.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the command was killed meanwhile
	}
	hit, dead := p.count(r)
	if dead || hit && p.killed(!p.after) {
		panic(http.ErrAbortHandler)
	}
	answer, text := p.forward(r, origin, body)
	if hit && p.killed(p.after) {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(answer.StatusCode)
	w.Write(p.rewrite(text))
}

// count notes a request, and reports whether it is the one to kill at. A file that is stored must not be sent again.
func (p *killingProxy) count(r *http.Request) (hit, dead bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false, true
	}
	p.seen = append(p.seen, r.Method+" "+r.URL.Path)
	if r.Method == http.MethodPut && p.stored[r.URL.Path] {
		p.t.Errorf("%s is stored and was sent again", r.URL.Path)
	}
	return len(p.seen) == p.at, false
}

// killed kills the command if now is the time.
func (p *killingProxy) killed(now bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now {
		p.dead = true
		p.kill()
	}
	return now
}

func (p *killingProxy) forward(r *http.Request, origin string, body []byte) (*http.Response, []byte) {
	out := harness.Must(http.NewRequest(r.Method, origin+r.URL.RequestURI(), bytes.NewReader(body)))(p.t)
	out.Header = r.Header.Clone()
	if len(body) == 0 {
		out.Body = http.NoBody
	}
	answer, err := p.direct.Do(out)
	if err != nil {
		p.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Error(err)
	}
	if r.Method == http.MethodPut && answer.StatusCode == http.StatusOK {
		p.mu.Lock()
		p.stored[r.URL.Path] = true
		p.mu.Unlock()
	}
	return answer, text
}

// rewrite leads the addresses of hosts and uploads in an answer through the proxy.
func (p *killingProxy) rewrite(text []byte) []byte {
	var answer map[string]any
	if json.Unmarshal(text, &answer) != nil {
		return text
	}
	p.lead(answer, "api_url", "upload_url")
	files, _ := answer["files"].([]any)
	for _, f := range files {
		if target, ok := f.(map[string]any); ok {
			p.lead(target, "put_url")
		}
	}
	return harness.Must(json.Marshal(answer))(p.t)
}

func (p *killingProxy) lead(object map[string]any, names ...string) {
	for _, name := range names {
		text, _ := object[name].(string)
		if u, err := url.Parse(text); err == nil && text != "" {
			origin := u.Scheme + "://" + u.Host
			object[name] = p.address(origin) + strings.TrimPrefix(text, origin)
		}
	}
}
