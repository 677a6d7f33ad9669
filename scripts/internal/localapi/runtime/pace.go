package runtime

import (
	"fmt"
	"io"
	"time"
)

// What Lambda documents about answers that are streamed: bytes, bytes, and bytes a second.
const (
	maxStream = 200_000_000
	unpaced   = 6_000_000
	pace      = 2_000_000
)

var streamTooLarge = &Failure{
	"Function.ResponseSizeTooLarge", fmt.Sprintf("The streamed answer exceeded %d bytes.", maxStream),
}

// paced reads as fast as Lambda streams: unpaced bytes at once, then pace. It fails after maxStream.
type paced struct {
	io.Reader

	read int64
	free time.Time // when the bytes that were read have passed
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if p.read+int64(n) > maxStream {
		n, err = int(maxStream-p.read), streamTooLarge
	}
	before := max(p.read, unpaced)
	p.read += int64(n)
	if slow := p.read - before; slow > 0 {
		if now := time.Now(); p.free.Before(now) {
			p.free = now
		}
		p.free = p.free.Add(time.Duration(slow) * time.Second / pace)
		time.Sleep(time.Until(p.free))
	}
	return n, err
}
