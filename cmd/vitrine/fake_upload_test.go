package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

// pathOf returns the file of a PUT.
func (p *fakeServer) pathOf(r *http.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var i, j, round int
	_, err := fmt.Sscanf(r.PathValue("name")+"?"+r.URL.RawQuery, "%03d?X-Amz-Signature=s3cret%d.%d", &i, &j, &round)
	if err != nil || i >= len(p.order) || i != j || round < 1 || round > p.signed {
		p.wrong = append(p.wrong, "put: the URL was changed to "+r.URL.String())
		return ""
	}
	return p.order[i]
}

func (p *fakeServer) put(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	gate, arrived := p.gate, p.arrived
	p.mu.Unlock()
	path := p.pathOf(r)
	body, err := io.ReadAll(r.Body) // to the end, because otherwise the server would not notice a disconnect
	if err != nil {
		return // the client disconnected; the script checks what it says about that
	}
	if arrived != nil {
		arrived <- path
	}
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	if p.ended(r) {
		plannedFault{status: 403, code: "AccessDenied"}.answer("put", w)
		return
	}
	p.store(w, r, path, body)
}

// ended reports whether the URL is one of those that expire before they are used.
func (p *fakeServer) ended(r *http.Request) bool {
	var i, round int
	_, err := fmt.Sscanf(r.URL.RawQuery, "X-Amz-Signature=s3cret%d.%d", &i, &round)
	p.mu.Lock()
	defer p.mu.Unlock()
	return err == nil && round <= p.stale
}

func (p *fakeServer) store(w http.ResponseWriter, r *http.Request, path string, body []byte) {
	p.mu.Lock()
	f := p.files[path]
	p.mu.Unlock()
	if f == nil {
		p.violation("put: nobody declared %q", path)
		return
	}
	sum := sha256.Sum256(body)
	want := http.Header{
		"User-Agent":     r.Header["User-Agent"],
		"Content-Length": {fmt.Sprint(f.declared.SizeBytes)},
		"If-None-Match":  {"*"},
	}
	if f.declared.Patch == nil {
		want.Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}
	if got := r.Header; fmt.Sprint(got) != fmt.Sprint(want) || len(r.TransferEncoding) > 0 {
		p.violation("put %s: headers %v %v, want %v", path, got, r.TransferEncoding, want)
	}
	if f.declared.Patch == nil && hex.EncodeToString(sum[:]) != f.declared.SHA256 {
		p.violation("put %s: other bytes than declared", path)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.there {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	f.bytes, f.there = body, true
}

// same compares the stored files with a folder on disk.
func (p *fakeServer) same(dir *os.Root) error {
	if len(p.files) == 0 {
		return errors.New("nothing was stored")
	}
	for path, f := range p.files {
		want, err := dir.ReadFile(path)
		if err != nil || string(want) != string(f.bytes) {
			return fmt.Errorf("%s was stored with %d bytes, the folder has %d (%v)", path, len(f.bytes), len(want), err)
		}
	}
	return nil
}
