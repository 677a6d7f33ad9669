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

const noArtifact = "Check the id of the artifact, and that the credential is of its workspace; without --artifact-id a new one is made."

// hint says what to do about a refusal.
func hint(f *failure.Failure, k call) string {
	switch f.Code {
	case fault.WriteAllowanceExceeded:
		return "The daily number of new artifacts is used up; it starts anew at 00:00 UTC."
	case fault.ArtifactNotFound:
		return noArtifact
	case fault.UploadIncomplete:
		return "That file did not arrive; run the command again."
	case fault.DraftRevisionConflict, fault.IdempotencyInFlight:
		return "Another publish of the same artifact is under way; run the command again when it has ended."
	case fault.FileCountCapExceeded, fault.FileSizeCapExceeded, fault.RevisionSizeCapExceeded:
		return "Publish fewer or smaller files; vitrine whoami shows the limits of your workspace."
	}
	return hintByExit(f, k)
}

func hintByExit(f *failure.Failure, k call) string {
	switch f.Exit {
	case failure.Auth:
		if k.bearer == "" {
			return "The server refuses this call without an account; ask whoever runs it."
		}
		return "Set VITRINE_API_KEY to a valid key with the right to publish, or publish without one: --ephemeral."
	case failure.Quota:
		if f.RetryAfter > 0 {
			return "Run the command again in " + f.RetryAfter.String() + "."
		}
		return "Run the command again later."
	case failure.Server:
		return "The server has trouble; run the command again in a minute, and report the request id if it stays."
	case failure.NotFound:
		return "Check that VITRINE_URL names a Vitrine server."
	case failure.Invalid:
		return "Correct what the message names; vitrine help publish tells what is accepted."
	}
	return "Check that VITRINE_URL names a Vitrine server by its final address."
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
