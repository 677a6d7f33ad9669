package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/platform/pack"
)

// AcceptedCoding returns how the answer to a request is packed if it is worth it; empty: not at all. Requests that are
// about single bytes or the length of a file get the file itself, and so do clients of HTTP/1.0, which cannot tell
// whether an answer of unknown length is complete.
func AcceptedCoding(r *http.Request) pack.Coding {
	for _, name := range []string{"Range", "If-Range", "If-Match"} {
		if len(r.Header[name]) > 0 {
			return ""
		}
	}
	if r.Method == http.MethodHead || !r.ProtoAtLeast(1, 1) {
		return ""
	}
	return preferred(r.Header["Accept-Encoding"])
}

// preferred returns the coding that the lines of Accept-Encoding give the most weight, or none if they give identity
// more (RFC 9110, section 12.5.3). A star stands for gzip, which clients that take anything know.
func preferred(lines []string) (best pack.Coding) {
	weights := map[string]float64{"identity": 0}
	for element := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		name, parameter, weighted := strings.Cut(element, ";")
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "*", "identity", string(pack.Zstd), string(pack.Gzip):
			weights[name] = 1
			if weighted {
				weights[name] = weight(parameter)
			}
		}
	}
	if _, named := weights[string(pack.Gzip)]; !named {
		weights[string(pack.Gzip)] = weights["*"]
	}
	most := 0.0
	for _, c := range pack.Codings {
		if w := weights[string(c)]; w > most && w >= weights["identity"] {
			best, most = c, w
		}
	}
	return best
}

// weight parses the parameter q. A coding with a malformed one is not accepted.
func weight(parameter string) float64 {
	name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
	q, err := strconv.ParseFloat(value, 64)
	if strings.EqualFold(name, "q") && err == nil && q >= 0 && q <= 1 {
		return q
	}
	return 0
}

// describePacked turns the headers of a text into those of its packed form, which has a strong ETag of its own and no
// ranges.
func describePacked(h http.Header, c pack.Coding) {
	h.Set("Content-Encoding", string(c))
	h.Del("Accept-Ranges")
	h.Del("Content-Length")
	if tag := h.Get("ETag"); tag != "" {
		h.Set("ETag", strings.TrimSuffix(tag, `"`)+"-"+string(c)+`"`)
	}
}

// plainTag returns the ETag of the text itself.
func plainTag(tag string) string {
	for _, c := range pack.Codings {
		if plain, packed := strings.CutSuffix(tag, "-"+string(c)+`"`); packed {
			return plain + `"`
		}
	}
	return tag
}

// Packed sets the headers of an answer that the caller has packed itself. They replace those of the text of size bytes.
func Packed(w http.ResponseWriter, r *http.Request, c pack.Coding, packed, size int64) {
	describePacked(w.Header(), c)
	w.Header().Set("Content-Length", strconv.FormatInt(packed, 10))
	annotateSize(r, size)
}

// annotateSize adds the size of a text to the log line of a request whose answer is packed.
func annotateSize(r *http.Request, size int64) {
	Annotate(r.Context(), slog.Int64("unpacked_bytes", size))
}

// Pack packs the answers of a handler for clients that accept it. It packs successes of a type that becomes smaller, if
// their first write or their Content-Length has pack.MinSize bytes. While too much is being packed, answers stay as they
// are. An answer that a panic breaks off gets no end.
//
// It is not for answers that hold a secret of the reader beside text that somebody else chose, because the size of the
// answer tells whether the two are alike.
func Pack(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &packer{ResponseWriter: w, request: r, coding: AcceptedCoding(r)}
		defer p.release()
		next.ServeHTTP(p, r)
		p.finish()
	})
}

// Packable marks an answer as text whose Content-Type does not tell that it is. Without Pack it has no effect.
func Packable(w http.ResponseWriter) {
	if p, is := w.(*packer); is {
		p.text = true
	}
}

// packer holds the status back while the size of a text that the client accepts packed is unknown.
type packer struct {
	http.ResponseWriter
	request *http.Request
	coding  pack.Coding  // that the client accepts; empty: none
	text    bool         // regardless of the Content-Type
	code    int          // 0: not set yet
	begun   bool         // status and headers are written
	out     *pack.Writer // nil: the answer is not packed
	size    int64        // of what out got
}

// WriteHeader implements http.ResponseWriter.
func (p *packer) WriteHeader(code int) {
	switch {
	case code < http.StatusOK:
		p.ResponseWriter.WriteHeader(code)
	case p.code == 0:
		p.code = code
		if !p.success() || p.length() >= 0 || p.coding == "" {
			p.begin(0)
		}
	}
}

// Write implements http.ResponseWriter.
func (p *packer) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	p.begin(len(b))
	if p.out == nil {
		return p.ResponseWriter.Write(b)
	}
	n, err := p.out.Write(b)
	p.size += int64(n)
	return n, err
}

// begin writes status and headers, once. first is the size of the first write.
func (p *packer) begin(first int) {
	if p.begun {
		return
	}
	p.begun = true
	if p.varies() {
		addVary(p.Header())
		p.pack(max(first, p.length()))
	}
	p.ResponseWriter.WriteHeader(p.code)
}

// varies reports whether clients that accept it may get the answer packed, or the one that it is about.
func (p *packer) varies() bool {
	h := p.Header()
	if !p.text && !media.Packs(h.Get("Content-Type")) {
		return false
	}
	if p.success() {
		length := p.length()
		return length < 0 || length >= pack.MinSize || h.Get("Content-Encoding") != ""
	}
	return p.code == http.StatusPartialContent || p.code == http.StatusNotModified
}

func (p *packer) success() bool { return p.code == http.StatusOK || p.code == http.StatusCreated }

// length returns the Content-Length, or -1 if there is none.
func (p *packer) length() int {
	n, err := strconv.Atoi(p.Header().Get("Content-Length"))
	if err != nil {
		return -1
	}
	return n
}

// pack packs what follows, if it has a body that is worth it and not packed yet.
func (p *packer) pack(size int) {
	h := p.Header()
	if p.coding == "" || !p.success() || size < pack.MinSize || h.Get("Content-Encoding") != "" {
		return
	}
	if p.out = pack.NewWriter(p.ResponseWriter, p.coding); p.out != nil {
		describePacked(h, p.coding)
	}
}

// addVary tells caches that the answer depends on Accept-Encoding.
func addVary(h http.Header) {
	value := "Accept-Encoding"
	if others := h.Get("Vary"); others != "" {
		value = others + ", " + value
	}
	h.Set("Vary", value)
}

// FlushError implements what http.ResponseController calls. An answer that begins with it is not packed.
func (p *packer) FlushError() error {
	p.WriteHeader(http.StatusOK)
	p.begin(0)
	if p.out != nil {
		if err := p.out.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// finish completes the answer, or breaks the connection if it cannot.
func (p *packer) finish() {
	if p.code != 0 {
		p.begin(0)
	}
	if p.out == nil {
		return
	}
	if err := p.out.Close(); err != nil {
		Abort(p.request.Context(), fmt.Errorf("write to the client: %w (%w)", err, context.Canceled))
	}
}

func (p *packer) release() {
	if p.out != nil {
		annotateSize(p.request, p.size)
		p.out.Release()
	}
}

// Unwrap lets http.ResponseController find the wrapped writer.
func (p *packer) Unwrap() http.ResponseWriter { return p.ResponseWriter }
