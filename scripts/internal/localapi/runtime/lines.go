package runtime

import (
	"bytes"
	"io"
	"sync"
)

// maxLine is where a line without end is broken.
const maxLine = 256 << 10

// lines passes output on in whole lines, prefixed with the name of the function, unless they are
// JSON objects, which log readers parse unchanged.
type lines struct {
	prefix string
	to     io.Writer

	mu   sync.Mutex
	rest []byte // of a line that has not ended
}

func newLines(name string, to io.Writer) *lines {
	if to == nil {
		to = io.Discard
	}
	return &lines{prefix: "[" + name + "] ", to: to}
}

// Write implements io.Writer. Output that cannot be passed on is dropped, and the function runs on.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 && len(l.rest) < maxLine {
			return len(b), nil
		}
		if end < 0 {
			end = len(l.rest) - 1
		}
		l.pass(l.rest[:end+1])
		l.rest = l.rest[end+1:]
	}
}

// flush passes on a last line without an end.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.pass(l.rest)
		l.rest = nil
	}
}

func (l *lines) pass(line []byte) {
	var whole []byte
	if line[0] != '{' {
		whole = append(whole, l.prefix...)
	}
	whole = append(whole, bytes.TrimSuffix(line, []byte("\n"))...)
	_, _ = l.to.Write(append(whole, '\n'))
}
