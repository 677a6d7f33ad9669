// Package loopback receives the redirect from the browser at the end of a sign-in (RFC 8252, section 7.3).
package loopback

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"vitrine/cmd/vitrine/secret"
)

const (
	path = "/callback"
	// drainTime is how long a browser has to read its page when the command is done.
	drainTime = 2 * time.Second
	// headerTime and headerSize bound the resources that other programs on this machine can occupy.
	headerTime = 10 * time.Second
	headerSize = 32 << 10
)

// Page is what the browser shows at the end. Its texts may be untrusted, because they are escaped.
type Page struct {
	Done          bool // the login succeeded
	Heading, Text string
}

// Listener waits on a port of 127.0.0.1 that the system chose. It accepts the first callback with the state of the
// sign-in and then closes the port. Any page in the browser can send other requests to the port; they are answered
// without effect.
type Listener struct {
	state   string
	port    net.Listener
	server  *http.Server
	taken   atomic.Bool
	arrived chan url.Values
	verdict chan Page
	shown   chan struct{}
}

// Listen opens the port for the redirect with this state, which must be unguessable.
func Listen(state string) (*Listener, error) {
	port, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Listener{
		state:   state,
		port:    port,
		arrived: make(chan url.Values, 1),
		verdict: make(chan Page, 1),
		shown:   make(chan struct{}),
	}
	l.server = &http.Server{Handler: l, ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerSize}
	l.server.SetKeepAlivesEnabled(false)
	go l.server.Serve(port) // ends with Close
	return l, nil
}

// RedirectURI returns the address that the authorization server must redirect the browser to.
func (l *Listener) RedirectURI() string { return "http://" + l.port.Addr().String() + path }

// Wait returns the parameters of the callback.
func (l *Listener) Wait(ctx context.Context) (url.Values, error) {
	select {
	case q := <-l.arrived:
		return q, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close sends the page to a waiting browser, and closes the port.
func (l *Listener) Close(p Page) {
	l.verdict <- p
	if l.taken.Load() {
		late := time.NewTimer(drainTime)
		defer late.Stop()
		select {
		case <-l.shown:
		case <-late.C:
		}
	}
	l.server.Close()
}

// ServeHTTP accepts the callback and delays its response until Close. It refuses other host names, because another site
// may point its name to 127.0.0.1.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != path || r.Host != l.port.Addr().String() {
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	if !secret.Same(q["state"], l.state) {
		show(w, unknownPage)
		return
	}
	if !l.taken.CompareAndSwap(false, true) {
		http.Error(w, "this login has had its answer", http.StatusGone)
		return
	}
	defer close(l.shown)
	l.port.Close()
	l.arrived <- q
	show(w, <-l.verdict)
}

// unknownPage is shown for requests that are not the redirect.
var unknownPage = Page{
	Heading: "Not the answer to this sign-in",
	Text:    "The command is still waiting. Go back to the page that it named, or run vitrine login again.",
}

//go:embed page.html
var text string

var page = template.Must(template.New("page").Parse(text))

// policy allows the page's own style only.
var policy = "default-src 'none'; style-src '" + styleHash(text) +
	"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func styleHash(page string) string {
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func show(w http.ResponseWriter, p Page) {
	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil {
		http.Error(w, "the page cannot be shown; see the terminal", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	for name, value := range map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"Content-Length":          strconv.Itoa(b.Len()),
		"Content-Security-Policy": policy,
		"Cache-Control":           "no-store",
		"Referrer-Policy":         "no-referrer",
		"X-Content-Type-Options":  "nosniff",
		"X-Frame-Options":         "DENY",
	} {
		h.Set(name, value)
	}
	if !p.Done {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write(b.Bytes()) // the browser may be gone, which does no harm
	_ = http.NewResponseController(w).Flush()
}
