package engines

import (
	"bytes"
	"io"
	"sync"
)

// tailBytes is how much of an engine's output an error quotes.
const tailBytes = 2000

// tail passes output on and keeps its end.
type tail struct {
	to io.Writer

	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - tailBytes; extra > 0 {
		t.kept = t.kept[extra:]
	}
	return t.to.Write(p)
}

// String returns the end of the output, or "nothing".
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if said := bytes.TrimSpace(t.kept); len(said) > 0 {
		return string(said)
	}
	return "nothing"
}

// sharedWriter lets several engines write to one writer, which may be nil.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *sharedWriter) Write(p []byte) (int, error) {
	if w.to == nil {
		return len(p), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}
