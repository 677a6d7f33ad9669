// Package edge stands in front of the upload host on one machine: it passes file uploads to the S3
// engine with only the host replaced, as a CDN does in production.
package edge

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/release"
)

// maxDrain is more than the largest file (25 MB). The rest of a body is read before a refusal,
// because a client that still sends would see a reset.
const maxDrain = 32 << 20

const (
	dialTimeout     = 5 * time.Second
	answerTimeout   = time.Minute // S3's time to answer after the last byte
	idleTimeout     = 30 * time.Second
	idleConnections = 64
	writeBuffer     = 64 << 10
)

// Config locates S3 and the handler of all other requests.
type Config struct {
	Address string       // host and port where S3 listens
	Host    string       // Host header that upload URLs are signed for
	Next    http.Handler // the upload host
	Log     *slog.Logger
}

type edge struct {
	Config
	proxy *httputil.ReverseProxy
}

// stored are the folders whose requests go to S3: files and diffs that clients put, and archives of the CLI that they
// get.
var stored = []string{"/o/", "/d/", "/" + release.Folder}

// New returns the handler. Every method below the stored folders goes to S3, which refuses everything but the signed
// request; its answers (XML) pass unchanged. If S3 does not answer, the client gets 502 storage_unavailable in the
// envelope.
//
// No URL reaches a log or an answer, because the query of an upload URL is a credential.
func New(c Config) http.Handler {
	e := &edge{Config: c}
	e.proxy = &httputil.ReverseProxy{
		Rewrite:      e.rewrite,
		ErrorHandler: e.unreachable,
		ErrorLog:     log.New(io.Discard, "", 0), // may quote URLs
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			DisableCompression:    true, // it would add a header
			ResponseHeaderTimeout: answerTimeout,
			IdleConnTimeout:       idleTimeout,
			MaxIdleConnsPerHost:   idleConnections,
			WriteBufferSize:       writeBuffer,
		},
	}
	return e
}

func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, _ := target(r)
	if !slices.ContainsFunc(stored, func(folder string) bool { return strings.HasPrefix(path, folder) }) {
		e.Next.ServeHTTP(w, r)
		return
	}
	if r.ContentLength < 0 {
		lengthRequired(w, r)
		return
	}
	// Without full duplex an early refusal would wait for a client that has stopped sending. The
	// error means a writer without support, which is no loss.
	_ = http.NewResponseController(w).EnableFullDuplex()
	e.proxy.ServeHTTP(w, r)
}

// target returns the path and query exactly as the client wrote them: parsing and printing a URL
// changes some escapes, and the signature covers the bytes.
func target(r *http.Request) (path, query string) {
	raw := r.RequestURI
	if !strings.HasPrefix(raw, "/") { // absolute form, as to a proxy
		raw = r.URL.RequestURI()
	}
	path, query, _ = strings.Cut(raw, "?")
	return path, query
}

func (e *edge) rewrite(p *httputil.ProxyRequest) {
	path, query := target(p.In)
	p.Out.URL = &url.URL{
		Scheme:   "http",
		Host:     e.Address,
		Opaque:   path,
		RawQuery: query,
	}
	p.Out.Host = e.Host
	p.Out.Header.Del("Expect") // this server asks for the body when S3 takes it
	if p.Out.Body != nil {
		p.Out.Body = io.NopCloser(p.Out.Body) // unreachable may have to drain it
	}
}

// unreachable answers when S3 gave no answer.
func (e *edge) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		panic(http.ErrAbortHandler) // the client has gone
	}
	id := requestID(r)
	e.Log.Warn("the S3 engine gave no answer", "method", r.Method, "request_id", id, "error", withoutURL(err))
	drain(r)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Request-Id", id)
	w.WriteHeader(http.StatusBadGateway)
	_ = json.NewEncoder(w).Encode(contract.Envelope{Error: contract.Problem{
		Code:      string(fault.StorageUnavailable),
		Message:   "The file store does not answer. Send the same request again in a few seconds.",
		RequestID: id,
	}})
}

// withoutURL removes the address that a client error begins with.
func withoutURL(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// lengthRequired refuses a chunked body as S3 does: a signed upload has a signed length, and S3
// accepts no chunked one.
func lengthRequired(w http.ResponseWriter, r *http.Request) {
	drain(r)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusLengthRequired)
	_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>MissingContentLength</Code><Message>You must provide the Content-Length HTTP header.</Message></Error>`)
}

// drain reads what the client still sends, unless the client waits for 100 Continue.
func drain(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, maxDrain) // a client that stops is answered all the same
	}
}

// requestID is the client's X-Request-Id if it is 8 to 128 visible ASCII
// characters, and a new one otherwise.
func requestID(r *http.Request) string {
	given := r.Header.Get("X-Request-Id")
	invisible := func(c rune) bool { return c < '!' || c > '~' }
	if len(given) < 8 || len(given) > 128 || strings.ContainsFunc(given, invisible) {
		return rand.Text()
	}
	return given
}
