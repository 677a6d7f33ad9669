// Package install_test installs the CLI from a deployment, as people do.
package install_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/internal/release/archive"
	"vitrine/scripts/internal/release/bucket"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

var (
	here = release.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	// file is the archive that this machine installs.
	file = release.File{Version: contract.Release, Name: here.Archive(contract.Release)}
)

// env is a deployment that offers the CLI for this machine, behind a front that tests make fail.
type env struct {
	*harness.Env
	front    *httptest.Server
	requests atomic.Int64 // that reached the front
	cut      atomic.Bool  // the front breaks off while it sends an archive
}

func newEnv(t *testing.T, change ...func(*stack.Options)) *env {
	t.Helper()
	e := &env{Env: harness.NewEnv(t, change...)}
	e.restore(t)
	app := expect.Value(url.Parse(e.Origins.App))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(app); r.Out.Host = app.Host }}
	e.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.requests.Add(1)
		if e.cut.Load() && strings.HasSuffix(r.URL.Path, ".tar.gz") {
			w.Header().Set("Content-Length", "1000000")
			io.WriteString(w, "half of it")
			return // net/http closes the connection
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(e.front.Close)
	return e
}

// script returns install.sh as the deployment serves it; it downloads through the front.
func (e *env) script(t *testing.T) string {
	t.Helper()
	answer := e.get(t, e.Origins.App+"/install.sh")
	text := expect.Body(t, answer)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Fatalf("%s %v", answer.Status, answer.Header)
	}
	expect.Has(t, "the script", text, "app='"+e.Origins.App+"'\n", "api='"+e.Origins.API+"'\n")
	return strings.Replace(text, e.Origins.App, e.front.URL, 1)
}

// get sends a request that follows no redirect.
func (e *env) get(t *testing.T, at string) *http.Response {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil))(t)
	answer := expect.Value(client.Do(request))(t)
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// restore stores the release as it is.
func (e *env) restore(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	expect.OK(t, archive.Make(t.Context(), folder, contract.Release, []release.Platform{here}, t.Output()))
	expect.OK(t, bucket.Local(e.Engines).Put(t.Context(), folder, contract.Release))
	e.cut.Store(false)
}

// remove removes an object of the release.
func (e *env) remove(t *testing.T, f release.File) {
	t.Helper()
	of, key := bucket.Local(e.Engines), f.Path()
	expect.Value(of.Client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &of.Name, Key: &key}))(t)
}

// put replaces an object of the release.
func (e *env) put(t *testing.T, f release.File, text string) {
	t.Helper()
	of, key := bucket.Local(e.Engines), f.Path()
	expect.Value(of.Client.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: &of.Name, Key: &key, Body: strings.NewReader(text)}))(t)
}

// person is a home folder and its owner, who may do nothing special.
type person struct {
	root string // that the paths are in; empty: that of this machine
	uid  uint32
	home string
	path string // PATH
	vars []string
}

// nobody is the user of tests that run as root, who could write anywhere.
const nobody = 65534

func newPerson(t *testing.T) *person {
	t.Helper()
	// Not below t.TempDir, which only the user of the test can enter.
	home := expect.Value(os.MkdirTemp("", "vitrine-install-"))(t)
	t.Cleanup(func() { os.RemoveAll(home) })
	p := &person{uid: nobody, home: home, path: "/usr/bin:/bin"}
	if os.Getuid() == 0 {
		expect.OK(t, os.Chown(home, nobody, nobody))
	}
	return p
}

// said is what a program printed, and how it ended.
type said struct {
	out, err string
	code     int
}

// run runs a program with a text on its standard input.
func (p *person) run(t *testing.T, input string, command ...string) said {
	t.Helper()
	program := exec.CommandContext(t.Context(), command[0], command[1:]...)
	program.Dir = p.home
	program.Env = append([]string{"HOME=" + p.home, "PATH=" + p.path, "TMPDIR=" + p.home}, p.vars...)
	program.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	program.Stdout, program.Stderr = &stdout, &stderr
	if os.Getuid() == 0 {
		program.SysProcAttr = &syscall.SysProcAttr{
			Chroot:     p.root,
			Credential: &syscall.Credential{Uid: p.uid, Gid: p.uid},
		}
	}
	err := program.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return said{stdout.String(), stderr.String(), program.ProcessState.ExitCode()}
}

func (p *person) bin() string { return filepath.Join(p.home, ".local", "bin") }

// installed returns what the installed program says of its version; empty: there is none.
func (p *person) installed(t *testing.T) string {
	t.Helper()
	program := filepath.Join(p.bin(), "vitrine")
	if _, err := os.Stat(p.root + program); err != nil {
		return ""
	}
	return strings.TrimSpace(p.run(t, "", program, "version").out)
}

// wantClean checks that a person has the files below the home folder and no others.
func (p *person) wantClean(t *testing.T, want ...string) {
	t.Helper()
	var found []string
	home := p.root + p.home
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, strings.TrimPrefix(path, home+"/"))
		}
		return err
	})
	if expect.OK(t, err); strings.Join(found, " ") != strings.Join(want, " ") {
		t.Errorf("there are %q, want %q", found, want)
	}
}
