package client

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"vitrine/cmd/vitrine/failure"
)

// A body of more than minRanged bytes is read in ranges of rangeSize bytes, rangesAtOnce at a time. A server on AWS Lambda
// sends no more than 6 MB of an answer at full speed.
const (
	minRanged    = 32 << 20
	rangeSize    = 5 << 20
	rangesAtOnce = 4
)

// IsLarge reports whether a body of this size is read in ranges.
func IsLarge(size int64) bool { return size > minRanged }

// endOf returns the end of the part of a body to request from one byte on: that of a range, or else -1 for all the rest.
func endOf(from, size int64) int64 {
	if !IsLarge(size) {
		return -1
	}
	return min(from+rangeSize, size)
}

// getFrom requests a body of a size from one byte on. Of a large one it requests a range, unless a weak tag could not tell
// whether the next range is of the same body.
func (c *Caller) getFrom(ctx context.Context, url string, from, size int64, tag string) (*http.Response, error) {
	resp, err := c.getPart(ctx, url, from, endOf(from, size), tag)
	if err == nil && resp.StatusCode == http.StatusPartialContent && from == 0 && !isStrong(resp.Header.Get("ETag")) {
		resp.Body.Close()
		return c.getPart(ctx, url, 0, -1, "")
	}
	return resp, err
}

// ranged is a body that is read in ranges.
type ranged struct {
	url   string
	tag   string // strong
	size  int64
	alive func() // called when bytes arrive, from several goroutines
}

// fetched is a range, or what arrived of it before a failure.
type fetched struct {
	bytes []byte
	err   error
}

// copyFrom writes the body of an answer, which begins at a byte, and what follows it if it is a range.
func (c *Caller) copyFrom(ctx context.Context, w io.Writer, resp *http.Response, from int64, body ranged) (int64, error) {
	end := body.size
	if asked := resp.Request.Header.Get("Range"); resp.StatusCode == http.StatusPartialContent && !strings.HasSuffix(asked, "-") {
		end = min(from+rangeSize, end)
	}
	n, err := io.Copy(w, io.LimitReader(resp.Body, end-from+1))
	if err != nil || from+n != end || end == body.size {
		return n, err
	}
	more, err := c.copyRanges(ctx, w, end, body)
	return n + more, err
}

// copyRanges writes a body from one byte on. It keeps rangesAtOnce ranges in memory, because it writes them in order: what
// was written is then continued like the rest of a single answer.
func (c *Caller) copyRanges(ctx context.Context, w io.Writer, from int64, body ranged) (written int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan chan fetched, rangesAtOnce-1) // one more is waited for
	go func() {
		defer close(queue)
		for at := from; at < body.size; at += rangeSize {
			result := make(chan fetched, 1)
			select {
			case queue <- result:
			case <-ctx.Done():
				return
			}
			go func() { result <- c.fetchRange(ctx, body, at) }()
		}
	}()
	for result := range queue {
		r := <-result
		n, err := w.Write(r.bytes)
		written += int64(n)
		if err != nil || r.err != nil {
			return written, cmp.Or(err, r.err)
		}
	}
	return written, ctx.Err()
}

// fetchRange reads the range that begins at a byte. After a cut it goes on where the bytes ended.
func (c *Caller) fetchRange(ctx context.Context, body ranged, at int64) fetched {
	var got bytes.Buffer
	end := min(at+rangeSize, body.size)
	err := c.keepOn(ctx, func() int64 { return int64(got.Len()) }, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, setup+rangeSize/minRate*time.Second)
		defer cancel()
		return c.addRange(ctx, body, &got, at+int64(got.Len()), end)
	})
	return fetched{got.Bytes(), err}
}

// addRange adds the bytes of one answer to what has arrived of a range.
func (c *Caller) addRange(ctx context.Context, body ranged, got *bytes.Buffer, from, end int64) error {
	resp, err := c.getPart(ctx, body.url, from, end, body.tag)
	if err != nil {
		return c.unreachable(ctx, body.url, err)
	}
	defer resp.Body.Close()
	switch total, ok := partOf(resp, from, body.tag); {
	case resp.StatusCode == http.StatusOK: // another body, which the next attempt reads from its start
		f := failure.Of(c.badResponse(body.url, "it sent another file than before"))
		f.Transient = true
		return f
	case resp.StatusCode != http.StatusPartialContent:
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // without the text, the status alone is enough
		return c.refused(call{about: aboutFile}, resp, text)
	case !ok || total != body.size:
		return c.badResponse(body.url, "it sent another part than was asked for")
	}
	n, err := io.Copy(io.MultiWriter(got, pulse(body.alive)), io.LimitReader(resp.Body, end-from))
	if err == nil && n < end-from {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return c.unreachable(ctx, body.url, err)
	}
	return nil
}

// pulse is a writer that only tells that bytes arrive.
type pulse func()

func (p pulse) Write(b []byte) (int, error) {
	p()
	return len(b), nil
}
