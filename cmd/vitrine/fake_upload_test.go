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
func (server *fakeServer) pathOf(r *http.Request) string {
	server.mu.Lock()
	defer server.mu.Unlock()
	var i, j, round int
	_, err := fmt.Sscanf(r.PathValue("name")+"?"+r.URL.RawQuery, "%03d?X-Amz-Signature=s3cret%d.%d", &i, &j, &round)
	if err != nil || i >= len(server.order) || i != j || round < 1 || round > server.signed {
		server.wrong = append(server.wrong, "put: the URL was changed to "+r.URL.String())
		return ""
	}
	return server.order[i]
}

func (server *fakeServer) put(w http.ResponseWriter, r *http.Request) {
	server.mu.Lock()
	gate, arrived := server.gate, server.arrived
	server.mu.Unlock()
	path := server.pathOf(r)
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
	if server.ended(r) {
		plannedFault{status: 403, code: "AccessDenied"}.answer("put", w)
		return
	}
	server.store(w, r, path, body)
}

// ended reports whether the URL is one of those that expire before they are used.
func (server *fakeServer) ended(r *http.Request) bool {
	var i, round int
	_, err := fmt.Sscanf(r.URL.RawQuery, "X-Amz-Signature=s3cret%d.%d", &i, &round)
	server.mu.Lock()
	defer server.mu.Unlock()
	return err == nil && round <= server.stale
}

func (server *fakeServer) store(w http.ResponseWriter, r *http.Request, path string, body []byte) {
	server.mu.Lock()
	f := server.files[path]
	server.mu.Unlock()
	if f == nil {
		server.violation("put: nobody declared %q", path)
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
		server.violation("put %s: headers %v %v, want %v", path, got, r.TransferEncoding, want)
	}
	if f.declared.Patch == nil && hex.EncodeToString(sum[:]) != f.declared.SHA256 {
		server.violation("put %s: other bytes than declared", path)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if f.there {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	f.bytes, f.there = body, true
}

// same compares the stored files with a folder on disk.
func (server *fakeServer) same(dir *os.Root) error {
	if len(server.files) == 0 {
		return errors.New("nothing was stored")
	}
	for path, f := range server.files {
		want, err := dir.ReadFile(path)
		if err != nil || string(want) != string(f.bytes) {
			return fmt.Errorf("%s was stored with %d bytes, the folder has %d (%v)", path, len(f.bytes), len(want), err)
		}
	}
	return nil
}
