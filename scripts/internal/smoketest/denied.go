package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// unexpected is an answer with another status than a step expects.
type unexpected struct {
	wire.Answer
	method string
}

// Error leaves the URL out, because it may be signed.
func (u unexpected) Error() string {
	return fmt.Sprintf("%s answers %d %s", u.method, u.Status, u.Code())
}

// denied returns advice for a failure that may come from a right that AWS denies to a role, because
// the hosts report that only in their log. It is empty for other failures.
func denied(s step, err error) string {
	a, ok := answerOf(err)
	if !ok {
		return ""
	}
	var e contract.Envelope
	json.Unmarshal(a.Body, &e)
	log := fmt.Sprintf("in the log of that host's function, the line with request_id %q", e.Error.RequestID)
	switch code := a.Code(); {
	case code == fault.DatabaseUnavailable || code == fault.StorageUnavailable:
		return fmt.Sprintf("why is %s; AccessDenied there is a right that the role lacks.\nThis step needs %s.\n"+
			"If a write of DynamoDB is denied, deploy with -c narrow-writes=no and report it", log, s.rights)
	case code == fault.NotFound && s.reads:
		return fmt.Sprintf("if %s has object_denied, the role may not read files.\nThis step needs %s", log, s.rights)
	case a.Status == http.StatusForbidden && code == "":
		return fmt.Sprintf("S3 refuses what the upload host signs; its XML says why.\nThis step needs %s", s.rights)
	}
	return ""
}

// answerOf returns the answer that a failure wraps.
func answerOf(err error) (wire.Answer, bool) {
	var refused *wire.Refused
	if errors.As(err, &refused) {
		return refused.Answer, true
	}
	var other unexpected
	ok := errors.As(err, &other)
	return other.Answer, ok
}
