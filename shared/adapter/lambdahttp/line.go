package lambdahttp

import (
	"context"
	"io"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"
)

// lineHandler writes common records without reflection, which slog.JSONHandler needs for each level and each fraction.
// It passes records with groups, times, errors or text beyond plain ASCII to the handler that it wraps. Both write the
// same bytes.
type lineHandler struct {
	slog.Handler
	to    io.Writer
	attrs []byte // the fields of WithAttrs, each after a comma
	whole bool   // attrs is complete, and there is no group
}

func newLineHandler(to io.Writer, o *slog.HandlerOptions) *lineHandler {
	one := &oneWriter{to: to}
	return &lineHandler{Handler: slog.NewJSONHandler(one, o), to: one, whole: true}
}

// oneWriter serialises writes, so that lines do not mix.
type oneWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (w *oneWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(line)
}

// lines is a pool of buffers.
var lines = sync.Pool{New: func() any { return new(make([]byte, 0, lineSize)) }}

const lineSize = 1 << 10

// Handle implements slog.Handler.
func (h *lineHandler) Handle(ctx context.Context, r slog.Record) error {
	buffer := lines.Get().(*[]byte)
	defer lines.Put(buffer)
	line, ok := h.line((*buffer)[:0], r)
	if *buffer = line; !ok {
		return h.Handler.Handle(ctx, r)
	}
	_, err := h.to.Write(line)
	return err
}

// line appends a record. ok is false if the record needs slog.JSONHandler.
func (h *lineHandler) line(b []byte, r slog.Record) (_ []byte, ok bool) {
	if !h.whole || r.Time.IsZero() {
		return b, false
	}
	b = append(b, `{"timestamp":"`...)
	b = r.Time.Round(0).AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","level":"`...)
	b = append(b, r.Level.String()...)
	b = append(b, `","message":`...)
	if b, ok = appendText(b, r.Message); !ok {
		return b, false
	}
	b = append(b, h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		b, ok = appendAttr(b, a)
		return ok
	})
	return append(b, "}\n"...), ok
}

// WithAttrs implements slog.Handler.
func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := &lineHandler{
		Handler: h.Handler.WithAttrs(attrs),
		to:      h.to,
		attrs:   append([]byte(nil), h.attrs...),
		whole:   h.whole,
	}
	for _, a := range attrs {
		var ok bool
		with.attrs, ok = appendAttr(with.attrs, a)
		with.whole = with.whole && ok
	}
	return with
}

// WithGroup implements slog.Handler.
func (h *lineHandler) WithGroup(name string) slog.Handler {
	return &lineHandler{Handler: h.Handler.WithGroup(name)}
}

// appendAttr appends a comma and a field. ok is false if the field needs slog.JSONHandler.
func appendAttr(b []byte, a slog.Attr) (_ []byte, ok bool) {
	switch a.Key {
	case "", slog.TimeKey, slog.MessageKey: // slog may drop a value without a name, and the others are renamed
		return b, false
	}
	if b, ok = appendText(append(b, ','), a.Key); !ok {
		return b, false
	}
	b = append(b, ':')
	switch v := a.Value; v.Kind() {
	case slog.KindString:
		return appendText(b, v.String())
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10), true
	case slog.KindUint64:
		return strconv.AppendUint(b, v.Uint64(), 10), true
	case slog.KindBool:
		return strconv.AppendBool(b, v.Bool()), true
	case slog.KindFloat64:
		return appendFloat(b, v.Float64())
	}
	return b, false
}

// The numbers that encoding/json writes without an exponent.
const (
	leastPlain = 1e-6
	mostPlain  = 1e21
)

func appendFloat(b []byte, f float64) (_ []byte, ok bool) {
	if size := math.Abs(f); f != 0 && (size < leastPlain || size >= mostPlain) || math.IsNaN(f) {
		return b, false
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64), true
}

// appendText appends a quoted string. ok is false if a character needs escaping in JSON or is not ASCII.
func appendText(b []byte, s string) (_ []byte, ok bool) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return b, false
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"'), true
}
