// Package unpack reads packed answers in tests.
package unpack

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Text returns the text of an answer in any coding. It fails the test if the end is missing.
func Text(t testing.TB, h http.Header, body []byte) string {
	t.Helper()
	text, err := Read(h, bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%s of %d bytes: %v", h.Get("Content-Encoding"), len(body), err)
	}
	return text
}

// Read returns the text of a body in the coding that its headers name, as far as it came.
func Read(h http.Header, body io.Reader) (string, error) {
	switch h.Get("Content-Encoding") {
	case "zstd":
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return "", err
		}
		defer z.Close()
		body = z
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return "", err
		}
		body = z
	}
	text, err := io.ReadAll(body)
	return string(text), err
}
