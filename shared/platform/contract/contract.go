// Package contract holds the wire shapes of the HTTP interface that hosts and clients share.
//
// Source: the wire contract, sections C.1 (shapes), C.3-C.8 (routes) and B (errors). Tags carry the documented schema.
// Times are RFC 3339 in UTC with milliseconds. Shapes marked strict must never gain a key, because existing clients
// refuse unknown ones.
package contract

import (
	"bytes"
	"encoding/json"
	"time"
)

// Encode writes a body as the hosts send it: JSON whose URLs stay readable, and a line feed.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// Rows makes the rows of a list. The result is never nil, so that the list is never null in JSON.
func Rows[D, W any](from []D, row func(D) W) []W {
	out := make([]W, len(from))
	for i, d := range from {
		out[i] = row(d)
	}
	return out
}

// Version is the version of the OpenAPI documents.
const Version = "0.1.0"

// Release is the version of this service and of the CLI in the same tree; OldestCLI is the oldest one that works with
// it.
const (
	Release   = "0.1.0"
	OldestCLI = "0.1.0"
)

// Time is an instant on the wire: ISO 8601 UTC with milliseconds and Z.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes the instant in UTC with milliseconds.
func (t Time) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format(timeLayout))
}

// At wraps an instant.
func At(t time.Time) Time { return Time{t} }

// AtOrNull wraps an instant, or returns nil for a zero one.
func AtOrNull(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}

// Seconds returns a lifetime in whole seconds. It rounds down, so that no answer promises a second too many. Waits are
// rounded up instead.
func Seconds(d time.Duration) int { return int(d / time.Second) }

// Envelope is the body of every JSON error.
type Envelope struct {
	Error Problem `json:"error"`
	// Challenge is present with pow_required only.
	Challenge *Challenge `json:"challenge,omitempty"`
}

// Problem is the content of an Envelope.
type Problem struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Docs      string `json:"docs,omitempty" format:"uri"`
	RequestID string `json:"request_id,omitempty" minLength:"1"`
}

// PageInfo is part of every paged list.
type PageInfo struct {
	NextCursor *string `json:"next_cursor" nullable:"true" minLength:"1" maxLength:"500"`
	HasMore    bool    `json:"has_more"`
}

// Page makes the PageInfo of a page from the cursor of the next one; empty: there is none.
func Page(next string) PageInfo {
	if next == "" {
		return PageInfo{}
	}
	return PageInfo{NextCursor: &next, HasMore: true}
}
