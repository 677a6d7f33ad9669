package main

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"time"
)

// logSum adds up what the lines of a request log tell of AWS. It reads the text form of slog, which the local stack
// prints.
type logSum struct {
	mu   sync.Mutex
	rest []byte // of a line whose end has not come
	sum  spent
	seen int
}

// Write reads the lines that have ended.
func (l *logSum) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, ended := bytes.Cut(l.rest, []byte("\n"))
		if !ended {
			l.rest = bytes.Clone(l.rest)
			return len(p), nil
		}
		l.read(line)
		l.rest = rest
	}
}

func (l *logSum) read(line []byte) {
	calls, found := textField(line, " aws_calls=")
	if !found {
		return
	}
	trips, _ := textField(line, " aws_round_trips=")
	rru, _ := textField(line, " rru=")
	wru, _ := textField(line, " wru=")
	l.sum.add(spent{
		Calls:      int(calls),
		RoundTrips: int(trips),
		RRU:        rru,
		WRU:        wru,
	})
	l.seen++
}

func textField(line []byte, name string) (value float64, found bool) {
	_, after, found := bytes.Cut(line, []byte(name))
	if !found {
		return 0, false
	}
	text, _, _ := bytes.Cut(after, []byte(" "))
	value, err := strconv.ParseFloat(string(text), 64)
	return value, err == nil
}

func (l *logSum) reading() (spent, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum, l.seen
}

// quiet returns the sum when no line has come for a moment: lines follow their answers. It does not wait for a log
// without a line, because preparing rows has left some in that of any stack.
func (l *logSum) quiet(ctx context.Context) spent {
	sum, before := l.reading()
	for before > 0 && ctx.Err() == nil {
		time.Sleep(10 * settlePause)
		s, seen := l.reading()
		if seen == before {
			return s
		}
		sum, before = s, seen
	}
	return sum
}
