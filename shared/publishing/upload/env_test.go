package upload

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fakeStore has one artifact with its files, one session and the objects that were uploaded, and records what is
// written. It implements all ports of the package.
type fakeStore struct {
	mu sync.Mutex

	workspaces map[id.Workspace]workspace.Workspace
	artifact   *artifact.Artifact
	files      tree.Tree // of the artifact
	session    *Session
	entries    []Entry
	indexed    map[tree.Content]tree.Object
	base       *artifact.Contents
	objects    map[tree.Object]string

	refuses    error // of Create
	claims     error
	references error
	listed     int // bytes of a file in a stored list
	finalizes  error
	heads      error
	opens      error

	made      Creation
	creations int
	presigned []presigned
	owners    []string // of claims, releases and commits, in their order
	lease     time.Time
	released  int
	opened    int  // objects
	blocks    bool // Open waits for the end of its context
	done      []Finalization
	calls     []string // that change anything but the command
	unindexed []tree.Object
}

type presigned struct {
	object  tree.Object
	size    int64
	digest  *tree.Digest
	expires time.Time
}

func (f *fakeStore) Artifact(context.Context, id.Artifact) (*artifact.Artifact, error) {
	return f.artifact, nil
}

func (f *fakeStore) Workspace(_ context.Context, w id.Workspace) (*workspace.Workspace, error) {
	if found, ok := f.workspaces[w]; ok {
		return &found, nil
	}
	return nil, nil
}

func (f *fakeStore) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	return f.files, nil
}

func (f *fakeStore) Session(context.Context, id.Session) (*Session, []Entry, error) {
	return f.session, f.entries, nil
}

func (f *fakeStore) Create(_ context.Context, c Creation) error {
	f.made = c
	f.creations++
	return f.refuses
}

func (f *fakeStore) Lookup(context.Context, id.Workspace, []tree.Content) (map[tree.Content]tree.Object, error) {
	return f.indexed, nil
}

func (f *fakeStore) Remove(_ context.Context, _ id.Workspace, _ tree.Content, o tree.Object) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unindexed = append(f.unindexed, o)
	return true, nil
}

func (f *fakeStore) AddReference(_ context.Context, _ id.Artifact, _ id.Revision, _ []tree.Object) error {
	f.calls = append(f.calls, "AddReference")
	return f.references
}

func (f *fakeStore) ListSize(files tree.Tree, entries []Entry) (stored, whole int) {
	return f.listed * len(files), len(entries)
}

func (f *fakeStore) Claim(_ context.Context, _ idempotency.Command, owner string, _, lease time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owners, f.lease = append(f.owners, owner), lease
	return f.claims
}

func (f *fakeStore) Release(_ context.Context, _ idempotency.Command, owner string) error {
	f.owners = append(f.owners, owner)
	f.released++
	return nil
}

func (f *fakeStore) Contents(_ context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error) {
	for _, done := range f.done {
		if done.Revision.ID == r {
			return &artifact.Contents{Revision: done.Revision, Tree: done.Tree}, nil
		}
	}
	if f.base == nil || f.base.Revision.Artifact != a || f.base.Revision.ID != r {
		return nil, nil
	}
	return f.base, nil
}

func (f *fakeStore) Finalize(_ context.Context, done Finalization) error {
	f.owners = append(f.owners, done.Owner)
	f.done = append(f.done, done)
	f.calls = append(f.calls, "Finalize")
	return f.finalizes
}

func (f *fakeStore) Presign(
	_ context.Context, _ id.Workspace, o tree.Object, size int64, digest *tree.Digest, expires time.Time,
) (PutTarget, error) {
	f.presigned = append(f.presigned, presigned{o, size, digest, expires})
	return PutTarget{URL: "https://put.test", Expires: expires}, nil
}

func (f *fakeStore) List(_ context.Context, _ id.Workspace, s id.Session, diffs bool) (map[int]int64, error) {
	out := map[int]int64{}
	for o, body := range f.objects {
		if o.Session == s && o.Diff == diffs {
			out[o.Entry] = int64(len(body))
		}
	}
	return out, nil
}

func (f *fakeStore) Put(_ context.Context, _ id.Workspace, o tree.Object, body []byte, _ tree.Digest) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "Put")
	f.objects[o] = string(body)
	return nil
}

func (f *fakeStore) Open(ctx context.Context, _ id.Workspace, o tree.Object, _, _ int64) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	if f.blocks {
		f.mu.Unlock()
		<-ctx.Done()
		f.mu.Lock()
		return nil, ctx.Err()
	}
	if f.opens != nil {
		return nil, f.opens
	}
	body, ok := f.objects[o]
	if !ok {
		return nil, fault.New(fault.NotFound, "gone")
	}
	return io.NopCloser(strings.NewReader(body)), nil
}

func (f *fakeStore) Head(_ context.Context, _ id.Workspace, o tree.Object) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "Head")
	body, ok := f.objects[o]
	if !ok && f.heads == nil {
		return 0, fault.New(fault.NotFound, "gone")
	}
	return int64(len(body)), f.heads
}
