package sharing

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/fake"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fakeStore holds what a test puts into it and records every write; a write changes nothing that is read later.
type fakeStore struct {
	links      map[id.Public]link.Link
	artifacts  map[id.Artifact]artifact.Artifact
	workspaces map[id.Workspace]workspace.Workspace
	pages      [][]link.Link // what Links returns, page by page; nil: all links
	reads      int           // of single items

	fake.Outcomes // of the next writes
	revoked       time.Time

	created     []Creation
	noops       []Creation
	comments    []Creation
	revocations []Revocation
	closings    []Closing
	locks       []Lock
}

func (f *fakeStore) Link(_ context.Context, p id.Public) (*link.Link, error) {
	f.reads++
	return found(f.links, p), nil
}

func (f *fakeStore) Artifact(_ context.Context, a id.Artifact) (*artifact.Artifact, error) {
	f.reads++
	return found(f.artifacts, a), nil
}

func (f *fakeStore) Workspace(_ context.Context, w id.Workspace) (*workspace.Workspace, error) {
	f.reads++
	return found(f.workspaces, w), nil
}

func (f *fakeStore) Artifacts(_ context.Context, of []id.Artifact) (map[id.Artifact]*artifact.Artifact, error) {
	out := map[id.Artifact]*artifact.Artifact{}
	for _, a := range of {
		if one := found(f.artifacts, a); one != nil {
			out[a] = one
		}
	}
	return out, nil
}

func (f *fakeStore) List(_ context.Context, q Query) ([]link.Link, string, error) {
	if f.pages == nil {
		return slices.Collect(maps.Values(f.links)), "", nil
	}
	n := len(q.After) // a position has as many characters as there are pages in front of it
	if n == len(f.pages)-1 {
		return f.pages[n], "", nil
	}
	return f.pages[n], q.After + "x", nil
}

func (f *fakeStore) Create(_ context.Context, c Creation) error {
	f.created = append(f.created, c)
	return f.Next()
}

func (f *fakeStore) RecordNoop(_ context.Context, c Creation) error {
	f.noops = append(f.noops, c)
	return f.Next()
}

func (f *fakeStore) SetComments(_ context.Context, c Creation) error {
	f.comments = append(f.comments, c)
	return f.Next()
}

func (f *fakeStore) Revoke(_ context.Context, r Revocation) (time.Time, error) {
	f.revocations = append(f.revocations, r)
	return f.revoked, f.Next()
}

func (f *fakeStore) RevokeAll(_ context.Context, c Closing) error {
	f.closings = append(f.closings, c)
	return f.Next()
}

func (f *fakeStore) Lock(_ context.Context, l Lock) error {
	f.locks = append(f.locks, l)
	return f.Next()
}

func (f *fakeStore) writes() int {
	return len(f.created) + len(f.noops) + len(f.comments) + len(f.revocations) + len(f.closings) + len(f.locks)
}

func found[K comparable, V any](in map[K]V, key K) *V {
	if v, ok := in[key]; ok {
		return &v
	}
	return nil
}

// env is a service, and a workspace with one published artifact.
type env struct {
	*Service
	store    *fakeStore
	by       credential.Actor
	artifact artifact.Artifact
}

func newEnv(t *testing.T) *env {
	t.Helper()
	cursors, err := cursor.New(keyring.New().Seal)
	expect.OK(t, err)
	own := workspace.Workspace{ID: id.NewWorkspace(), ClaimedAt: now.Add(-time.Hour)}
	store := &fakeStore{
		links:      map[id.Public]link.Link{},
		artifacts:  map[id.Artifact]artifact.Artifact{},
		workspaces: map[id.Workspace]workspace.Workspace{own.ID: own},
	}
	return &env{
		Service: &Service{
			Store:     store,
			Changes:   store,
			Addresses: addresses.New(t),
			Cursors:   cursors,
			Now:       func() time.Time { return now },
		},
		store: store,
		by:    credential.Actor{Member: "m", Workspace: own, Scopes: []credential.Scope{credential.Admin}},
		artifact: artifact.Artifact{
			ID:        id.NewArtifact(),
			Owner:     own.ID,
			Status:    artifact.Live,
			ExpiresAt: now.Add(24 * time.Hour),
			Current:   id.NewRevision(),
			Number:    1,
		},
	}
}

// target stores the artifact and names it, without having read it.
func (e *env) target() Target {
	e.store.artifacts[e.artifact.ID] = e.artifact
	return Target{RequestedID: e.artifact.ID}
}

// addLink stores a link of the artifact that is an hour old, with what set changes of it.
func (e *env) addLink(kind link.Kind, set func(*link.Link)) link.Link {
	l := link.Link{
		ID:        id.NewLink(),
		Workspace: e.by.Workspace.ID,
		Artifact:  e.artifact.ID,
		Kind:      kind,
		CreatedAt: now.Add(-time.Hour),
	}
	l.Public, _ = l.ID.Public()
	set(&l)
	e.store.links[l.Public] = l
	return l
}

// addShareLink stores a share link that the artifact names.
func (e *env) addShareLink(set func(*link.Link)) link.Link {
	l := e.addLink(link.Share, set)
	e.artifact.ShareLink = l.Public
	e.artifact.ShareLinkUntil = l.ExpiresAt
	e.artifact.NewestLinkAt = l.CreatedAt
	return l
}

// addClaimed stores a workspace that the caller's claimed.
func (e *env) addClaimed() id.Workspace {
	source := workspace.Workspace{ID: id.NewWorkspace(), ClaimedAt: now, ClaimedInto: e.by.Workspace.ID}
	e.store.workspaces[source.ID] = source
	return source.ID
}

func asStored(*link.Link) {}
