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
func (e *exchange) event(body []byte, proxy string) ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	var err error
	if e.API.REST {
		err = out.Encode(e.restEvent(body, proxy))
	} else {
		err = out.Encode(e.httpEvent(body))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// httpEvent has payload format 2.0, and the path decoded.
func (e *exchange) httpEvent(body []byte) events.APIGatewayV2HTTPRequest {
	r := e.r
	sent := e.headers(len(body))
	name := domainName(r)
	out := events.APIGatewayV2HTTPRequest{
		Version:               "2.0",
		RouteKey:              e.route.Path,
		RawPath:               r.URL.Path,
		RawQueryString:        r.URL.RawQuery,
		Cookies:               cookies(sent),
		Headers:               map[string]string{},
		QueryStringParameters: map[string]string{},
		Body:                  string(body),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			AccountID:    accountID,
			APIID:        e.API.ID,
			DomainName:   name,
			DomainPrefix: prefixOf(name),
			RequestID:    e.id,
			RouteKey:     e.route.Path,
			Stage:        e.API.Stage,
			Time:         e.began.UTC().Format(timeFormat),
			TimeEpoch:    e.began.UnixMilli(),
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
		out.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	for name, values := range r.URL.Query() {
		out.QueryStringParameters[name] = strings.Join(values, ",")
	}
	if len(body) > 0 && !(isText(r.Header.Get("Content-Type")) && utf8.Valid(body)) {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return out
}

// restEvent has payload format 1.0, and the path as it was sent. Without media types that count as bytes, every body is
// text.
func (e *exchange) restEvent(body []byte, proxy string) events.APIGatewayProxyRequest {
	r, name := e.r, domainName(e.r)
	out := events.APIGatewayProxyRequest{
		Resource:          e.route.Path,
		Path:              r.URL.EscapedPath(),
		HTTPMethod:        r.Method,
		MultiValueHeaders: e.headers(len(body)),
		Body:              string(body),
		RequestContext: events.APIGatewayProxyRequestContext{
			ResourceID:        "local",
			ResourcePath:      e.route.Path,
			HTTPMethod:        r.Method,
			ExtendedRequestID: e.id,
			RequestID:         e.id,
			RequestTime:       e.began.UTC().Format(timeFormat),
			RequestTimeEpoch:  e.began.UnixMilli(),
			Path:              r.URL.EscapedPath(),
			AccountID:         accountID,
			APIID:             e.API.ID,
			Protocol:          r.Proto,
			Stage:             e.API.Stage,
			DomainName:        name,
			DomainPrefix:      prefixOf(name),
			Identity:          events.APIGatewayRequestIdentity{SourceIP: sourceIP(r), UserAgent: r.UserAgent()},
		},
	}
	out.Headers = lastOf(out.MultiValueHeaders)
	if query := r.URL.Query(); len(query) > 0 {
		out.QueryStringParameters, out.MultiValueQueryStringParameters = lastOf(query), query
	}
	if proxy != "" {
		out.PathParameters = map[string]string{"proxy": proxy}
	}
	return out
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
func (e *exchange) headers(bodyLength int) http.Header {
	h := e.r.Header.Clone()
	for _, name := range hopByHop {
		h.Del(name)
	}
	h.Set("Host", e.r.Host)
	h.Set("X-Forwarded-For", strings.TrimPrefix(strings.Join(h["X-Forwarded-For"], ", ")+", "+sourceIP(e.r), ", "))
	h.Set("X-Forwarded-Proto", "https")
	h.Set("X-Forwarded-Port", "443")
	h.Set("X-Amzn-Trace-Id", "Root=1-"+strconv.FormatInt(e.began.Unix(), 16)+"-000000000000000000000000")
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
