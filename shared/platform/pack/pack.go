// Package pack packs texts for clients that accept them packed.
package pack

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"
)

// Coding is how a text is packed, by its name in HTTP. The empty one leaves the text as it is.
type Coding string

// The codings.
const (
	Zstd Coding = "zstd"
	Gzip Coding = "gzip"
)

// Codings lists the codings, beginning with the one that is chosen among equals.
var Codings = []Coding{Zstd, Gzip}

// MinSize is the size in bytes from which a text is worth packing. A shorter one takes one packet of the network anyway.
const MinSize = 1 << 10

const (
	// maxWriters bounds the memory and the processor time that packing takes, because each writer has 2.5 MB.
	maxWriters = 16
	// window is how far back repetitions are found, in bytes. A larger one takes more memory and saves little.
	window = 512 << 10
	// gzipLevel packs as tightly as zstd does at its default level, at about the same speed.
	gzipLevel = 5
)

var slots = semaphore.NewWeighted(maxWriters)

// encoder is what both libraries have.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// encoders keeps encoders for reuse, because a new one allocates its tables.
var encoders = map[Coding]*sync.Pool{
	Zstd: {New: func() any { return newZstd(zstd.SpeedDefault) }},
	Gzip: {New: func() any { return newGzip(gzipLevel) }},
}

func newZstd(level zstd.EncoderLevel) encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(window),
		zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constant
	}
	return e
}

func newGzip(level int) encoder {
	e, err := gzip.NewWriterLevel(nil, level)
	if err != nil {
		panic(err) // the level is constant
	}
	return e
}

// Writer packs what is written to it. Close writes the end, without which readers know that the text is incomplete.
type Writer struct {
	encoder
	pool *sync.Pool
}

// NewWriter returns a writer that writes packed text to w, or nil if as many writers exist as may exist at once. The
// caller must release it.
func NewWriter(w io.Writer, c Coding) *Writer {
	if !slots.TryAcquire(1) {
		return nil
	}
	pool := encoders[c]
	e := pool.Get().(encoder)
	e.Reset(w)
	return &Writer{e, pool}
}

// Release makes room for another writer. It writes nothing.
func (w *Writer) Release() {
	w.Reset(nil)
	w.pool.Put(w.encoder)
	slots.Release(1)
}

// Text returns a packed text, which is empty if as many writers exist as may exist at once.
func Text(c Coding, text io.Reader) (string, error) {
	var out bytes.Buffer
	w := NewWriter(&out, c)
	if w == nil {
		return "", nil
	}
	defer w.Release()
	if _, err := io.Copy(w, text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return out.String(), nil
}

// Tightly returns a text that is packed more tightly than Text does it. It takes more time and memory, which suits texts
// that are part of the program.
func Tightly(c Coding, text []byte) string {
	e := newZstd(zstd.SpeedBetterCompression)
	if c == Gzip {
		e = newGzip(gzip.BestCompression)
	}
	var out bytes.Buffer
	e.Reset(&out)
	_, _ = e.Write(text) // neither can fail, because they write to memory
	_ = e.Close()
	return out.String()
}
