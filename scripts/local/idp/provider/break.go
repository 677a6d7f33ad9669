package provider

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// Break is how an endpoint misbehaves.
type Break string

// The ways to misbehave.
const (
	Works     Break = ""
	Slow      Break = "slow"     // answers after slowness
	Stalls    Break = "stalls"   // never answers
	Fails     Break = "fails"    // answers 500
	Long      Break = "long"     // answers megabytes
	Endless   Break = "endless"  // answers until the client has enough
	Redirects Break = "redirect" // sends to another path of this provider
	Babbles   Break = "babbles"  // answers with a body that is not JSON
)

const slowness = 700 * time.Millisecond

// Break makes an endpoint misbehave until it is told Works. Endpoints are the paths: "/token".
func (p *Provider) Break(path string, how Break) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken[path] = how
}

// Heal lets every endpoint work.
func (p *Provider) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.broken)
}

// Asked returns how often a path was asked for.
func (p *Provider) Asked(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

func (p *Provider) breakable(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		how := p.broken[r.URL.Path]
		p.asked[r.URL.Path]++
		p.mu.Unlock()
		switch how {
		case Slow:
			select {
			case <-time.After(slowness):
				h(w, r)
			case <-r.Context().Done():
			}
		case Stalls:
			io.Copy(io.Discard, r.Body) // only then the server sees that the client has left
			<-r.Context().Done()
		case Fails:
			http.Error(w, "broken", http.StatusInternalServerError)
		case Long:
			answer(w, http.StatusOK, map[string]any{"issuer": p.issuer, "keys": []string{strings.Repeat("x", 4<<20)}})
		case Endless:
			endless(w)
		case Redirects:
			http.Redirect(w, r, "/healthz", http.StatusFound)
		case Babbles:
			w.Write([]byte("<html>"))
		default:
			h(w, r)
		}
	}
}

// endless sends keys until they cannot be sent any more.
func endless(w http.ResponseWriter) {
	piece := []byte(`"` + strings.Repeat("x", 64<<10) + `",`)
	for _, err := io.WriteString(w, `{"keys":[`); err == nil; {
		_, err = w.Write(piece)
	}
}
