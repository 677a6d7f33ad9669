package main

import (
	"errors"
	"io"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3err"
)

// maxDrain is more than the largest file of the product (180 MiB), so that every
// refusal of a real file arrives.
const maxDrain = 192 << 20

// drainIdle is how long a client may pause while its refused body is read.
const drainIdle = 2 * time.Second

// drain reads what is left of a refused upload: a client that still sends when
// the connection closes sees a reset instead of the refusal.
func drain(c fiber.Ctx) error {
	err := c.Next()
	body := c.RequestCtx().RequestBodyStream()
	if body == nil || c.Request().Header.ContentLength() <= 0 {
		return err // a chunked body cannot be read twice
	}
	conn := c.RequestCtx().Conn()
	defer conn.SetReadDeadline(time.Time{})
	// What cannot be read is left to versitygw, which then closes the connection.
	_, _ = io.CopyN(io.Discard, readerFunc(func(p []byte) (int, error) {
		if err := conn.SetReadDeadline(time.Now().Add(drainIdle)); err != nil {
			return 0, err
		}
		return body.Read(p)
	}), maxDrain)
	return err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// wholeBody fails with s3err.ErrIncompleteBody where body ends before length bytes. It
// keeps the trailing checksum of a body that has one.
func wholeBody(body io.Reader, length *int64) io.Reader {
	if body == nil || length == nil {
		return body
	}
	whole := &lengthReader{body: body, left: *length}
	if sum, ok := body.(middlewares.ChecksumReader); ok {
		return trailedReader{ChecksumReader: sum, whole: whole}
	}
	return whole
}

// lengthReader turns an end that comes too early into an error.
type lengthReader struct {
	body io.Reader
	left int64
}

func (r *lengthReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.left -= int64(n)
	if errors.Is(err, io.EOF) && r.left > 0 {
		err = s3err.GetAPIError(s3err.ErrIncompleteBody)
	}
	return n, err
}

// trailedReader reads through whole and takes the checksum from the body.
type trailedReader struct {
	middlewares.ChecksumReader
	whole *lengthReader
}

func (r trailedReader) Read(p []byte) (int, error) { return r.whole.Read(p) }
