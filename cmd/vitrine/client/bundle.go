package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
)

// Store keeps what has arrived of an archive, across attempts and runs of the program.
type Store interface {
	io.WriterAt
	// Kept returns how many bytes are kept, and the entity tag of the archive that they are of.
	Kept() (size int64, tag string)
	// Begin empties the store for the archive with this entity tag, which may be "".
	Begin(tag string) error
	// Sum returns the SHA-256 of what is kept.
	Sum() ([]byte, error)
	// Discard removes what is kept.
	Discard()
}

// Archive describes a zip that has arrived whole.
type Archive struct {
	Size   int64
	SHA256 string // lower-case hex
}

// DownloadBundle writes the zip of a revision to a store, and continues what the store keeps of the same archive. It
// goes on for as long as each round of attempts brings new bytes. observe is told how many bytes of the total are
// there. It sends no credential, because the URL is the permission.
func (d *Deployment) DownloadBundle(
	ctx context.Context,
	b contract.Bundle,
	to Store,
	observe func(done, total int64),
) (Archive, error) {
	if !d.isLink(b.URL) {
		return Archive{}, d.caller.badResponse(d.Hosts.APIURL, "the view has no URL for the zip")
	}
	if err := d.caller.encrypted(b.URL); err != nil {
		return Archive{}, err
	}
	w := &bundleDownload{
		caller:  d.caller,
		bundle:  b,
		to:      to,
		observe: observe,
	}
	for {
		before, _ := to.Kept()
		err := d.caller.retry(ctx, w.attempt)
		if err == nil {
			return w.verify()
		}
		if after, _ := to.Kept(); after <= before || !failure.Of(err).Transient || ctx.Err() != nil {
			return Archive{}, err
		}
	}
}

// bundleDownload is the download of one archive.
type bundleDownload struct {
	caller  *Caller
	bundle  contract.Bundle
	to      Store
	observe func(done, total int64)

	total  int64  // of the last answer
	digest []byte // SHA-256 of the whole archive by the last answer
}

// stallTime is how long a download may bring no bytes.
const stallTime = time.Minute

// attempt asks for what is missing and stores what arrives.
func (d *bundleDownload) attempt(ctx context.Context) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(stallTime, cancel)
	defer stalled.Stop()
	req, from, err := d.request(within)
	if err != nil {
		return unwrapURLError(err)
	}
	resp, err := d.caller.HTTP.Do(req)
	if err != nil {
		return d.lost(ctx, within, err)
	}
	defer resp.Body.Close()
	if from, err = d.begin(resp, from); err != nil {
		return err
	}
	out := &sink{to: &arrival{download: d, at: from, progress: func() { stalled.Reset(stallTime) }}}
	n, err := io.Copy(out, io.LimitReader(resp.Body, d.total-from+1))
	switch {
	case out.failed != nil:
		return out.failed
	case err != nil:
		return d.lost(ctx, within, err)
	case from+n != d.total:
		return d.caller.badResponse(d.bundle.URL, "the zip is longer or shorter than announced")
	}
	return nil
}

// request asks for the archive, or for what is missing of it. The last byte that is kept is asked for again, so that a
// whole archive is answered with its digest instead of 416.
func (d *bundleDownload) request(ctx context.Context) (req *http.Request, from int64, err error) {
	req, err = http.NewRequestWithContext(ctx, http.MethodGet, d.bundle.URL, nil)
	if err != nil {
		return nil, 0, err
	}
	d.caller.setHeaders(req)
	req.Header.Set("Accept", "*/*")
	if kept, tag := d.to.Kept(); kept > 1 && isStrong(tag) {
		from = kept - 1
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		req.Header.Set("If-Range", tag)
	}
	return req, from, nil
}

// isStrong reports whether an entity tag can be a condition of a range.
func isStrong(tag string) bool {
	return len(tag) > 2 && strings.HasPrefix(tag, `"`) && strings.HasSuffix(tag, `"`)
}

// lost returns the failure of a broken connection. One without progress was cancelled by its timer, not by the person.
func (d *bundleDownload) lost(ctx, within context.Context, err error) error {
	if within.Err() != nil && ctx.Err() == nil {
		err = os.ErrDeadlineExceeded
	}
	return d.caller.unreachable(ctx, d.bundle.URL, err)
}

// begin checks the head of an answer, and returns at which byte its body begins.
func (d *bundleDownload) begin(resp *http.Response, asked int64) (from int64, err error) {
	kept, tag := d.to.Kept()
	switch {
	case resp.StatusCode == http.StatusOK:
		d.total = resp.ContentLength
	case resp.StatusCode == http.StatusPartialContent && asked > 0:
		from = asked
		n, err := fmt.Sscanf(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", asked)+"%d/%d", new(int64), &d.total)
		if n != 2 || err != nil || d.total < kept || resp.Header.Get("ETag") != tag {
			return 0, d.caller.badResponse(d.bundle.URL, "it sent another part of the zip than was asked for")
		}
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && asked > 0:
		d.to.Discard()
		f := failure.New(failure.Server, failure.BadResponse, "what was kept of the zip is longer than the zip").
			Advise("Run the command again; it starts from the beginning.")
		f.RequestID, f.Transient = d.caller.RequestID, true
		return 0, f
	default:
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // without the text, the status alone is enough
		return 0, d.caller.refused(call{about: aboutFile}, resp, text)
	}
	d.digest = reprDigest(resp.Header)
	switch {
	case d.total < 0 || d.bundle.SizeBytes > 0 && d.total != d.bundle.SizeBytes:
		return 0, d.caller.badResponse(d.bundle.URL, "the zip has another size than announced")
	case d.digest == nil:
		return 0, d.caller.badResponse(d.bundle.URL, "it does not state the SHA-256 of the zip")
	case from == 0:
		err = d.to.Begin(resp.Header.Get("ETag"))
	}
	return from, err
}

// reprDigest returns the SHA-256 of the whole archive by the header of RFC 9530, nil for none.
func reprDigest(h http.Header) []byte {
	for member := range strings.SplitSeq(strings.Join(h.Values("Repr-Digest"), ","), ",") {
		value, ok := strings.CutPrefix(strings.TrimSpace(member), "sha-256=:")
		value, _, closed := strings.Cut(value, ":")
		if sum, err := base64.StdEncoding.DecodeString(value); ok && closed && err == nil && len(sum) == 32 {
			return sum
		}
	}
	return nil
}

// arrival stores the body of one answer, which begins at a byte of the archive.
type arrival struct {
	download *bundleDownload
	at       int64
	progress func()
}

func (a *arrival) Write(p []byte) (int, error) {
	n, err := a.download.to.WriteAt(p, a.at)
	a.at += int64(n)
	a.progress()
	a.download.observe(a.at, a.download.total)
	return n, err
}

// verify compares what is kept with the digest of the archive. Other bytes are removed, because no later attempt could
// continue them.
func (d *bundleDownload) verify() (Archive, error) {
	sum, err := d.to.Sum()
	if err != nil {
		return Archive{}, err
	}
	if size, _ := d.to.Kept(); size != d.total || !bytes.Equal(sum, d.digest) {
		d.to.Discard()
		f := failure.New(failure.Other, failure.BadResponse,
			"the zip does not have the SHA-256 that %s states; it was removed", origin(d.bundle.URL)).
			Advise("Run the command again; if it fails again, a proxy may be changing the answers.")
		f.RequestID = d.caller.RequestID
		return Archive{}, f
	}
	return Archive{d.total, hex.EncodeToString(sum)}, nil
}
