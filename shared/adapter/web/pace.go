package web

import (
	"errors"
	"net/http"
	"os"
	"time"

	"vitrine/shared/platform/limits"
)

// pace ends an answer whose reader takes it too slowly, because each answer that is being sent
// holds a function. It counts only the time that writes wait for the reader, not what the handler
// waits for.
type pace struct {
	limits.Pace
	out  *http.ResponseController
	left time.Duration // remaining time that writes may wait
	slow bool          // the answer was ended
}

func newPace(p limits.Pace, w http.ResponseWriter) *pace {
	return &pace{Pace: p, out: http.NewResponseController(w), left: p.Patience}
}

// deadline bounds the writes that follow. Writers without deadlines buffer everything, so that no
// write waits.
func (p *pace) deadline(t time.Time) { _ = p.out.SetWriteDeadline(t) }

// write bounds one write. Pieces should be small, because time is credited after each write.
func (p *pace) write(b []byte, write func([]byte) (int, error)) (int, error) {
	began := time.Now()
	p.deadline(began.Add(p.left))
	n, err := write(b)
	p.took(int64(n), time.Since(began))
	p.slow = p.slow || errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

// took accounts for bytes and for how long the reader delayed them.
func (p *pace) took(n int64, waited time.Duration) {
	p.left = min(p.left-waited+time.Duration(n)*time.Second/time.Duration(p.Rate), p.Patience)
}

// finish bounds what the server still has to send when the handler has returned, because the
// deadline of the last write may have passed.
func (p *pace) finish() { p.deadline(time.Now().Add(p.Patience)) }
