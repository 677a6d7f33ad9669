package render_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	host "vitrine/functions/render"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/render"
	"vitrine/shared/publishing/tree"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// env is a render host over fakes in this file. They hold one artifact.
type env struct {
	t        testing.TB
	handler  http.Handler
	log      bytes.Buffer
	codec    *token.Codec
	now      time.Time
	claims   token.Claims
	state    readaccess.State
	revision *artifact.Revision // any but the current one
	tree     tree.Tree
	bodies   map[tree.Object]string
	opened   atomic.Int32
	held     chan struct{} // files come when it is closed; nil: at once
	openErr  error
	storeErr error
	mu       sync.Mutex
	counts   map[string]int
	full     bool // no more streams
	numbers  limits.Limits
	app      string // origin
}

func newEnv(t testing.TB, files ...string) *env {
	t.Helper()
	e := &env{
		t:       t,
		now:     time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		bodies:  map[tree.Object]string{},
		counts:  map[string]int{},
		numbers: limits.Default(),
		claims: token.Claims{
			Workspace: id.NewWorkspace(),
			Artifact:  id.NewArtifact(),
			Revision:  id.NewRevision(),
		},
	}
	e.claims.Expires = e.now.Add(time.Hour)
	e.state = readaccess.State{
		Workspace: &workspace.Workspace{ID: e.claims.Workspace, ClaimedAt: e.now},
		Artifact: &artifact.Artifact{
			ID:               e.claims.Artifact,
			Owner:            e.claims.Workspace,
			StorageWorkspace: e.claims.Workspace,
			Status:           artifact.Live,
			ExpiresAt:        e.now.Add(time.Hour),
			Current:          e.claims.Revision,
		},
		Link: &link.Link{},
	}
	for i := 0; i < len(files); i += 2 {
		e.add(files[i], files[i+1])
	}
	e.serve("http://content.test", "http://app.test")
	return e
}

func (e *env) add(path, body string) {
	o := tree.Object{Session: "upl_1", Entry: len(e.tree)}
	e.tree = append(e.tree, tree.File{
		Path:   path,
		Size:   int64(len(body)),
		SHA256: tree.DigestOf(body),
		Object: o,
	})
	e.bodies[o] = body
}

// serve replaces the host by one with these origins.
func (e *env) serve(contentOrigin, app string) {
	e.t.Helper()
	e.app = app
	ring := keyring.New().Content
	codec, err1 := token.New(ring, token.Content, contentOrigin)
	addresses, err2 := ring.Derive("address")
	if err := errors.Join(err1, err2); err != nil {
		e.t.Fatal(err)
	}
	e.codec = codec
	clock := func() time.Time { return e.now }
	h := host.Host{
		Surface: &web.Server{
			Title:  "Vitrine pages",
			Origin: contentOrigin,
			Log:    slog.New(slog.NewJSONHandler(&e.log, nil)),
		},
		Reader: &content.Reader{
			Tokens:    codec,
			Store:     e,
			Bytes:     e,
			Now:       clock,
			Limiter:   &rate.Limiter{Counters: e, Limits: &e.numbers, Now: clock},
			Streams:   &rate.Streams{Store: e, Limits: &e.numbers, Now: clock},
			Addresses: addresses,
			Cache:     cache.New(e.numbers.Cache),
		},
		Renderer: render.New(),
		Origins:  address.Origins{Content: contentOrigin, App: app},
	}
	e.handler = h.Handler()
}

// The ports.

func (e *env) ReadState(context.Context, readaccess.Query) (readaccess.State, error) {
	return e.state, e.storeErr
}

func (e *env) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return nil, e.storeErr
}

func (e *env) Revision(context.Context, id.Artifact, id.Revision) (*artifact.Revision, error) {
	return e.revision, e.storeErr
}

func (e *env) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	return e.tree, e.storeErr
}

func (e *env) Count(_ context.Context, w rate.Window, add, limit int) (int, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	window := w.Subject + w.Start.String()
	if e.counts[window] >= limit {
		return 0, false, nil
	}
	e.counts[window] += add
	return e.counts[window], true, nil
}

func (e *env) AcquireStream(context.Context, rate.Stream, int, time.Time) ([]int, bool, error) {
	return nil, !e.full, nil
}

func (e *env) ReleaseStream(context.Context, rate.Stream) error { return nil }

func (e *env) Open(_ context.Context, _ id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error) {
	e.opened.Add(1)
	if e.held != nil {
		<-e.held
	}
	if e.openErr != nil {
		return nil, e.openErr
	}
	return io.NopCloser(strings.NewReader(e.bodies[o][offset : offset+size])), nil
}

func (e *env) OpenBundle(context.Context, artifact.BundleObject, int64, int64) (io.ReadCloser, error) {
	return nil, errors.New("no page reads a bundle")
}

func (e *env) OpenExport(context.Context, export.Object, int64, int64) (io.ReadCloser, error) {
	return nil, errors.New("no page reads an export")
}

func (e *env) token() string {
	e.t.Helper()
	text, err := e.codec.Mint(e.claims)
	if err != nil {
		e.t.Fatal(err)
	}
	return text
}

// path returns the path of a page with a new token.
func (e *env) path(file string) string {
	return strings.TrimSuffix("/r/"+e.token()+"/"+file, "/")
}

// get reads the page of a file; headers come in pairs.
func (e *env) get(file string, headers ...string) *httptest.ResponseRecorder {
	e.t.Helper()
	return e.ask("GET", e.path(file), headers...)
}

func (e *env) ask(method, target string, headers ...string) *httptest.ResponseRecorder {
	e.t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, r)
	return w
}

var frame = []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"}
