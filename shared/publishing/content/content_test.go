package content

import (
	"context"
	"io"
	"maps"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/fake"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fakeStore has one artifact with a current revision, and its link.
type fakeStore struct {
	workspace workspace.Workspace
	artifact  artifact.Artifact
	link      link.Link
	older     artifact.Revision // any revision but the current one
	tree      tree.Tree
	err       error // of the state
	treeErr   error
	states    int
	trees     int
	revisions int
}

func (f *fakeStore) ReadState(context.Context, readaccess.Query) (readaccess.State, error) {
	f.states++
	return readaccess.State{Workspace: &f.workspace, Artifact: &f.artifact, Link: &f.link}, f.err
}

func (f *fakeStore) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return nil, nil
}

func (f *fakeStore) Revision(context.Context, id.Artifact, id.Revision) (*artifact.Revision, error) {
	f.revisions++
	return &f.older, f.err
}

func (f *fakeStore) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	f.trees++
	return f.tree, f.treeErr
}

// fakeStreams count the streams that are held, by kind.
type fakeStreams struct {
	mu   sync.Mutex
	full bool
	held map[string]int
}

func (f *fakeStreams) AcquireStream(_ context.Context, s rate.Stream, _ int, _ time.Time) ([]int, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return nil, false, nil
	}
	f.held[s.Kind]++
	return nil, true, nil
}

func (f *fakeStreams) ReleaseStream(_ context.Context, s rate.Stream) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held[s.Kind]--; f.held[s.Kind] == 0 {
		delete(f.held, s.Kind)
	}
	return nil
}

// fakeBytes has one object and records what is read of it.
type fakeBytes struct {
	mu           sync.Mutex
	body         func() io.Reader // of every part
	err          error
	home         id.Workspace
	object       tree.Object
	bundle       artifact.BundleObject
	exported     export.Object
	offset, size int64
	opened       int
	closed       int
}

func (f *fakeBytes) Open(
	_ context.Context, home id.Workspace, o tree.Object, offset, size int64,
) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	f.home, f.object = home, o
	f.offset, f.size = offset, size
	if f.err != nil {
		return nil, f.err
	}
	return fakeBody{f.body(), f}, nil
}

// OpenBundle opens the archive in place of the object.
func (f *fakeBytes) OpenBundle(ctx context.Context, o artifact.BundleObject, offset, size int64) (io.ReadCloser, error) {
	f.bundle = o
	return f.Open(ctx, o.Home, tree.Object{}, offset, size)
}

// OpenExport opens the archive of an export in place of the object.
func (f *fakeBytes) OpenExport(ctx context.Context, o export.Object, offset, size int64) (io.ReadCloser, error) {
	f.exported = o
	return f.Open(ctx, o.Workspace, tree.Object{}, offset, size)
}

type fakeBody struct {
	io.Reader
	from *fakeBytes
}

func (b fakeBody) Close() error {
	b.from.mu.Lock()
	defer b.from.mu.Unlock()
	b.from.closed++
	return nil
}

// text is the file of the fakes.
const text = "content"

type env struct {
	*Reader
	store    *fakeStore
	counters *fake.Counters
	streams  *fakeStreams
	bytes    *fakeBytes
	claims   token.Claims
}

func newEnv(t testing.TB) *env {
	t.Helper()
	urls := addresses.New(t)
	peppers, err := keyring.New().Pepper.Derive("address")
	expect.OK(t, err)
	claims := token.Claims{
		Workspace: id.NewWorkspace(),
		Artifact:  id.NewArtifact(),
		Revision:  id.NewRevision(),
		Link:      id.NewPublic(),
		Expires:   now.Add(time.Hour),
	}
	e := &env{
		store: &fakeStore{
			workspace: workspace.Workspace{ID: claims.Workspace},
			artifact: artifact.Artifact{
				ID:               claims.Artifact,
				Owner:            claims.Workspace,
				StorageWorkspace: "home",
				Status:           artifact.Live,
				ExpiresAt:        now.Add(time.Hour),
				Current:          claims.Revision,
			},
			link: link.Link{Public: claims.Link, Artifact: claims.Artifact},
			tree: tree.Tree{{
				Path:   "a/b.txt",
				Size:   int64(len(text)),
				SHA256: tree.DigestOf(text),
				Object: tree.Object{Session: "ups", Entry: 3},
			}},
		},
		counters: &fake.Counters{},
		streams:  &fakeStreams{held: map[string]int{}},
		bytes:    &fakeBytes{body: func() io.Reader { return strings.NewReader(text) }},
		claims:   claims,
	}
	clock, numbers := func() time.Time { return now }, limits.Default()
	e.Reader = &Reader{
		Tokens:       urls.ContentToken,
		Bundles:      urls.BundleToken,
		ExportTokens: urls.ExportToken,
		Exports:      &fakeExports{},
		Store:        e.store,
		Bytes:        e.bytes,
		Limiter:      &rate.Limiter{Counters: e.counters, Limits: &numbers, Now: clock},
		Streams:      &rate.Streams{Store: e.streams, Limits: &numbers, Now: clock},
		Addresses:    peppers,
		Limits:       &numbers,
		Cache:        cache.New(numbers.Cache),
		Now:          clock,
	}
	return e
}

// find mints a token of the claims and finds a path with it.
func (e *env) find(t *testing.T, path string) (File, error) {
	t.Helper()
	text, err := e.Tokens.Mint(e.claims)
	expect.OK(t, err)
	return e.Find(t.Context(), text, path)
}

func TestAURLOpensAFileOfItsRevision(t *testing.T) {
	e := newEnv(t)
	f, err := e.find(t, "a/b.txt")
	expect.Code(t, err, "")
	if f.Path != "a/b.txt" || f.Workspace != e.claims.Workspace {
		t.Errorf("%+v, want a/b.txt of the workspace", f)
	}
	if f.Artifact != e.claims.Artifact || f.Revision != e.claims.Revision {
		t.Errorf("%+v, want the token's artifact and revision", f)
	}
	e.Cache = nil
	_, err = e.Open(t.Context(), f, netip.Addr{}, 2, 5)
	expect.Code(t, err, "")
	if e.bytes.home != "home" || e.bytes.object != f.Object || e.bytes.offset != 2 || e.bytes.size != 5 {
		t.Errorf("%+v, want five bytes of the file", e.bytes)
	}
}

func TestAURLThatIsNoneCostsNoRead(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*env)
		path string
	}{
		"an expired token":        {func(e *env) { e.claims.Expires = now }, "a/b.txt"},
		"a path out of a folder":  {func(*env) {}, "../a/b.txt"},
		"a path with a backslash": {func(*env) {}, `a\b.txt`},
		"a path of two slashes":   {func(*env) {}, "a//"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(e)
			_, err := e.find(t, c.path)
			expect.Code(t, err, fault.NotFound)
			if e.store.states+e.store.trees+len(e.counters.Counted()) > 0 {
				t.Errorf("%d states and %d trees are read, %v counted", e.store.states, e.store.trees, e.counters.Counted())
			}
		})
	}
	e := newEnv(t)
	_, err := e.Find(t.Context(), strings.Repeat("A", 95), "a/b.txt")
	expect.Code(t, err, fault.NotFound)
}

func TestT57AReadIsCountedUnlessItsLinkIsRefused(t *testing.T) {
	unavailable := fault.NewCode(fault.DatabaseUnavailable)
	for name, c := range map[string]struct {
		set     func(*env)
		path    string
		counted int // against what all readers of the artifact share
		refused int // against the refused reader
		want    fault.Code
	}{
		"a file is counted":         {func(*env) {}, "a/b.txt", 1, 0, ""},
		"a missing path is counted": {func(*env) {}, "c.txt", 1, 0, fault.NotFound},
		"a deleted artifact is counted": {
			func(e *env) { e.store.artifact.Status = artifact.Deleted }, "a/b.txt", 1, 0, fault.NotFound,
		},
		"a locked workspace is counted": {
			func(e *env) { e.store.workspace.Lock = "lkd" }, "a/b.txt", 1, 0, fault.NotFound,
		},
		"a revoked link is given back": {
			func(e *env) { e.store.link.RevokedAt = now }, "a/b.txt", 0, 1, fault.NotFound,
		},
		"locked links are given back": {
			func(e *env) { e.store.artifact.LinksLockedAt = now }, "a/b.txt", 0, 1, fault.NotFound,
		},
		"an older revision is counted":               {olderRevision(artifact.Published), "a/b.txt", 1, 0, ""},
		"a revision without its bytes is given back": {olderRevision(artifact.Retained), "a/b.txt", 0, 1, fault.NotFound},
		"an unreachable store is counted": {
			func(e *env) { e.store.err = unavailable }, "a/b.txt", 1, 0, fault.DatabaseUnavailable,
		},
		"an unreadable tree is counted": {
			func(e *env) { e.store.treeErr = unavailable }, "a/b.txt", 1, 0, fault.DatabaseUnavailable,
		},
		"the limit refuses": {
			func(e *env) { e.counters.Full = true }, "a/b.txt", 0, 0, fault.RateLimitedArtifact,
		},
		"the limit comes before the path": {
			func(e *env) { e.counters.Full = true }, "c.txt", 0, 0, fault.RateLimitedArtifact,
		},
		"the state comes before the limit": {
			func(e *env) { e.counters.Full, e.store.link.RevokedAt = true, now }, "a/b.txt", 0, 0, fault.NotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(e)
			_, err := e.find(t, c.path)
			expect.Code(t, err, c.want)
			e.counters.WantSpent(t, e.Limiter, e.store.artifact.ID, c.counted, c.refused)
		})
	}
}

// olderRevision makes the revision of the token one that is not the current one.
func olderRevision(status artifact.RevisionStatus) func(*env) {
	return func(e *env) {
		e.store.artifact.Current = id.NewRevision()
		e.store.older = artifact.Revision{Status: status}
	}
}

func TestATreeIsReadOnceAndItsStateEachTime(t *testing.T) {
	e := newEnv(t)
	for range 3 {
		_, err := e.find(t, "a/b.txt")
		expect.Code(t, err, "")
	}
	if e.store.trees != 1 || e.store.states != 3 {
		t.Errorf("%d trees and %d states are read", e.store.trees, e.store.states)
	}
	e.store.artifact.Status = artifact.Deleted
	_, err := e.find(t, "a/b.txt")
	expect.Code(t, err, fault.NotFound)
}

func TestATreeThatIsNotThereIsReadAgain(t *testing.T) {
	e := newEnv(t)
	files := e.store.tree
	e.store.tree = nil
	_, err := e.find(t, "a/b.txt")
	expect.Code(t, err, fault.NotFound)
	e.store.tree = files
	_, err = e.find(t, "a/b.txt")
	expect.Code(t, err, "")
}

func TestAClaimLiftsNoIndexAndLetsNoOldTokenRunScripts(t *testing.T) {
	type flags struct{ noIndex, scripts bool }
	for name, c := range map[string]struct {
		token   flags
		claimed bool
		policy  limits.Scripts // of unclaimed workspaces
		want    flags
	}{
		"an unclaimed token, unclaimed":             {flags{true, false}, false, limits.ScriptsAsk, flags{true, false}},
		"an unclaimed token, claimed":               {flags{true, false}, true, limits.ScriptsAsk, flags{false, false}},
		"a claimed token, claimed":                  {flags{false, true}, true, limits.ScriptsOff, flags{false, true}},
		"a token of a reader who asked, unclaimed":  {flags{true, true}, false, limits.ScriptsAsk, flags{true, true}},
		"the same where scripts are off since then": {flags{true, true}, false, limits.ScriptsOff, flags{true, false}},
		"a token of both, claimed":                  {flags{true, true}, true, limits.ScriptsAsk, flags{false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			numbers := limits.Default()
			policy := numbers.Tiers[limits.Ephemeral]
			policy.Scripts = c.policy
			numbers.Tiers[limits.Ephemeral] = policy
			e.Reader.Limits = &numbers
			e.claims.NoIndex, e.claims.Scripts = c.token.noIndex, c.token.scripts
			if c.claimed {
				e.store.workspace.ClaimedAt = now
			}
			f, err := e.find(t, "a/b.txt")
			expect.Code(t, err, "")
			if got := (flags{f.NoIndex, f.Scripts}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// large is a file that is not kept in memory.
var large = File{File: tree.File{Size: limits.SchemaFile}, Artifact: "art"}

func TestALargeBodyHoldsAStreamUntilItIsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		size int64
		held map[string]int
	}{
		"a small one holds none":    {limits.StreamsAbove, map[string]int{}},
		"a larger one holds two":    {limits.StreamsAbove + 1, map[string]int{"address-medium": 1, "artifact-medium": 1}},
		"one of 8 MB holds the two": {limits.LargeStreamsAbove, map[string]int{"address-medium": 1, "artifact-medium": 1}},
		"a large one holds others":  {limits.LargeStreamsAbove + 1, map[string]int{"address": 1, "artifact": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			body, err := e.Open(t.Context(), large, netip.MustParseAddr("192.0.2.1"), 0, c.size)
			expect.Code(t, err, "")
			if !maps.Equal(e.streams.held, c.held) {
				t.Errorf("%v are held", e.streams.held)
			}
			for range 2 {
				if err := body.Close(); err != nil {
					t.Error(err)
				}
			}
			if len(e.streams.held) > 0 || e.bytes.closed == 0 {
				t.Errorf("%v are held, closed %d times", e.streams.held, e.bytes.closed)
			}
		})
	}
}

func TestARefusedBodyHoldsNoStreamAndNoObject(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*env)
		want fault.Code
	}{
		"too many streams":       {func(e *env) { e.streams.full = true }, fault.RateLimitedArtifact},
		"an object that is gone": {func(e *env) { e.bytes.err = fault.New(fault.NotFound, "gone") }, fault.NotFound},
		"an unreachable store": {
			func(e *env) { e.bytes.err = fault.NewCode(fault.StorageUnavailable) }, fault.StorageUnavailable,
		},
		"both": {func(e *env) {
			e.streams.full, e.bytes.err = true, fault.NewCode(fault.StorageUnavailable)
		}, fault.RateLimitedArtifact},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(e)
			_, err := e.Open(t.Context(), large, netip.MustParseAddr("192.0.2.1"), 0, limits.StreamsAbove+1)
			expect.Code(t, err, c.want)
			if len(e.streams.held) > 0 {
				t.Errorf("%v are held", e.streams.held)
			}
			if opened := e.bytes.err == nil; opened != (e.bytes.closed == 1) {
				t.Errorf("closed %d times", e.bytes.closed)
			}
		})
	}
}
