package client

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/contract"
	"vitrine/shared/fault"
)

// refusal is an answer outside 2xx. Body is kept for answers that carry more than an error.
type refusal struct {
	*failure.Failure
	body []byte
}

func (r *refusal) Unwrap() error { return r.Failure }

// codeForm is what a code of the envelope may look like; the list of codes grows, so an unknown one is kept.
var codeForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// refused reads an answer outside 2xx: the envelope of the contract, else a failure of code http_error.
func (c *Caller) refused(k call, resp *http.Response, text []byte) error {
	var e contract.Envelope
	if json.Unmarshal(text, &e) != nil || !codeForm.MatchString(e.Error.Code) {
		e.Error = contract.Problem{Code: string(failure.HTTP), Message: unexplained(resp)}
	}
	f := failure.New(failure.ExitOf(resp.StatusCode), fault.Code(e.Error.Code), "%s", e.Error.Message)
	f.Docs, f.RetryAfter = e.Error.Docs, retryAfter(resp.Header)
	f.RequestID = firstOf(e.Error.RequestID, resp.Header.Get("X-Request-Id"), c.RequestID)
	f.Transient = transient(resp.StatusCode, f.Code)
	f.Hint = hint(f, k)
	return &refusal{f, text}
}

// unexplained describes an answer that no host of ours gave: a proxy's, or another server's.
func unexplained(resp *http.Response) string {
	status := strings.TrimSpace(resp.Status)
	from := origin(resp.Request.URL.String())
	if location, err := resp.Location(); err == nil {
		return from + " answered " + status + " and points to " + origin(location.String()) + "; redirects are not followed"
	}
	return from + " answered " + status + " without saying why"
}

// transient tells whether the same call may succeed soon.
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
