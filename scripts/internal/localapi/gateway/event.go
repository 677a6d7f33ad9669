package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// The identity of the made-up account of the templates.
const (
	accountID  = "000000000000"
	timeFormat = "02/Jan/2006:15:04:05 -0700"
)

// event is the event of a request in JSON. Like API Gateway it escapes no more than JSON demands, so that a body of
// markup takes no more room in an event than on the wire.
func (x *exchange) event(body []byte, proxy string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var err error
	if x.API.REST {
		err = e.Encode(x.restEvent(body, proxy))
	} else {
		err = e.Encode(x.httpEvent(body))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// httpEvent has payload format 2.0, and the path decoded.
func (x *exchange) httpEvent(body []byte) events.APIGatewayV2HTTPRequest {
	r := x.r
	sent := x.headers(len(body))
	name := domainName(r)
	e := events.APIGatewayV2HTTPRequest{
		Version:               "2.0",
		RouteKey:              x.route.Path,
		RawPath:               r.URL.Path,
		RawQueryString:        r.URL.RawQuery,
		Cookies:               cookies(sent),
		Headers:               map[string]string{},
		QueryStringParameters: map[string]string{},
		Body:                  string(body),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			AccountID:    accountID,
			APIID:        x.API.ID,
			DomainName:   name,
			DomainPrefix: prefixOf(name),
			RequestID:    x.id,
			RouteKey:     x.route.Path,
			Stage:        x.API.Stage,
			Time:         x.began.UTC().Format(timeFormat),
			TimeEpoch:    x.began.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
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
	if len(body) > 0 && !(isText(r.Header.Get("Content-Type")) && utf8.Valid(body)) {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return e
}

// restEvent has payload format 1.0, and the path as it was sent. Without media types that count as bytes, every body is
// text.
func (x *exchange) restEvent(body []byte, proxy string) events.APIGatewayProxyRequest {
	r, name := x.r, domainName(x.r)
	e := events.APIGatewayProxyRequest{
		Resource:          x.route.Path,
		Path:              r.URL.EscapedPath(),
		HTTPMethod:        r.Method,
		MultiValueHeaders: x.headers(len(body)),
		Body:              string(body),
		RequestContext: events.APIGatewayProxyRequestContext{
			ResourceID:        "local",
			ResourcePath:      x.route.Path,
			HTTPMethod:        r.Method,
			ExtendedRequestID: x.id,
			RequestID:         x.id,
			RequestTime:       x.began.UTC().Format(timeFormat),
			RequestTimeEpoch:  x.began.UnixMilli(),
			Path:              r.URL.EscapedPath(),
			AccountID:         accountID,
			APIID:             x.API.ID,
			Protocol:          r.Proto,
			Stage:             x.API.Stage,
			DomainName:        name,
			DomainPrefix:      prefixOf(name),
			Identity:          events.APIGatewayRequestIdentity{SourceIP: sourceIP(r), UserAgent: r.UserAgent()},
		},
	}
	e.Headers = lastOf(e.MultiValueHeaders)
	if query := r.URL.Query(); len(query) > 0 {
		e.QueryStringParameters, e.MultiValueQueryStringParameters = lastOf(query), query
	}
	if proxy != "" {
		e.PathParameters = map[string]string{"proxy": proxy}
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
func domainName(r *http.Request) string { return (&url.URL{Host: r.Host}).Hostname() }

func prefixOf(domain string) string {
	prefix, _, _ := strings.Cut(domain, ".")
	return prefix
}

// lastOf keeps the last value of each name.
func lastOf(all map[string][]string) map[string]string {
	last := map[string]string{}
	for name, values := range all {
		last[name] = values[len(values)-1]
	}
	return last
}
