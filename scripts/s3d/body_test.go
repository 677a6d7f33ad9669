package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3err"
)

func TestABodyIsReadWholeOrRefused(t *testing.T) {
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		fails  error
	}{
		"exact":            {strings.NewReader("12345"), 5, nil},
		"empty":            {strings.NewReader(""), 0, nil},
		"end with data":    {iotest.DataErrReader(strings.NewReader("12345")), 5, nil},
		"one byte at once": {iotest.OneByteReader(strings.NewReader("12345")), 5, nil},
		"cut off":          {strings.NewReader("1234"), 5, s3err.GetAPIError(s3err.ErrIncompleteBody)},
		"cut off at once":  {strings.NewReader(""), 5, s3err.GetAPIError(s3err.ErrIncompleteBody)},
		"cut off, early":   {iotest.DataErrReader(strings.NewReader("1234")), 5, s3err.GetAPIError(s3err.ErrIncompleteBody)},
		"broken":           {iotest.ErrReader(io.ErrUnexpectedEOF), 5, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := io.ReadAll(wholeBody(c.body, &c.length))
			if !errors.Is(err, c.fails) {
				t.Errorf("error %v, want %v", err, c.fails)
			}
		})
	}
}

func TestABodyOfUnknownLengthIsLeftAlone(t *testing.T) {
	body, length := strings.NewReader("12345"), int64(5)
	if got := wholeBody(body, nil); got != body {
		t.Errorf("wrapped as %T", got)
	}
	if got := wholeBody(nil, &length); got != nil {
		t.Errorf("wrapped as %T", got)
	}
}

func TestATrailingChecksumStaysReadable(t *testing.T) {
	length := int64(6)
	body := wholeBody(trailed{strings.NewReader("12345")}, &length)
	sum, ok := body.(middlewares.ChecksumReader)
	if !ok || sum.Algorithm() != "crc32" || sum.Checksum() != "AAAA" {
		t.Fatalf("the checksum is lost: %T", body)
	}
	if _, err := io.ReadAll(body); !errors.Is(err, s3err.GetAPIError(s3err.ErrIncompleteBody)) {
		t.Errorf("a cut body was read with %v", err)
	}
}

type trailed struct{ io.Reader }

func (trailed) Algorithm() string { return "crc32" }
func (trailed) Checksum() string  { return "AAAA" }
