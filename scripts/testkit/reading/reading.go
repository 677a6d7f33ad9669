// Package reading has an artifact in memory, and requests of its readers to a host.
package reading

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/expect"
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
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// The origins of the hosts.
const (
	ContentOrigin = "http://content.test"
	AppOrigin     = "http://app.test"
)

// InFrame are the headers of a viewer's frame.
var InFrame = []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"}

// Artifact is one artifact with its stores, which do what a test says, and a host that serves it.
type Artifact struct {
	T        testing.TB
	Now      time.Time
	Claims   token.Claims
	State    readaccess.State
	Other    *artifact.Revision // any but the current one
	Files    tree.Tree
	Bodies   map[tree.Object]string
	Archive  string // of the revision, or of the export
	Exported export.Export

	Opened    atomic.Int32                   // objects
	Body      func(size int64) io.ReadCloser // nil: from Bodies
	Held      chan struct{}                  // files come when it is closed; nil: at once
	OpenErr   error
	StoreErr  error
	NoStreams bool // all are taken
	Numbers   limits.Limits

	mu      sync.Mutex
	counts  map[string]int
	streams map[rate.Stream]int64 // open streams, by streams without Until

	Tokens, Bundles, Exports *token.Codec
	Handler                  http.Handler // that is asked
	Log                      bytes.Buffer
}

// New returns an artifact with files, which are pairs of a path and a body.
func New(t testing.TB, files ...string) *Artifact {
	t.Helper()
	a := &Artifact{
		T:       t,
		Now:     time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Bodies:  map[tree.Object]string{},
		counts:  map[string]int{},
		streams: map[rate.Stream]int64{},
		Numbers: limits.Default(),
		Claims: token.Claims{
			Workspace: id.NewWorkspace(),
			Artifact:  id.NewArtifact(),
			Revision:  id.NewRevision(),
			Scripts:   true,
		},
	}
	a.Claims.Expires = a.Now.Add(time.Hour)
	a.State = readaccess.State{
		Workspace: &workspace.Workspace{ID: a.Claims.Workspace, ClaimedAt: a.Now},
		Artifact: &artifact.Artifact{
			ID:               a.Claims.Artifact,
			Owner:            a.Claims.Workspace,
			StorageWorkspace: a.Claims.Workspace,
			Status:           artifact.Live,
			ExpiresAt:        a.Now.Add(time.Hour),
			Current:          a.Claims.Revision,
		},
	}
	for i := 0; i < len(files); i += 2 {
		a.Add(files[i], files[i+1])
	}
	return a
}

// Add adds a file.
func (a *Artifact) Add(path, body string) {
	o := tree.Object{Session: "upl_1", Entry: len(a.Files)}
	a.Files = append(a.Files, tree.File{
		Path:   path,
		Size:   int64(len(body)),
		SHA256: tree.DigestOf(body),
		Object: o,
	})
	a.Bodies[o] = body
}

// Logger writes to Log.
func (a *Artifact) Logger() *slog.Logger { return slog.New(slog.NewJSONHandler(&a.Log, nil)) }

// Reader reads the artifact for a host at an origin, by new keys.
func (a *Artifact) Reader(origin string) *content.Reader {
	a.T.Helper()
	urls := addresses.At(a.T, address.Origins{API: origin, Content: origin, App: AppOrigin})
	a.Tokens = urls.ContentToken
	a.Bundles = urls.BundleToken
	a.Exports = urls.ExportToken
	clients := expect.Value(keyring.New().Content.Derive("address"))(a.T)
	clock := func() time.Time { return a.Now }
	return &content.Reader{
		Tokens:       a.Tokens,
		Bundles:      a.Bundles,
		ExportTokens: a.Exports,
		Exports:      exports{a},
		Store:        store{a},
		Bytes:        objects{a},
		Now:          clock,
		Limiter:      &rate.Limiter{Counters: a, Limits: &a.Numbers, Now: clock},
		Streams:      &rate.Streams{Store: a, Limits: &a.Numbers, Now: clock},
		Addresses:    clients,
		Limits:       &a.Numbers,
		Cache:        cache.New(a.Numbers.Cache),
	}
}

// Token returns a new token for the claims.
func (a *Artifact) Token() string {
	a.T.Helper()
	return expect.Value(a.Tokens.Mint(a.Claims))(a.T)
}

// Ask sends a request to the host. Headers are pairs of a name and a value.
func (a *Artifact) Ask(method, target string, headers ...string) *httptest.ResponseRecorder {
	a.T.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	return w
}
