package client

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// refusal is a response outside 2xx. Body is kept for responses that carry more than an error.
type refusal struct {
	*failure.Failure
	body []byte
}

func (r *refusal) Unwrap() error { return r.Failure }

// codeForm matches an error code. Unknown codes of this form are kept, because the list of codes grows.
var codeForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// refused converts a response outside 2xx, which is the error envelope of the contract or comes from a gateway in front
// of the host.
func (c *Caller) refused(k call, resp *http.Response, text []byte) error {
	var e contract.Envelope
	if json.Unmarshal(text, &e) != nil || !codeForm.MatchString(e.Error.Code) || isGateways(resp, e.Error) {
		e.Error.Code, e.Error.Message = string(failure.HTTP), unexplained(resp, wordsOf(text))
		if resp.StatusCode == http.StatusTooManyRequests {
			e.Error.Code = string(failure.Throttled)
		}
	}
	f := failure.New(failure.ExitOf(resp.StatusCode), fault.Code(e.Error.Code), "%s", e.Error.Message)
	f.Docs, f.RetryAfter = e.Error.Docs, retryAfter(resp.Header)
	f.RequestID = firstOf(e.Error.RequestID, resp.Header.Get("X-Request-Id"), c.RequestID)
	f.Transient = transient(resp.StatusCode, f.Code)
	f.Hint = hint(f, k)
	return &refusal{f, text}
}

// isGateways reports whether a gateway refused in the form of our hosts. It is recognised by 429 with the code of a bad
// request, which no host of ours combines.
func isGateways(resp *http.Response, p contract.Problem) bool {
	return resp.StatusCode == http.StatusTooManyRequests && p.Code == string(fault.InvalidRequest)
}

// maxWords bounds how much of a gateway's text is quoted, in bytes.
const maxWords = 200

// wordsOf returns the message in a gateway's JSON response; "" if there is none. It does not quote HTML pages.
func wordsOf(text []byte) string {
	var plain struct{ Message string }
	var envelope contract.Envelope
	if json.Unmarshal(text, &plain) != nil || plain.Message == "" {
		_ = json.Unmarshal(text, &envelope) // an error leaves the message empty
		plain.Message = envelope.Error.Message
	}
	return strings.ToValidUTF8(plain.Message[:min(len(plain.Message), maxWords)], "")
}

// unexplained describes a response that is not from our hosts: from a gateway, a proxy, or an unrelated server.
func unexplained(resp *http.Response, words string) string {
	status := strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
	from := origin(resp.Request.URL.String())
	if location, err := resp.Location(); err == nil {
		return from + " answered " + status + " and points to " + origin(location.String()) + "; redirects are not followed"
	}
	if words != "" {
		status = strconv.Itoa(resp.StatusCode) + ": " + words
	}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return from + " accepts no more requests at the moment (" + status + ")"
	case resp.StatusCode >= 500:
		return from + " has trouble (" + status + ")"
	case words != "":
		return from + " answered " + status
	}
	return from + " answered " + status + " without saying why"
}

// transient reports whether the same call may succeed soon.
func transient(status int, code fault.Code) bool {
	switch code {
	case fault.WriteAllowanceExceeded, fault.UsagePolicyExceeded, fault.RevisionCeilingExceeded:
		return false
	}
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
		status >= 500 && status != http.StatusNotImplemented
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
