package gateway

import (
	"encoding/base64"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The identity of the made-up account of the templates.
const (
	accountID  = "000000000000"
	timeFormat = "02/Jan/2006:15:04:05 -0700"
)

// httpEvent is an event of an HTTP API, payload format 2.0.
type httpEvent struct {
	Version               string            `json:"version"`
	RouteKey              string            `json:"routeKey"`
	RawPath               string            `json:"rawPath"` // decoded
	RawQueryString        string            `json:"rawQueryString"`
	Cookies               []string          `json:"cookies,omitempty"`
	Headers               map[string]string `json:"headers"`
	QueryStringParameters map[string]string `json:"queryStringParameters,omitempty"`
	RequestContext        httpContext       `json:"requestContext"`
	Body                  string            `json:"body,omitempty"`
	PathParameters        map[string]string `json:"pathParameters,omitempty"`
	IsBase64Encoded       bool              `json:"isBase64Encoded"`
}

type httpContext struct {
	AccountID    string      `json:"accountId"`
	APIID        string      `json:"apiId"`
	DomainName   string      `json:"domainName"`
	DomainPrefix string      `json:"domainPrefix"`
	HTTP         httpRequest `json:"http"`
	RequestID    string      `json:"requestId"`
	RouteKey     string      `json:"routeKey"`
	Stage        string      `json:"stage"`
	Time         string      `json:"time"`
	TimeEpoch    int64       `json:"timeEpoch"`
}

type httpRequest struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

func (x *exchange) httpEvent(body []byte, parameters map[string]string) httpEvent {
	r, sent := x.r, x.headers(len(body))
	name := domainName(r)
	e := httpEvent{
		Version:               "2.0",
		RouteKey:              x.route.Key,
		RawPath:               r.URL.Path,
		RawQueryString:        r.URL.RawQuery,
		Cookies:               cookies(sent),
		Headers:               map[string]string{},
		QueryStringParameters: map[string]string{},
		PathParameters:        parameters,
		RequestContext: httpContext{
			AccountID:    accountID,
			APIID:        x.API.ID,
			DomainName:   name,
			DomainPrefix: prefixOf(name),
			RequestID:    x.id,
			RouteKey:     x.route.Key,
			Stage:        x.API.Stage,
			Time:         x.began.UTC().Format(timeFormat),
			TimeEpoch:    x.began.UnixMilli(),
			HTTP: httpRequest{
				Method:    r.Method,
				Path:      r.URL.Path,
				Protocol:  r.Proto,
				SourceIP:  sourceIP(r),
				UserAgent: r.UserAgent(),
			},
		},
	}
	for name, values := range sent {
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	for name, values := range r.URL.Query() {
		e.QueryStringParameters[name] = strings.Join(values, ",")
	}
	if e.IsBase64Encoded = len(body) > 0 &&
		!(isText(r.Header.Get("Content-Type")) && utf8.Valid(body)); e.IsBase64Encoded {
		e.Body = base64.StdEncoding.EncodeToString(body)
	} else {
		e.Body = string(body)
	}
	return e
}

// cookies removes the cookies from the headers and returns them one by one, as they were sent.
func cookies(h http.Header) (all []string) {
	for _, line := range h["Cookie"] {
		for one := range strings.SplitSeq(line, ";") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, one)
			}
		}
	}
	delete(h, "Cookie")
	return all
}

// isText reports whether HTTP APIs send bodies of a media type as text; all others, forms among
// them, are sent in base64.
func isText(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	application, ok := strings.CutPrefix(t, "application/")
	switch {
	case err != nil:
		return false
	case !ok:
		return strings.HasPrefix(t, "text/")
	}
	return slices.Contains([]string{"json", "xml", "javascript"}, application) || strings.HasSuffix(t, "+json") ||
		strings.HasSuffix(t, "+xml")
}

// hopByHop are the headers that do not reach a function.
var hopByHop = []string{
	"Connection", "Expect", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// headers returns those that a function sees: what was sent, and what the gateway adds.
func (x *exchange) headers(bodyLength int) http.Header {
	h := x.r.Header.Clone()
	for _, name := range hopByHop {
		h.Del(name)
	}
	h.Set("Host", x.r.Host)
	h.Set("X-Forwarded-For", strings.TrimPrefix(strings.Join(h["X-Forwarded-For"], ", ")+", "+sourceIP(x.r), ", "))
	h.Set("X-Forwarded-Proto", "https")
	h.Set("X-Forwarded-Port", "443")
	h.Set("X-Amzn-Trace-Id", "Root=1-"+strconv.FormatInt(x.began.Unix(), 16)+"-000000000000000000000000")
	if bodyLength > 0 {
		h.Set("Content-Length", strconv.Itoa(bodyLength))
	}
	return h
}

func sourceIP(r *http.Request) string {
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return ip
}

// domainName returns the name that the client requested, without a port.
func domainName(r *http.Request) string {
	if name, _, err := net.SplitHostPort(r.Host); err == nil {
		return name
	}
	return r.Host
}

func prefixOf(domain string) string {
	prefix, _, _ := strings.Cut(domain, ".")
	return prefix
}
