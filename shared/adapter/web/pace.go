package web

import (
	"errors"
	"net/http"
	"os"
	"time"

	"vitrine/shared/platform/limits"
)

// pace ends an answer whose reader is too slow, because each answer that is being sent occupies a function. It counts
// only the time for which writes wait for the reader, not the time for which the handler waits.
type pace struct {
	limits.Pace
	out  *http.ResponseController
	left time.Duration // remaining time that writes may wait
	slow bool          // the reader was too slow
}

func newPace(p limits.Pace, w http.ResponseWriter) *pace {
	return &pace{Pace: p, out: http.NewResponseController(w), left: p.Patience}
}

// deadline bounds the following writes. It ignores the error of a writer without deadlines, because such a writer
// buffers everything and never waits.
func (p *pace) deadline(t time.Time) { _ = p.out.SetWriteDeadline(t) }

// write makes one write with a deadline. Pieces should be small, because bytes earn time only after their write.
func (p *pace) write(b []byte, write func([]byte) (int, error)) (int, error) {
	began := time.Now()
	p.deadline(began.Add(p.left))
	n, err := write(b)
	p.took(int64(n), time.Since(began))
	p.slow = p.slow || errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

// took adds the time that n bytes earn and subtracts the time that they waited.
func (p *pace) took(n int64, waited time.Duration) {
	p.left = min(p.left-waited+time.Duration(n)*time.Second/time.Duration(p.Rate), p.Patience)
}

// finish bounds what the server still has to send after the handler has returned. It is needed because the deadline of
// the last write may have passed.
func (p *pace) finish() { p.deadline(time.Now().Add(p.Patience)) }
