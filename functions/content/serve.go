package content

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/pack"
	"vitrine/shared/publishing/content"
)

// file serves GET and HEAD of /v/{token}/{path}. The router decodes the path exactly once. It is then compared byte by
// byte.
func (h *Host) file(w http.ResponseWriter, r *http.Request) error {
	web.VaryByFrame(w.Header(), r)
	found, err := h.Reader.Find(r.Context(), r.PathValue("token"), r.PathValue("path"))
	if err != nil && web.ViewerFrame(r) {
		return h.refuseInFrame(w, r, err)
	}
	if err != nil {
		return err
	}
	return h.serve(w, r, found)
}

// archive serves GET and HEAD of /b/{token} or /x/{token}.
func (h *Host) archive(
	find func(ctx context.Context, token string) (content.File, error),
) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		web.VaryByFrame(w.Header(), r)
		found, err := find(r.Context(), r.PathValue("token"))
		if err != nil {
			return err
		}
		return h.serve(w, r, found)
	}
}

// serve answers with a file, or the part of it that the client wants. The response starts only after the object store
// has begun to return the bytes, so that a failure there can still be reported.
func (h *Host) serve(w http.ResponseWriter, r *http.Request, found content.File) error {
	web.Annotate(r.Context(), slog.String("workspace", string(found.Workspace)),
		slog.String("artifact", string(found.Artifact)),
		slog.String("revision", string(found.Revision)))
	e := h.fileResponse(found, r)
	if e.text {
		web.Packable(w)
	}
	if e.Absent { // conditions and ranges are for what is there
		return h.sendPart(w, r, e, part{size: e.Size})
	}
	if !e.matches(r) {
		e.describe(w.Header())
		withoutBody(w, http.StatusPreconditionFailed)
		return nil
	}
	if known := web.Unchanged(r, e.etag); known != "" {
		e.etag = known
		e.describe(w.Header())
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	p := e.requested(r)
	if p.none {
		e.describe(w.Header())
		unsatisfiable(w, p, e.Size)
		return nil
	}
	coding := web.AcceptedCoding(r)
	packed, err := h.packed(r, e, coding)
	if err != nil {
		return err
	}
	if packed != "" {
		e.sendPacked(w, r, coding, packed)
		return nil
	}
	return h.sendPart(w, r, e, p)
}

// sendPart opens a part and writes the response with it.
func (h *Host) sendPart(w http.ResponseWriter, r *http.Request, e fileResponse, p part) error {
	body, err := h.open(r, e, p)
	if err != nil {
		return err
	}
	defer body.Close()
	e.describe(w.Header())
	e.send(w, r, p, body)
	return nil
}

// unsatisfiable answers a range that begins after the end of the file.
func unsatisfiable(w http.ResponseWriter, p part, size int64) {
	w.Header().Set("Content-Range", p.contentRange(size))
	withoutBody(w, http.StatusRequestedRangeNotSatisfiable)
}

// withoutBody answers a request that fails for what its headers ask, with the headers of the file set.
func withoutBody(w http.ResponseWriter, status int) {
	w.Header().Del("Content-Type")
	w.Header().Del("Content-Disposition")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(status)
}

// open opens the bytes of a part in the object store. HEAD requests and empty parts need none.
func (h *Host) open(r *http.Request, e fileResponse, p part) (io.ReadCloser, error) {
	if r.Method == http.MethodHead || p.size == 0 {
		return http.NoBody, nil
	}
	return h.Reader.Open(r.Context(), e.File, web.ClientAddress(r), p.from, p.size)
}

// packed returns the packed form of a response from memory. It is empty if there is none, or the client accepts no coding.
func (h *Host) packed(r *http.Request, e fileResponse, c pack.Coding) (string, error) {
	form := content.Form{Coding: c}
	if c == "" || !e.text || e.length() < pack.MinSize {
		return "", nil
	}
	if e.script != "" {
		form.Variant, form.Edit = "framed", e.framedBody
		if e.Scripts {
			form.Variant = "running" // their place in the text differs
		}
	}
	return h.Reader.Packed(r.Context(), e.File, form)
}

// sendPacked writes a response that is packed.
func (f fileResponse) sendPacked(w http.ResponseWriter, r *http.Request, c pack.Coding, packed string) {
	length := int64(len(packed))
	f.describe(w.Header())
	web.Packed(w, r, c, length, f.length())
	if err := transfer(w, strings.NewReader(packed), length); err != nil {
		web.Abort(r.Context(), err)
	}
}

// send writes the response. A failure after the status has been written can only break the connection.
func (f fileResponse) send(w http.ResponseWriter, r *http.Request, p part, body io.Reader) {
	status, length := http.StatusOK, f.length()
	if f.Absent {
		status = http.StatusNotFound
	}
	if p.partial {
		status, length = http.StatusPartialContent, p.size
		w.Header().Set("Content-Range", p.contentRange(f.Size))
	}
	w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if f.script != "" {
		body = f.framedBody(body)
	}
	if err := transfer(w, body, length); err != nil {
		web.Abort(r.Context(), err)
	}
}

const chunk = 64 << 10 // buffer of one request, in bytes

var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// transfer copies exactly size bytes. The error wraps context.Canceled if the client has disconnected, and
// storage_unavailable if the object store failed.
func transfer(w io.Writer, body io.Reader, size int64) error {
	buffer := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buffer)
	to := client{w: w}
	n, err := io.CopyBuffer(&to, io.LimitReader(body, size), buffer[:])
	switch {
	case to.err != nil:
		return fmt.Errorf("write to the client: %w (%w)", to.err, context.Canceled)
	case err == nil && n < size:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fault.Wrap(fault.StorageUnavailable, err, "the file broke off after %d of %d bytes", n, size)
	}
	return nil
}

// client wraps the writer of a response. It distinguishes failures of writing from those of reading. It also hides
// other methods of the writer, so that the copy uses our buffer.
type client struct {
	w   io.Writer
	err error
}

func (c *client) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.err = err
	return n, err
}
