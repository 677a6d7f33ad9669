package lambdahttp

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"vitrine/shared/adapter/web"
)

// event has those fields of all kinds of events that are used. Their names do not collide.
type event struct {
	Source string `json:"source"` // "aws.events": a schedule

	Version  string   `json:"version"` // "2.0": an HTTP API
	RawPath  string   `json:"rawPath"` // decoded
	RawQuery string   `json:"rawQueryString"`
	Cookies  []string `json:"cookies"`

	Method     string              `json:"httpMethod"`
	Path       string              `json:"path"` // encoded
	Queries    map[string][]string `json:"multiValueQueryStringParameters"`
	Query      map[string]string   `json:"queryStringParameters"`
	AllHeaders map[string][]string `json:"multiValueHeaders"`

	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	IsBase64 bool              `json:"isBase64Encoded"`
	Context  struct {
		DomainName string `json:"domainName"`
		RequestID  string `json:"requestId"`
		HTTP       struct {
			Method   string `json:"method"`
			SourceIP string `json:"sourceIp"`
		} `json:"http"`
		Identity struct {
			SourceIP string `json:"sourceIp"`
		} `json:"identity"`
	} `json:"requestContext"`
}

func (e *event) ofHTTPAPI() bool { return e.Version == "2.0" }

func (e *event) ofSchedule() bool { return e.Source == "aws.events" }

// known reports whether the event is from an HTTP API or a REST API.
func (e *event) known() bool {
	if e.ofHTTPAPI() {
		return e.Context.HTTP.Method != ""
	}
	return e.Method != "" && e.Path != ""
}

var errMalformed = errors.New("the request is malformed")

const tokenChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"

// request returns the request as net/http would have read it, or errMalformed if net/http would have refused it. It
// passes the library only what that can convert, because the library logs what it cannot convert, tokens included.
func (e *event) request(ctx context.Context) (*http.Request, error) {
	method, target := e.method(), e.target()
	if _, err := url.ParseRequestURI(target); err != nil || strings.Trim(method, tokenChars) != "" {
		return nil, errMalformed
	}
	r, err := e.convert(ctx, target)
	if err != nil {
		return nil, errMalformed
	}
	r.Method = method
	r.RequestURI = target
	r.Header = e.header()
	r.Host = e.host(r.Header.Get("Host"))
	r.URL.Scheme = ""
	r.URL.Host = ""
	r.Header.Del("Host") // net/http stores these two in fields of the request
	r.Header.Del("Transfer-Encoding")
	from := e.source()
	r.RemoteAddr = ""
	if from.IsValid() {
		r.RemoteAddr = netip.AddrPortFrom(from, 0).String()
	}
	ctx = web.WithGatewayRequestID(r.Context(), e.Context.RequestID)
	return r.WithContext(web.WithClientAddress(ctx, from)), nil
}

// convert makes the request. The library converts the body and the context.
func (e *event) convert(ctx context.Context, target string) (*http.Request, error) {
	if e.ofHTTPAPI() {
		v2 := events.APIGatewayV2HTTPRequest{RawPath: target, Body: e.Body, IsBase64Encoded: e.IsBase64}
		return new(core.RequestAccessorV2).EventToRequestWithContext(ctx, v2)
	}
	v1 := events.APIGatewayProxyRequest{Path: target, Body: e.Body, IsBase64Encoded: e.IsBase64}
	return new(core.RequestAccessor).EventToRequestWithContext(ctx, v1)
}

func (e *event) method() string {
	if e.ofHTTPAPI() {
		return e.Context.HTTP.Method
	}
	return e.Method
}

var noFragment = strings.NewReplacer("#", "%23")

// pathOnly escapes the characters at which parsing would end the path and begin a query or a fragment.
var pathOnly = strings.NewReplacer("#", "%23", "?", "%3F")

// target returns path and query. The path is escaped such that decoding it once gives what the client meant.
func (e *event) target() string {
	path, query := e.Path, e.query()
	if e.ofHTTPAPI() {
		path = (&url.URL{Path: e.RawPath}).EscapedPath()
	}
	if path = pathOnly.Replace(path); !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if query != "" {
		path += "?" + noFragment.Replace(query)
	}
	return path
}

// query returns the query as it was sent. If the gateway has parsed it, query joins the parameters in the order of
// their names.
func (e *event) query() string {
	switch {
	case e.ofHTTPAPI():
		return e.RawQuery
	case len(e.Queries) > 0:
		return url.Values(e.Queries).Encode()
	}
	values := url.Values{}
	for name, value := range e.Query {
		values.Set(name, value)
	}
	return values.Encode()
}

// header returns every header as it was sent, commas included. The gateway has joined headers that were sent several
// times.
func (e *event) header() http.Header {
	single, h := e.Headers, make(http.Header, len(e.Headers)+1)
	if !e.ofHTTPAPI() && e.AllHeaders != nil {
		single = nil // these repeat only the last value of each header
	}
	for _, name := range slices.Sorted(maps.Keys(single)) {
		h.Add(name, single[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.AllHeaders)) {
		for _, value := range e.AllHeaders[name] {
			h.Add(name, value)
		}
	}
	if len(e.Cookies) > 0 {
		h.Set("Cookie", strings.Join(e.Cookies, "; "))
	}
	return h
}

// host returns the name that the gateway routed by. It adds the port of the Host header if that header has the same
// name.
func (e *event) host(sent string) string {
	name, _, err := net.SplitHostPort(sent)
	if e.Context.DomainName == "" || err == nil && strings.EqualFold(name, e.Context.DomainName) {
		return sent
	}
	return e.Context.DomainName
}

// source returns the client's address as the gateway saw it, or the invalid address if the event has none.
func (e *event) source() netip.Addr {
	text := e.Context.Identity.SourceIP
	if e.ofHTTPAPI() {
		text = e.Context.HTTP.SourceIP
	}
	a, _ := netip.ParseAddr(text)
	return a
}
