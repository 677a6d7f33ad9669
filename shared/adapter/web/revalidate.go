package web

import (
	"net/http"
	"time"
)

// ETag gives a success of the request this ETag.
func (r *Request) ETag(tag string) { r.etag = tag }

// NotModified returns an error if the client has the answer with this ETag. A handler that returns it answers 304, which
// tells the client to wait before it asks again.
func (r *Request) NotModified(tag string, wait time.Duration) error {
	known := Unchanged(r.asked, tag)
	if known == "" {
		return nil
	}
	h := http.Header{"Etag": {known}}
	RetryAfter(h, wait)
	return notModified{h}
}

// notModified answers 304 without a body. It implements the errors of huma with a status and with headers.
type notModified struct{ header http.Header }

func (notModified) Error() string             { return "the client has the answer" }
func (notModified) GetStatus() int            { return http.StatusNotModified }
func (n notModified) GetHeaders() http.Header { return n.header }
