package sweep

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// fakeShelf has nothing that keeps anything, but for the objects in held.
type fakeShelf struct {
	mu       sync.Mutex
	bringers int
	held     map[tree.Object]bool
}

func (f *fakeShelf) ArtifactFiles(context.Context, id.Artifact) (ArtifactFiles, error) {
	return ArtifactFiles{}, nil
}
func (f *fakeShelf) UploaderOf(context.Context, id.Session) (id.Artifact, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bringers++
	return "", nil
}
func (f *fakeShelf) ReferencesTo(_ context.Context, o tree.Object) (bool, []id.Revision, error) {
	return f.held[o], nil, nil
}

// fakeDeletions has the list of what is due, and the bytes.
type fakeDeletions struct {
	fakeRows
	due       []GarbageCandidate
	acquitted map[tree.Object]bool
	requests  int
	broken    map[tree.Object]bool
	deleted   map[tree.Object]bool
}

func (f *fakeDeletions) DueGarbage(context.Context, time.Time, int) ([]GarbageCandidate, error) {
	return f.due, nil
}
func (f *fakeDeletions) Unmark(_ context.Context, c GarbageCandidate) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acquitted[c.Object] = true
	return nil
}
func (f *fakeDeletions) RemoveReference(context.Context, id.Revision, []tree.Object) error {
	return nil
}
func (f *fakeDeletions) RemoveIndexEntry(context.Context, id.Workspace, tree.Content, tree.Object) (bool, error) {
	return false, nil
}
func (f *fakeDeletions) DeleteAll(_ context.Context, objects map[id.Workspace][]tree.Object) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	var err error
	for _, some := range objects {
		for _, o := range some {
			if f.broken[o] {
				err = errors.New("refused")
			} else {
				f.deleted[o] = true
			}
		}
	}
	return err
}

// newCollector has three objects due of each of four sessions in two workspaces.
func newCollector() (*GarbageCollector, *fakeDeletions, *fakeShelf) {
	d := &fakeDeletions{
		fakeRows:  fakeRows{off: map[string]time.Time{}},
		acquitted: map[tree.Object]bool{},
		broken:    map[tree.Object]bool{},
		deleted:   map[tree.Object]bool{},
	}
	homes := []id.Workspace{id.NewWorkspace(), id.NewWorkspace()}
	for n := range 4 {
		session := id.NewSession()
		for entry := range 3 {
			o := tree.Object{Session: session, Entry: entry}
			d.due = append(d.due, GarbageCandidate{Home: homes[n%2], Object: o, QueueItem: QueueItem{Key: string(session) + string(rune('0'+entry)), Due: start}})
		}
	}
	shelf := &fakeShelf{held: map[tree.Object]bool{}}
	return &GarbageCollector{
		References: shelf,
		Store:      d,
		Index:      d,
		Bytes:      d,
		Now:        func() time.Time { return start },
	}, d, shelf
}

func TestARoundOfDeletionsIsOneRequest(t *testing.T) {
	c, d, shelf := newCollector()
	kept := d.due[4].Object
	shelf.held[kept] = true
	r, err := c.Due(t.Context())
	if err != nil || r.Due != 12 || d.requests != 1 || shelf.bringers != 4 {
		t.Errorf("%+v, %v, %d requests, %d sessions read", r, err, d.requests, shelf.bringers)
	}
	if len(d.deleted) != 11 || d.deleted[kept] || len(d.acquitted) != 12 {
		t.Errorf("%d deleted, %d acquitted", len(d.deleted), len(d.acquitted))
	}
}

func TestAnObjectThatCannotBeDeletedIsInNoOthersWay(t *testing.T) {
	c, d, _ := newCollector()
	stays := d.due[5]
	d.broken[stays.Object] = true
	r, err := c.Due(t.Context())
	if err == nil || r.Due != 12 || len(d.deleted) != 11 || len(d.acquitted) != 11 || d.acquitted[stays.Object] {
		t.Errorf("%+v, %v, %d deleted, %d acquitted", r, err, len(d.deleted), len(d.acquitted))
	}
	if len(d.off) != 1 || !d.off[stays.Key].Equal(start.Add(limits.MinRetry)) {
		t.Errorf("put off: %v", d.off)
	}
}
