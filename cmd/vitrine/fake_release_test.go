package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"runtime"

	"github.com/rogpeppe/go-internal/testscript"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// releaseState is the release of the CLI that the fake server has.
type releaseState struct {
	latest string
	files  map[string][]byte // by name
}

// versions answers which versions fit.
func (server *fakeServer) versions(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(contract.CLIVersion{Latest: server.release.latest, MinSupported: "0.1.0"})
}

// serveRelease leads to a file of the release, which lies elsewhere.
func (server *fakeServer) serveRelease(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("version") != server.release.latest {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, server.upload.URL+"/released/"+r.PathValue("name")+"?X-Amz-Signature=s3cret", http.StatusFound)
}

func (server *fakeServer) serveReleased(w http.ResponseWriter, r *http.Request) {
	if body, ok := server.release.files[r.PathValue("name")]; ok {
		w.Write(body)
		return
	}
	http.NotFound(w, r)
}

func (server *fakeServer) serveSkill(w http.ResponseWriter, _ *http.Request) {
	io.WriteString(w, server.skill)
}

// tellRelease handles release VERSION [PROGRAM [TEXT]]: the server has this version, whose archive holds a program. TEXT
// stands where the list of checksums would have that of the archive.
func (server *fakeServer) tellRelease(ts *testscript.TestScript, args []string) {
	server.hosts["app_url"] = server.content.URL
	server.release = releaseState{latest: args[1], files: map[string][]byte{}}
	if len(args) < 3 {
		return
	}
	var archive bytes.Buffer
	packed := gzip.NewWriter(&archive)
	files := tar.NewWriter(packed)
	for name, body := range map[string]string{"README.md": "read me\n", "vitrine": ts.ReadFile(args[2])} {
		ts.Check(files.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(body))}))
		_, err := io.WriteString(files, body)
		ts.Check(err)
	}
	ts.Check(files.Close())
	ts.Check(packed.Close())
	name, digest := release.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}.Archive(args[1]), sum(archive.String())
	if len(args) > 3 {
		digest = args[3]
	}
	server.release.files[name] = archive.Bytes()
	server.release.files[release.Checksums] = []byte(digest + "  " + name + "\n")
}
