package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/localapi/template"
)

// refusal is an answer that the gateway gives by itself.
type refusal struct {
	http, rest response // by the kind of the API
	kind       string   // of gateway response, which the template of a REST API may change
	reason     string   // for the log
}

type response struct {
	status  int
	message string
}

var (
	noRoute = refusal{
		rest:   response{403, "Missing Authentication Token"},
		kind:   "MISSING_AUTHENTICATION_TOKEN",
		reason: "no route",
	}
	unreadable = refusal{
		http:   response{400, "Bad Request"},
		rest:   response{400, "Bad Request"},
		kind:   "BAD_REQUEST_BODY",
		reason: "the body cannot be read",
	}
	headersTooLarge = refusal{
		http:   response{431, "Request Header Fields Too Large"},
		rest:   response{431, "Request Header Fields Too Large"},
		reason: "more than 10240 bytes of headers",
	}
	bodyTooLarge = refusal{
		http:   response{413, "Request Entity Too Large"},
		rest:   response{413, "HTTP content length exceeded 10485760 bytes."},
		kind:   "REQUEST_TOO_LARGE",
		reason: "more than 10 MB of body",
	}
	eventTooLarge = refusal{
		http: response{413, "Request Too Long"},
		rest: response{413, "Request Too Long"},
		kind: "REQUEST_TOO_LARGE",
	}
	throttled = refusal{
		http: response{503, "Service Unavailable"},
		rest: response{429, "Too Many Requests"},
		kind: "THROTTLED",
	}
	timedOut = refusal{
		http: response{503, "Service Unavailable"},
		rest: response{504, "Endpoint request timed out"},
		kind: "INTEGRATION_TIMEOUT",
	}
	noAnswer = refusal{http: response{500, "Internal Server Error"}, rest: response{502, "Internal server error"}}
)

// failed returns the refusal for a function that gave no answer.
func failed(err error) *refusal {
	why := noAnswer
	switch {
	case errors.Is(err, runtime.ErrEventTooLarge):
		why = eventTooLarge
	case errors.Is(err, runtime.ErrThrottled), errors.Is(err, runtime.ErrClosed):
		why = throttled
	case errors.Is(err, errTimeout), errors.Is(err, context.Canceled):
		why = timedOut
	}
	why.reason = err.Error()
	return &why
}

// refuse writes and logs a refusal as the gateway does, or as its template defines it.
func (e *exchange) refuse(why *refusal) {
	says := why.http
	if e.API.REST {
		says = why.rest
	}
	e.warn(says.status, why.reason)
	text, _ := json.Marshal(map[string]string{"message": says.message}) // strings always marshal
	status, body := says.status, string(text)
	h := e.w.Header()
	h.Set("Content-Type", "application/json")
	if own, given := e.own(why.kind, status); given {
		for name, value := range own.Headers {
			h.Set(name, value)
		}
		if own.Body != "" {
			body = strings.ReplaceAll(own.Body, template.RequestID, e.id)
		}
		if own.Status != 0 {
			status = own.Status
		}
	}
	e.w.WriteHeader(status)
	_, _ = io.WriteString(e.w, body) // the client may have gone
}

// own returns the template's gateway response for a refusal: that of its kind, or of all statuses
// with its first digit.
func (e *exchange) own(kind string, status int) (template.Refusal, bool) {
	if r, given := e.API.Refusals[kind]; given {
		return r, true
	}
	r, given := e.API.Refusals[fmt.Sprintf("DEFAULT_%dXX", status/100)]
	return r, given
}
