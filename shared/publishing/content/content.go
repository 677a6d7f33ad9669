// Package content opens single files of a revision for readers with a signed content token.
package content

import (
	"cmp"
	"context"
	"io"
	"net/netip"
	"strings"
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// Store reads trees and the state that decides about a read.
type Store interface {
	readaccess.Store
	// Tree reads the files of a revision, nil if there is none. An eventually consistent read will do, because trees are
	// immutable. If it finds none, a strong read follows.
	Tree(ctx context.Context, a id.Artifact, r id.Revision) (tree.Tree, error)
}

// Bytes reads from the object store.
type Bytes interface {
	// Open reads size bytes of an object from an offset. A missing object is not_found, an unreachable store
	// storage_unavailable. The reader fails with io.ErrUnexpectedEOF if the bytes end early.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
	// OpenBundle is Open for the archive of a revision.
	OpenBundle(ctx context.Context, o artifact.BundleObject, offset, size int64) (io.ReadCloser, error)
	// OpenExport is Open for an archive of an export.
	OpenExport(ctx context.Context, o export.Object, offset, size int64) (io.ReadCloser, error)
}

// Reader opens files.
type Reader struct {
	Tokens  *token.Codec
	Bundles *token.Codec // tokens of bundles
	// ExportTokens opens tokens of archives of exports.
	ExportTokens *token.Codec
	Exports      Exports
	Store        Store
	Bytes        Bytes
	Limiter      *rate.Limiter
	Streams      *rate.Streams
	// Addresses hashes the addresses of clients, because counters must not store them.
	Addresses keyring.Derived
	Limits    *limits.Limits
	// Cache keeps trees and the bytes of small files, which never change. The state is read for every file.
	Cache *cache.Cache
	Now   func() time.Time
}

// File is a file that may be read now.
type File struct {
	tree.File
	Workspace id.Workspace // that owns it now
	Artifact  id.Artifact
	Revision  id.Revision
	// NoIndex and Scripts depend on the workspace that owns the file now. A claim lifts NoIndex of older tokens. It does
	// not let their scripts run, because that takes a token that says so.
	NoIndex bool
	Scripts bool // the host also requires a viewer frame
	// MaxAge is how long a browser may show the file again without asking, in whole seconds; zero: not at all.
	MaxAge time.Duration

	// Absent means that the file is the page of the revision for paths without a file.
	Absent bool
	// Bundle means that the file is the archive of the revision or of an export.
	Bundle bool

	home    id.Workspace
	archive export.Object // of an export
}

// Find checks a token and finds the file at a path. Refusals in order: Refused for the token, database_unavailable if
// the state cannot be read, Refused for the state, rate_limited_artifact, not_found for the path, which is a Missing.
func (r *Reader) Find(ctx context.Context, text, path string) (File, error) {
	return r.find(ctx, text, path, func(_ artifact.Revision, t tree.Tree) (tree.File, error) {
		f, ok := t.Find(path)
		if !ok {
			return f, missing(t, path)
		}
		return f, nil
	})
}

// find is Find with another choice among the files. A path that no file can have is not_found before any of them.
func (r *Reader) find(
	ctx context.Context, text, path string, choose func(artifact.Revision, tree.Tree) (tree.File, error),
) (File, error) {
	claims, err := r.Tokens.Parse(text, r.Now())
	if err != nil {
		return File{}, Refused{}
	}
	if folder := strings.TrimSuffix(path, "/"); folder != "" && tree.CheckStoredPath(folder) != nil {
		return File{}, readaccess.NotFound()
	}
	query := readaccess.QueryOf(claims)
	state, shown, files, err := r.load(ctx, query, claims)
	if err = cmp.Or(err, files.err); err != nil {
		return File{}, err
	}
	f, err := choose(shown, files.tree)
	if err != nil {
		return File{}, err
	}
	claimed := !state.Workspace.ClaimedAt.IsZero()
	return File{
		File:      f,
		Workspace: state.Workspace.ID,
		Artifact:  claims.Artifact,
		Revision:  claims.Revision,
		home:      state.Artifact.StorageWorkspace,
		NoIndex:   claims.NoIndex && !claimed,
		Scripts:   claims.Scripts && r.Limits.Tiers[state.Workspace.Tier()].Scripts.Run(true),
		MaxAge:    r.maxAge(claims, shown, f.Path),
	}, nil
}

// maxAge returns how long a browser may show a file again without asking. It is zero for HTML and the entrypoint,
// because the policy of HTML depends on the frame. It is zero for all that a link opened, because links can be revoked.
// maxBrowserCache is how long a browser may show a file without asking again.
const maxBrowserCache = time.Minute

func (r *Reader) maxAge(c token.Claims, shown artifact.Revision, path string) time.Duration {
	if c.Link != "" || shown.Entrypoint == "" || path == shown.Entrypoint || media.IsHTML(path) {
		return 0
	}
	left := c.Expires.Sub(r.Now()).Truncate(time.Second)
	return max(0, min(left, maxBrowserCache))
}

// load reads the state, the tree and the limit of reads at once. It gives a refused read back to the limit if others
// may read the artifact, so that refused reads do not use up theirs.
func (r *Reader) load(
	ctx context.Context, q readaccess.Query, claims token.Claims,
) (readaccess.State, artifact.Revision, treeResult, error) {
	limited := r.Limiter.Begin(ctx, claims.Artifact, q.Holder("file", claims.Revision))
	files := async.Go(func() (treeResult, error) { return r.tree(ctx, claims), nil })
	state, err := readaccess.Read(ctx, r.Store, q)
	read := limited()
	got, failed := files.Wait()
	got.err = cmp.Or(got.err, failed)
	var shown artifact.Revision
	if err == nil {
		shown, err = r.checkAccess(ctx, state, q, claims.Revision)
	}
	if err == nil {
		return state, shown, got, r.Limiter.Confirm(ctx, read, state.Workspace.Tier(), shown.FileCount).Refusal
	}
	if fault.CodeOf(err) == fault.NotFound {
		if err = error(Refused{}); state.ArtifactAllows(q, r.Now()) {
			r.Limiter.GiveBack(ctx, read)
		}
	}
	return state, shown, got, err
}

// checkAccess returns the revision to show. It refuses a read that the state does not allow, and one of a revision that
// is not published.
func (r *Reader) checkAccess(
	ctx context.Context, s readaccess.State, q readaccess.Query, named id.Revision,
) (artifact.Revision, error) {
	if !s.Allows(q, r.Now()) {
		return artifact.Revision{}, readaccess.NotFound()
	}
	return readaccess.PublishedRevision(ctx, r.Store, s.Artifact, named)
}

// Open reads size bytes of a found file from an offset, for a client at an address. A file up to maxCachedFile
// comes from memory. If it is not there, it is read and checked as a whole. A part above limits.StreamsAbove holds a
// stream until it is closed. Refusals: rate_limited_artifact if too many streams are open, not_found for an object that
// was deleted after Find and is not in memory, and storage_unavailable for one that cannot be read or is damaged.
func (r *Reader) Open(ctx context.Context, f File, from netip.Addr, offset, size int64) (io.ReadCloser, error) {
	if r.cacheable(f) {
		return r.openCached(ctx, f, offset, size)
	}
	if size <= limits.StreamsAbove {
		return r.read(ctx, f, offset, size)
	}
	ctx, cancel := context.WithCancel(ctx)
	opened := async.Go(func() (io.ReadCloser, error) { return r.read(ctx, f, offset, size) })
	release, err := r.Streams.Acquire(ctx, address.Subject(from, r.Addresses), f.Artifact, size)
	if err != nil {
		cancel()
		if body, err := opened.Wait(); err == nil {
			body.Close()
		}
		return nil, err
	}
	body, err := opened.Wait()
	if err != nil {
		cancel()
		release()
		return nil, err
	}
	return &limitedBody{ReadCloser: body, cancel: cancel, release: release}, nil
}

// limitedBody is a body that holds a stream until it is closed.
type limitedBody struct {
	io.ReadCloser
	cancel  context.CancelFunc
	release func()
}

// Close implements io.Closer. It may be called more than once.
func (b *limitedBody) Close() error {
	defer b.cancel()
	defer b.release()
	return b.ReadCloser.Close()
}

func (r *Reader) read(ctx context.Context, f File, offset, size int64) (io.ReadCloser, error) {
	var (
		body io.ReadCloser
		err  error
	)
	switch {
	case f.archive.Export != "":
		body, err = r.Bytes.OpenExport(ctx, f.archive, offset, size)
	case f.Bundle:
		o := artifact.BundleObject{Home: f.home, Artifact: f.Artifact, Revision: f.Revision}
		body, err = r.Bytes.OpenBundle(ctx, o, offset, size)
	default:
		body, err = r.Bytes.Open(ctx, f.home, f.Object, offset, size)
	}
	if fault.KindOf(err) == fault.KindNotFound {
		return nil, readaccess.NotFound()
	}
	return body, err
}

type treeResult struct {
	tree tree.Tree
	err  error
}

// treeKey is the key of a tree in the cache.
type treeKey struct {
	artifact id.Artifact
	revision id.Revision
}

func (r *Reader) tree(ctx context.Context, c token.Claims) treeResult {
	key := treeKey{c.Artifact, c.Revision}
	t, err := cache.Get(ctx, r.Cache, key, fault.DatabaseUnavailable, func(ctx context.Context) (tree.Tree, int64, error) {
		t, err := r.Store.Tree(ctx, c.Artifact, c.Revision)
		if t == nil {
			return nil, 0, err
		}
		return t, t.MemorySize(), err
	})
	return treeResult{t, err}
}
