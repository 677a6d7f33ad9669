package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
)

// Store keeps the bytes of an archive that have arrived, across attempts and runs of the program.
type Store interface {
	io.WriterAt
	// Kept returns how many bytes are kept, and the entity tag of their archive.
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

// DownloadBundle writes the zip of a revision to a store, and continues if the store keeps a part of the same archive.
// It goes on as long as each round of attempts brings new bytes. It calls observe with the bytes that have arrived and
// their total. It sends no credential, because the URL grants access.
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
	kept := func() int64 { size, _ := to.Kept(); return size }
	if err := d.caller.keepOn(ctx, kept, w.attempt); err != nil {
		return Archive{}, err
	}
	return w.verify()
}

// bundleDownload is the download of one archive.
type bundleDownload struct {
	caller  *Caller
	bundle  contract.Bundle
	to      Store
	observe func(done, total int64)

	total  int64  // total size by the last answer
	digest []byte // SHA-256 of the whole archive by the last answer
}

// stallTime is how long a download may go without new bytes.
const stallTime = time.Minute

// attempt requests what is missing and stores what arrives.
func (d *bundleDownload) attempt(ctx context.Context) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(stallTime, cancel)
	defer stalled.Stop()
	kept, tag := d.to.Kept()
	from := max(0, kept-1) // a complete archive would be answered with 416 instead of its digest
	resp, err := d.caller.getFrom(within, d.bundle.URL, from, d.bundle.SizeBytes, tag)
	if err != nil {
		return d.lost(ctx, within, err)
	}
	defer resp.Body.Close()
	if from, err = d.begin(resp, from); err != nil {
		return err
	}
	alive := func() { stalled.Reset(stallTime) }
	out := &sink{to: &arrival{download: d, at: from, progress: alive}}
	n, err := d.caller.copyFrom(within, out, resp, from, ranged{
		url:   d.bundle.URL,
		tag:   resp.Header.Get("ETag"),
		size:  d.total,
		alive: alive,
	})
	switch _, known := errors.AsType[*failure.Failure](err); {
	case out.failed != nil:
		return out.failed
	case known && within.Err() == nil:
		return err
	case err != nil:
		return d.lost(ctx, within, err)
	case from+n != d.total:
		return d.caller.badResponse(d.bundle.URL, "the zip is longer or shorter than announced")
	}
	return nil
}

// isStrong reports whether an entity tag can be a condition of a range.
func isStrong(tag string) bool {
	return len(tag) > 2 && strings.HasPrefix(tag, `"`) && strings.HasSuffix(tag, `"`)
}

// lost returns the failure of a broken connection. If only the inner context has ended, the stall timer cancelled it
// and not the person.
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
	case resp.StatusCode == http.StatusPartialContent && resp.Request.Header.Get("Range") != "":
		var ok bool
		if asked == 0 {
			tag = resp.Header.Get("ETag")
		}
		if d.total, ok = partOf(resp, asked, tag); !ok || d.total < kept {
			return 0, d.caller.badResponse(d.bundle.URL, "it sent another part of the zip than was asked for")
		}
		from = asked
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

// reprDigest returns the SHA-256 of the whole archive from the header of RFC 9530; nil if there is none.
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

// arrival stores the body of one answer, which begins at byte at of the archive.
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

// verify compares what is kept with the digest of the archive. It removes bytes that differ, because no later attempt
// could continue them.
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
