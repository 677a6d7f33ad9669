// Package gateway answers for one API Gateway as AWS does: requests become events of its functions, whose answers come
// back.
package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
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
	routes table
}

// New returns the handler of a gateway. It serves every Host, below the path "/".
//
// Differences from AWS: the body of a request of an HTTP API that is not UTF-8 is sent in base64
// for every media type; there are no throttles, no access logs and no slowdown of streams; and
// of the headers that identify a request at AWS only the request id is present.
func New(c Config) http.Handler { return &gateway{Config: c, routes: newTable(c.API)} }

// ServeHTTP implements http.Handler.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{
		gateway: g,
		w:       w,
		r:       r,
		id:      newID(),
		began:   time.Now(),
	}
	w.Header().Set(g.idHeader(), x.id)
	if why := x.serve(); why != nil {
		x.warn(why.of(g.API).status, why.reason)
		x.refuse(why)
	}
}

func (g *gateway) idHeader() string {
	if g.API.REST {
		return "x-amzn-RequestId"
	}
	return "Apigw-Requestid"
}

func newID() string { return rand.Text() }

// exchange is one request.
type exchange struct {
	*gateway
	w     http.ResponseWriter
	r     *http.Request
	id    string
	began time.Time
	route *template.Route
}

func (x *exchange) warn(status int, reason string) {
	x.Log.Warn("gateway", "api", x.API.Name, "request_id", x.id, "status", status, "method", x.r.Method, "reason", reason)
}

// serve answers the request, or returns the refusal that the gateway has to send.
func (x *exchange) serve() *refusal {
	var parameters map[string]string
	if x.route, parameters = x.routes.match(x.r.Method, x.path()); x.route == nil {
		return &noRoute
	}
	if headerBytes(x.r) > maxHeaders {
		return &headersTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(x.r.Body, maxBody+1))
	if err != nil {
		return &unreadable
	}
	if len(body) > maxBody {
		_, _ = io.CopyN(io.Discard, x.r.Body, maxDrain) // a client that stops is answered all the same
		return &bodyTooLarge
	}
	event, err := encode(x.event(body, parameters))
	if err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithTimeoutCause(x.r.Context(), x.route.Timeout, errTimeout)
	defer cancel()
	if x.route.Stream {
		return x.stream(ctx, event)
	}
	return x.buffer(ctx, event)
}

var errTimeout = errors.New("the function did not answer within the time limit of its integration")

// encode writes JSON as API Gateway does, which escapes no more than JSON demands: a body of markup takes no more room in
// an event than on the wire.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (x *exchange) event(body []byte, parameters map[string]string) any {
	if x.API.REST {
		return x.restEvent(body, parameters)
	}
	return x.httpEvent(body, parameters)
}

// path returns the path for matching routes: decoded for an HTTP API, and as it was sent for a REST
// API.
func (x *exchange) path() string {
	if x.API.REST {
		return x.r.URL.EscapedPath()
	}
	return x.r.URL.Path
}

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
func (x *exchange) buffer(ctx context.Context, event []byte) *refusal {
	raw, err := x.Function(x.route.Function).Invoke(ctx, event)
	if err != nil {
		return failed(err)
	}
	a, err := x.decode(raw)
	if err != nil {
		return failed(err)
	}
	x.send(a)
	return nil
}
