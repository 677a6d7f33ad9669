package content_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
)

// gallery is a page with pictures of these sizes in bytes, all different.
func gallery(t testing.TB, sizes ...int) *env {
	t.Helper()
	s, page := newEnv(t), "<!doctype html><title>Report</title>"
	for n, size := range sizes {
		var picture bytes.Buffer
		expect.OK(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, n%100+1, n/100+1))))
		name := fmt.Sprintf("p%04d.png", n)
		padding := strings.Repeat("\x00", max(0, size-picture.Len())) // which browsers skip
		s.Add(name, picture.String()+padding)
		page += `<img src="` + name + `">`
	}
	s.Add("index.html", page)
	s.State.Artifact.FileCount = len(s.Files)
	return s
}

// serveTLS serves the host by HTTP/2, as gateways do, and returns the URL of a file.
func (e *env) serveTLS(path string) string {
	e.T.Helper()
	server := httptest.NewUnstartedServer(e.Handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a browser's first connection ends at the certificate
	server.StartTLS()
	e.T.Cleanup(server.Close)
	return server.URL + "/v/" + e.Token() + "/" + path
}

// TestAPageOfManyPicturesOpensWholly opens 300 pictures, 40 of which hold a stream while they are sent, in a browser
// that asks for many of them at once. The tier allows a single read.
func TestAPageOfManyPicturesOpensWholly(t *testing.T) {
	sizes := make([]int, 300)
	for n := range 40 {
		sizes[7*n] = limits.StreamsAbove + 1
	}
	s := gallery(t, sizes...)
	limitReads(s, 1)
	p := browser.Open(t)
	p.TrustAll()
	p.Go(s.serveTLS("index.html"))
	p.Wait(`document.readyState === "complete"`)
	if n := browser.Eval[int](&p.Document, `[...document.images].filter(i => i.naturalWidth).length`); n != len(sizes) {
		t.Errorf("%d of %d pictures are shown", n, len(sizes))
	}
	const protocols = `[...new Set(performance.getEntriesByType("resource").map(e => e.nextHopProtocol))].join()`
	if got := browser.Eval[string](&p.Document, protocols); got != "h2" {
		t.Errorf("they come by %s, want h2", got)
	}
	if n := s.OpenStreams(); n != 0 {
		t.Errorf("%d streams are left open", n)
	}
	p.Clean()
}
