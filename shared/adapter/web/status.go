package web

import (
	"net/http"

	"vitrine/shared/platform/fault"
)

// statuses maps the kind of a failure to its HTTP status; all codes of one kind share it.
var statuses = map[fault.Kind]int{
	fault.KindInternal:        http.StatusInternalServerError,
	fault.KindInvalid:         http.StatusBadRequest,
	fault.KindUnauthenticated: http.StatusUnauthorized,
	fault.KindForbidden:       http.StatusForbidden,
	fault.KindNotFound:        http.StatusNotFound,
	fault.KindConflict:        http.StatusConflict,
	fault.KindGone:            http.StatusGone,
	fault.KindUnprocessable:   http.StatusUnprocessableEntity,
	fault.KindLimited:         http.StatusTooManyRequests,
	fault.KindUnavailable:     http.StatusServiceUnavailable,
}

// Status returns the HTTP status of an error code.
func Status(c fault.Code) int { return statuses[c.Kind()] }
