package comparison

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fakeStore has the revisions of one artifact, and counts what is read. It implements both ports.
type fakeStore struct {
	mu        sync.Mutex
	revisions []artifact.Revision
	trees     map[id.Revision]tree.Tree
	objects   map[tree.Object]string
	opened    []string // bodies
	reads     int      // of revisions and trees
	opens     error
	most      int // objects that are open at once
	open      int
}

func (f *fakeStore) Revision(_ context.Context, _ id.Artifact, named id.Revision) (*artifact.Revision, error) {
	f.count()
	for _, r := range f.revisions {
		if r.ID == named {
			return &r, nil
		}
	}
	return nil, nil
}

func (f *fakeStore) Revisions(context.Context, id.Artifact) ([]artifact.Revision, error) {
	f.count()
	return f.revisions, nil
}

func (f *fakeStore) Tree(_ context.Context, _ id.Artifact, r id.Revision) (tree.Tree, error) {
	f.count()
	return f.trees[r], nil
}

func (f *fakeStore) count() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
}

func (f *fakeStore) Open(
	_ context.Context, _ id.Workspace, o tree.Object, _, _ int64,
) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, ok := f.objects[o]
	if f.opens != nil {
		return nil, f.opens
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "gone")
	}
	f.opened = append(f.opened, body)
	f.open++
	f.most = max(f.most, f.open)
	return &object{Reader: strings.NewReader(body), store: f}, nil
}

type object struct {
	io.Reader
	store *fakeStore
}

func (o *object) Close() error {
	o.store.mu.Lock()
	defer o.store.mu.Unlock()
	o.store.open--
	return nil
}

// env is the service with an artifact of a member.
type env struct {
	*Service
	store *fakeStore
	by    credential.Actor
	a     *artifact.Artifact
}

func newEnv(t testing.TB, revisions ...map[string]string) *env {
	t.Helper()
	cursors, err := cursor.New(keyring.New().Seal)
	expect.OK(t, err)
	f := &fakeStore{trees: map[id.Revision]tree.Tree{}, objects: map[tree.Object]string{}}
	e := &env{
		Service: &Service{
			Store:   f,
			Bytes:   f,
			Cursors: cursors,
			Now:     func() time.Time { return now },
		},
		store: f,
		by:    credential.Actor{Workspace: workspace.Workspace{ID: id.NewWorkspace()}},
	}
	e.a = &artifact.Artifact{
		ID:               id.NewArtifact(),
		Owner:            e.by.Workspace.ID,
		StorageWorkspace: "home",
		Status:           artifact.Live,
		ExpiresAt:        now.Add(time.Hour),
	}
	for _, files := range revisions {
		e.publish(files)
	}
	return e
}

// publish makes a revision of these files the current one.
func (e *env) publish(files map[string]string) {
	r := artifact.Revision{
		ID:       id.NewRevision(),
		Artifact: e.a.ID,
		Status:   artifact.Published,
		Number:   len(e.store.revisions) + 1,
	}
	session := id.NewSession()
	out := tree.Tree{}
	for path, body := range files {
		o := tree.Object{Session: session, Entry: len(out)}
		e.store.objects[o] = body
		out = append(out, tree.File{
			Path:   path,
			Size:   int64(len(body)),
			SHA256: tree.DigestOf(body),
			Object: o,
		})
	}
	slices.SortFunc(out, func(x, y tree.File) int { return strings.Compare(y.Path, x.Path) })
	e.store.revisions = append(e.store.revisions, r)
	e.store.trees[r.ID] = out
	e.a.Current, e.a.Number = r.ID, r.Number
}

// revision returns the id of a revision by its number.
func (e *env) revision(number int) id.Revision { return e.store.revisions[number-1].ID }

func (e *env) compare(t testing.TB, q Query) contract.Comparison {
	t.Helper()
	out, err := e.Compare(t.Context(), e.by, e.a, q)
	expect.OK(t, err)
	size := 0
	for _, f := range out.Files {
		size += len(f.Diff)
	}
	if size > maxAnswerBytes {
		t.Errorf("an answer has %d bytes of diffs", size)
	}
	return out
}

// all follows the cursor to the end, and returns the entries of all answers.
func (e *env) all(t testing.TB, q Query) (files []contract.ComparedFile, answers int) {
	t.Helper()
	for {
		out := e.compare(t, q)
		answers++
		files = append(files, out.Files...)
		if !out.PageInfo.HasMore {
			return files, answers
		}
		if len(out.Files) == 0 {
			t.Fatal("an answer has nothing and a cursor")
		}
		q.Cursor = *out.PageInfo.NextCursor
	}
}

// lines is a text of numbered lines.
func lines(n int, word string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d %s\n", i, word)
	}
	return b.String()
}
