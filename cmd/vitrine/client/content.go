package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// Download writes a file of a view to the writer that open returns. Each attempt calls open again. It succeeds only if
// exactly the announced bytes arrived. It sends no credential, because the URL grants access.
func (d *Deployment) Download(ctx context.Context, f contract.AgentViewFile, open func() (io.Writer, error)) error {
	if !d.isLink(f.URL) {
		return d.caller.badResponse(d.Hosts.APIURL, "the view has no URL for %q", f.Path)
	}
	if err := d.caller.encrypted(f.URL); err != nil {
		return err
	}
	return d.caller.retry(ctx, func(ctx context.Context) error {
		to, err := open()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, setup+time.Duration(f.SizeBytes/minRate)*time.Second)
		defer cancel()
		return d.downloadOnce(ctx, f, to)
	})
}

func (d *Deployment) downloadOnce(ctx context.Context, f contract.AgentViewFile, to io.Writer) error {
	c := d.caller
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return unwrapURLError(err)
	}
	c.setHeaders(req)
	req.Header.Set("Accept", "*/*")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return c.unreachable(ctx, f.URL, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // without the text, the status alone is enough
		return c.refused(call{about: aboutFile}, resp, text)
	}
	sum := sha256.New()
	out := &sink{to: io.MultiWriter(to, sum)}
	n, err := io.Copy(out, io.LimitReader(resp.Body, f.SizeBytes+1))
	switch {
	case out.failed != nil:
		return out.failed
	case err != nil:
		return c.unreachable(ctx, f.URL, err)
	case n != f.SizeBytes, f.SHA256 != "" && hex.EncodeToString(sum.Sum(nil)) != f.SHA256:
		return c.badResponse(f.URL, "%q has other bytes than announced", f.Path)
	}
	return nil
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
