package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
)

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Download writes a file of a view to the writer that open returns. After a cut it goes on where the bytes ended, if the
// server can tell that they are the same, as long as each round of attempts brings new ones; otherwise it calls open
// again and starts anew. It succeeds only if exactly the announced bytes arrived. It sends no credential, because the URL
// grants access.
func (d *Deployment) Download(ctx context.Context, f contract.AgentViewFile, open func() (io.Writer, error)) error {
	if !d.isLink(f.URL) {
		return d.caller.badResponse(d.Hosts.APIURL, "the view has no URL for %q", f.Path)
	}
	if err := d.caller.encrypted(f.URL); err != nil {
		return err
	}
	w := &fileDownload{caller: d.caller, file: f, open: open}
	return d.caller.keepOn(ctx, func() int64 { return w.done }, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, setup+time.Duration(f.SizeBytes/minRate)*time.Second)
		defer cancel()
		return w.attempt(ctx)
	})
}

// fileDownload is the download of one file.
type fileDownload struct {
	caller *Caller
	file   contract.AgentViewFile
	open   func() (io.Writer, error)

	to   *sink     // of the attempts since open
	sum  hash.Hash // of what was written to it
	done int64     // how many bytes
	tag  string    // their entity tag
}

// attempt requests what is missing and writes what arrives.
func (d *fileDownload) attempt(ctx context.Context) error {
	resp, err := d.caller.getFrom(ctx, d.file.URL, d.done, d.file.SizeBytes, d.tag)
	if err != nil {
		return d.caller.unreachable(ctx, d.file.URL, err)
	}
	defer resp.Body.Close()
	if err := d.begin(resp); err != nil {
		return err
	}
	n, err := d.caller.copyFrom(ctx, d.to, resp, d.done, ranged{
		url:   d.file.URL,
		tag:   d.tag,
		size:  d.file.SizeBytes,
		alive: func() {},
	})
	d.done += n
	switch _, known := errors.AsType[*failure.Failure](err); {
	case d.to.failed != nil:
		return d.to.failed
	case known:
		return err
	case err != nil && d.done < d.file.SizeBytes:
		return d.caller.unreachable(ctx, d.file.URL, err)
	case d.done != d.file.SizeBytes, d.file.SHA256 != "" && hex.EncodeToString(d.sum.Sum(nil)) != d.file.SHA256:
		return d.caller.badResponse(d.file.URL, "%q has other bytes than announced", d.file.Path)
	}
	return nil
}

// begin checks the head of an answer, and starts anew unless its body continues what is there.
func (d *fileDownload) begin(resp *http.Response) error {
	switch {
	case resp.StatusCode == http.StatusPartialContent && resp.Request.Header.Get("Range") != "":
		total, ok := partOf(resp, d.done, cmp.Or(d.tag, resp.Header.Get("ETag")))
		if !ok || total != d.file.SizeBytes {
			return d.caller.badResponse(d.file.URL, "it sent another part of %q than was asked for", d.file.Path)
		}
		if d.done > 0 {
			return nil
		}
	case resp.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // without the text, the status alone is enough
		return d.caller.refused(call{about: aboutFile}, resp, text)
	}
	to, err := d.open()
	if err != nil {
		return err
	}
	d.done, d.tag = 0, resp.Header.Get("ETag")
	d.sum = sha256.New()
	d.to = &sink{to: io.MultiWriter(to, d.sum)}
	return nil
}

// getPart requests a body from one byte on, up to an end or, if that is -1, all the rest. It requests the whole body if
// the tag cannot tell whether it is the same.
func (c *Caller) getPart(ctx context.Context, url string, from, end int64, tag string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	c.setHeaders(req)
	req.Header.Set("Accept", "*/*")
	whole := from == 0 && end < 0 || from > 0 && !isStrong(tag)
	if !whole && isStrong(tag) {
		req.Header.Set("If-Range", tag)
	}
	switch {
	case whole:
	case end < 0:
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	default:
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, end-1))
	}
	return c.HTTP.Do(req)
}

// partOf returns the total size that a partial answer tells, and whether it is the part of this tag from this byte on.
func partOf(resp *http.Response, from int64, tag string) (total int64, ok bool) {
	n, err := fmt.Sscanf(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", from)+"%d/%d", new(int64), &total)
	return total, n == 2 && err == nil && isStrong(tag) && resp.Header.Get("ETag") == tag
}

// sink records that writing failed, to distinguish that from a broken connection.
type sink struct {
	to     io.Writer
	failed error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if err != nil {
		s.failed = err
	}
	return n, err
}

// ErrLarge means that a file is larger than the caller accepts.
var ErrLarge = errors.New("the file is too large")

// Fetch reads a file of a view into memory. It returns ErrLarge if the file has more than most bytes.
func (d *Deployment) Fetch(ctx context.Context, f contract.AgentViewFile, most int64) ([]byte, error) {
	if f.SizeBytes > most {
		return nil, ErrLarge
	}
	var body bytes.Buffer
	err := d.Download(ctx, f, func() (io.Writer, error) {
		body.Reset()
		return &body, nil
	})
	if err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

// Missing returns the failure for a path that a revision does not have.
func Missing(path string) error {
	return failure.New(failure.NotFound, "not_found", "the revision has no file %q", path).Advise(noFile)
}
