package main

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"vitrine/shared/platform/contract"
)

// bundleState is the zip that the fake server has of every revision.
type bundleState struct {
	status  string
	pending int // views before the status
	body    string
	tag     string
	cuts    []int   // bytes of the next answers before the connection breaks
	digest  *string // Repr-Digest, nil for the right one
	unsized bool    // the view does not say the size
}

// bundleOf returns the bundle of a view.
func (server *fakeServer) bundleOf(s *snapshot) contract.Bundle {
	b := &server.bundle
	if b.pending > 0 {
		b.pending--
		return contract.Bundle{Status: "pending", RetryAfterSeconds: 7}
	}
	if b.status != "ready" {
		return contract.Bundle{Status: b.status, RetryAfterSeconds: map[string]int{"pending": 30}[b.status]}
	}
	at := contract.At(epoch)
	out := contract.Bundle{
		Status:      "ready",
		URL:         server.content.URL + "/b/s3cret-" + string(s.id),
		GeneratedAt: &at,
	}
	if !b.unsized {
		out.SizeBytes = int64(len(b.body))
	}
	return out
}

func (server *fakeServer) serveBundle(w http.ResponseWriter, r *http.Request) {
	server.mu.Lock()
	b := server.bundle
	if len(b.cuts) > 0 {
		server.bundle.cuts = b.cuts[1:]
	}
	server.mu.Unlock()
	if r.Header.Get("Accept") != "*/*" || (r.Header.Get("Range") == "") != (r.Header.Get("If-Range") == "") {
		server.violation("bundle: %v", r.Header)
	}
	sum := sha256.Sum256([]byte(b.body))
	digest := "sha-512=:AAAA:, sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	if b.digest != nil {
		digest = *b.digest
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("ETag", b.tag)
	if digest != "" {
		w.Header().Set("Repr-Digest", digest)
	}
	switch {
	case len(b.cuts) > 0 && b.cuts[0] < 0:
		notFound(w)
		return
	case len(b.cuts) > 0:
		w = &cutting{w, b.cuts[0]}
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(b.body))
}

// cutting breaks the connection after so many bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 || err != nil {
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// ReadFrom keeps http.ServeContent from going around Write.
func (c *cutting) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

// tellBundle handles the commands of tellPeer about zips.
func (server *fakeServer) tellBundle(ts *testscript.TestScript, args []string) {
	b := &server.bundle
	switch args[0] {
	case "bundle":
		if b.status = args[1]; len(args) > 2 {
			b.pending = number(ts, args[2])
		}
	case "zip":
		seed := strings.Join(args[2:], "") + "0123456789abcde\n"
		n := number(ts, args[1])
		b.body, b.tag = strings.Repeat(seed, n/len(seed)+1)[:n], `"`+sum(seed)[:8]+`"`
		b.unsized = len(args) > 2
	case "cut":
		for _, text := range args[1:] {
			b.cuts = append(b.cuts, number(ts, text))
		}
	case "zipped":
		if got := ts.ReadFile(args[1]); got != b.body {
			ts.Fatalf("%s has %d bytes, the zip %d, or others", args[1], len(got), len(b.body))
		}
	case "digest":
		if b.digest = &args[1]; args[1] == "right" {
			b.digest = nil
		}
	}
}
