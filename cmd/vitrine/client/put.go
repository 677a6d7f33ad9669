package client

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/fault"
)

// minRate is the rate in bytes per second below which an upload is given up. setup is the time for everything else.
const (
	minRate = 32 << 10
	setup   = time.Minute
)

// put sends one file to its signed URL, once.
func (c *Caller) put(ctx context.Context, p upload, sent func(int64)) (err error) {
	ctx, cancel := context.WithTimeout(ctx, setup+time.Duration(p.file.Size/minRate)*time.Second)
	defer cancel()
	body, err := p.file.Open()
	if err != nil {
		return err
	}
	flow := &flow{from: body, sent: sent}
	defer func() {
		if err != nil {
			flow.undo()
		}
	}()
	req, err := c.putRequest(ctx, p, flow)
	if err != nil {
		body.Close()
		return err
	}
	resp, err := c.HTTP.Do(req)
	if broken := flow.failure(); broken != nil {
		err = broken // an error of the file looks to net/http like one of the network
	} else if err != nil {
		err = c.unreachable(ctx, p.target.PutURL, err)
	}
	if resp != nil {
		defer resp.Body.Close()
	}
	if err != nil {
		return err
	}
	return c.stored(p, resp)
}

// putRequest returns the request for a signed URL. It carries the headers that the URL was signed with, and no bearer
// token, because the URL grants access.
func (c *Caller) putRequest(ctx context.Context, p upload, body io.ReadCloser) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.target.PutURL, body)
	if err != nil {
		return nil, unwrapURLError(err)
	}
	req.Header.Set("User-Agent", c.UserAgent)
	for name, value := range p.target.RequiredHeaders {
		req.Header.Set(name, value)
	}
	req.ContentLength = p.file.Size
	if p.file.Size == 0 {
		body.Close()
		req.Body = http.NoBody // otherwise net/http sends no Content-Length
	}
	return req, nil
}

// stored checks the response of the storage, which is S3's XML. 412 means that an earlier attempt has stored the file.
func (c *Caller) stored(p upload, resp *http.Response) error {
	status := resp.StatusCode
	if status >= 200 && status <= 299 || status == http.StatusPreconditionFailed {
		return nil
	}
	code := storageCode(resp.Body)
	f := failure.New(failure.Conflict, fault.UnexpectedUploadObject, "the storage refused %q (%d %s): %s", p.file.Path,
		status, code, refusalOf(status))
	f.RequestID = c.RequestID
	f.Advise("Run the command again; if it fails again, a proxy may be changing the requests.")
	switch {
	case status == http.StatusTooManyRequests, status >= 500 && status != http.StatusNotImplemented:
		f.Exit = failure.ExitOf(status)
		f.Code = fault.StorageUnavailable
		f.Transient = true
		f.Message = "the storage could not take " + strconv.Quote(p.file.Path) + " (" + strconv.Itoa(status) + " " + code +
			")"
		f.Advise("Run the command again in a minute.")
	case status == http.StatusRequestTimeout, status == http.StatusConflict, code == "RequestTimeout":
		f.Transient = true
	}
	f.RetryAfter = retryAfter(resp.Header)
	if status == http.StatusForbidden {
		return errForbidden{f}
	}
	return f
}

func refusalOf(status int) string {
	switch status {
	case http.StatusForbidden:
		return "the permission to upload has expired, or the request was changed in transit"
	case http.StatusBadRequest:
		return "other bytes arrived than were announced"
	}
	return "this is not a response to an upload"
}

var storageCodeForm = regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)

// storageCode returns the code of an XML error. It is the only part that cannot hold a signature.
func storageCode(body io.Reader) string {
	var e struct{ Code string }
	text, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil || xml.Unmarshal(text, &e) != nil || !storageCodeForm.MatchString(e.Code) {
		return "without a reason"
	}
	return e.Code
}

// flow counts the bytes of one attempt and keeps the error of reading the file. net/http may continue to read for a
// moment after an attempt has ended and the body is closed.
type flow struct {
	from io.ReadCloser
	sent func(int64)

	mu     sync.Mutex
	total  int64
	failed error
	closed bool // errors no longer concern the file
	over   bool // bytes no longer count
}

func (f *flow) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && !errors.Is(err, io.EOF) && !f.closed {
		f.failed = err
	}
	if !f.over {
		f.total += int64(n)
		f.sent(int64(n))
	}
	return n, err
}

func (f *flow) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	return f.from.Close()
}

func (f *flow) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// undo subtracts the bytes of a failed attempt.
func (f *flow) undo() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.sent(-f.total)
}
