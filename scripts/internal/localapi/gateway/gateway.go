// Package gateway answers for one API Gateway as AWS does: requests become events of its functions, whose answers come
// back.
package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/localapi/template"
)

// Limits of API Gateway.
const (
	maxBody    = 10 << 20
	maxHeaders = 10240   // request line and headers
	maxDrain   = 4 << 20 // of a body that is too long, so that most clients see the refusal and no reset
)

// Function is what a route leads to; *runtime.Function is one.
type Function interface {
	Invoke(ctx context.Context, event []byte) ([]byte, error)
	Stream(ctx context.Context, event []byte) (*runtime.Answer, error)
}

// Config describes a gateway and the functions behind it.
type Config struct {
	API *template.API
	// Function returns the function of a route.
	Function func(*template.Function) Function
	Log      *slog.Logger // gets one line for each request that the gateway answers by itself; no line holds a URL
}

type gateway struct {
	Config
	routes []*template.Route // the longest path first
}

// New returns the handler of a gateway. It serves every Host, below the path "/".
//
// Differences from AWS: the body of a request of an HTTP API that is not UTF-8 is sent in base64
// for every media type; there are no throttles, no access logs and no slowdown of streams; and
// of the headers that identify a request at AWS only the request id is present.
func New(c Config) http.Handler {
	longer := func(a, b *template.Route) int { return len(b.Path) - len(a.Path) }
	return &gateway{Config: c, routes: slices.SortedFunc(slices.Values(c.API.Routes), longer)}
}

// ServeHTTP implements http.Handler.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{
		gateway: g,
		w:       w,
		r:       r,
		id:      rand.Text(),
		began:   time.Now(),
	}
	w.Header().Set(g.idHeader(), x.id)
	if why := x.serve(); why != nil {
		x.refuse(why)
	}
}

func (g *gateway) idHeader() string {
	if g.API.REST {
		return "x-amzn-RequestId"
	}
	return "Apigw-Requestid"
}

// match finds the route of a path, and what stands for its variable, which is never empty.
func (g *gateway) match(path string) (route *template.Route, proxy string) {
	for _, r := range g.routes {
		prefix, below := strings.CutSuffix(r.Path, "{proxy+}")
		switch {
		case !g.API.REST, path == r.Path:
			return r, ""
		case below && len(path) > len(prefix) && strings.HasPrefix(path, prefix):
			return r, path[len(prefix):]
		}
	}
	return nil, ""
}

// exchange is one request.
type exchange struct {
	*gateway
	w     http.ResponseWriter
	r     *http.Request
	id    string
	began time.Time
	route *template.Route
}

func (e *exchange) warn(status int, reason string) {
	e.Log.Warn("gateway", "api", e.API.Name, "request_id", e.id, "status", status, "method", e.r.Method, "reason", reason)
}

// serve answers the request, or returns the refusal that the gateway has to send.
func (e *exchange) serve() *refusal {
	var proxy string
	if e.route, proxy = e.match(e.r.URL.EscapedPath()); e.route == nil {
		return &noRoute
	}
	if headerBytes(e.r) > maxHeaders {
		return &headersTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(e.r.Body, maxBody+1))
	if err != nil {
		return &unreadable
	}
	if len(body) > maxBody {
		_, _ = io.CopyN(io.Discard, e.r.Body, maxDrain) // a client that stops is answered all the same
		return &bodyTooLarge
	}
	event, err := e.event(body, proxy)
	if err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithTimeoutCause(e.r.Context(), e.route.Timeout, errTimeout)
	defer cancel()
	if e.API.REST {
		return e.stream(ctx, event)
	}
	return e.buffer(ctx, event)
}

var errTimeout = errors.New("the function did not answer within the time limit of its integration")

func headerBytes(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len(r.Proto) + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	return n
}

// buffer passes a complete answer on.
func (e *exchange) buffer(ctx context.Context, event []byte) *refusal {
	raw, err := e.Function(e.route.Function).Invoke(ctx, event)
	if err != nil {
		return failed(err)
	}
	a, err := Whole(raw)
	if err != nil {
		return failed(err)
	}
	e.send(a)
	return nil
}
