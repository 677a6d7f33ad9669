package view

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/fake"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fakeStore has one artifact of one workspace, its revisions and a link.
type fakeStore struct {
	workspace workspace.Workspace
	artifact  artifact.Artifact
	link      link.Link
	revisions map[id.Revision]artifact.Revision
	tree      tree.Tree
	asked     id.Revision // of the contents that were read last
	read      int         // how often contents were
	err       error       // of the contents
	gone      bool        // the contents are
}

func (s *fakeStore) ReadState(context.Context, readaccess.Query) (readaccess.State, error) {
	return readaccess.State{Workspace: &s.workspace, Artifact: &s.artifact, Link: &s.link}, nil
}

func (s *fakeStore) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return nil, nil
}

func (s *fakeStore) Revision(_ context.Context, _ id.Artifact, r id.Revision) (*artifact.Revision, error) {
	found := s.revisions[r]
	return &found, nil
}

func (s *fakeStore) Contents(_ context.Context, _ id.Artifact, r id.Revision) (*artifact.Contents, error) {
	s.asked = r
	s.read++
	if s.gone || s.err != nil {
		return nil, s.err
	}
	return &artifact.Contents{Revision: s.revisions[r], Tree: slices.Clone(s.tree)}, nil
}

// fakeBytes holds one text under every name.
type fakeBytes string

// Open implements Bytes.
func (b fakeBytes) Open(context.Context, id.Workspace, tree.Object, int64, int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(string(b))), nil
}

// env is a service and an artifact with two published revisions.
type env struct {
	*Service
	store     *fakeStore
	counters  *fake.Counters
	owner     credential.Actor
	revisions [2]id.Revision
	tokens    [2]string // of the public views of the revisions
}

func newEnv(t *testing.T) *env {
	t.Helper()
	w := workspace.Workspace{ID: id.NewWorkspace()}
	e := &env{
		store: &fakeStore{
			workspace: w,
			revisions: map[id.Revision]artifact.Revision{},
			tree:      tree.Tree{{Path: "index.html", Size: 1}, {Path: "a b/é.txt", Size: 2}},
		},
		counters: &fake.Counters{},
		owner:    credential.Actor{Workspace: w},
	}
	e.store.artifact = artifact.Artifact{
		ID:        id.NewArtifact(),
		Owner:     w.ID,
		Status:    artifact.Live,
		ExpiresAt: now.Add(limits.Day),
		Title:     "T",
	}
	numbers, clock := limits.Default(), func() time.Time { return now }
	cursors, err := cursor.New(keyring.New().Seal)
	if err != nil {
		t.Fatal(err)
	}
	e.Service = &Service{
		Store:     e.store,
		Addresses: addresses.New(t),
		Limits:    &numbers,
		Limiter:   &rate.Limiter{Counters: e.counters, Limits: &numbers, Now: clock},
		Bytes:     fakeBytes("é"),
		Cursors:   cursors,
		Now:       clock,
	}
	e.publish(t)
	e.store.link = link.Link{
		ID:        id.NewLink(),
		Artifact:  e.store.artifact.ID,
		Kind:      link.Share,
		CreatedAt: now.Add(-time.Hour),
	}
	e.store.link.Public, _ = e.store.link.ID.Public()
	return e
}

// publish adds the revisions, one two hours old and one an hour old, and mints the tokens of their public views.
func (e *env) publish(t *testing.T) {
	t.Helper()
	a := &e.store.artifact
	for n := range e.revisions {
		r := artifact.Revision{
			ID:          id.NewRevision(),
			Artifact:    a.ID,
			Status:      artifact.Published,
			Number:      n + 1,
			Title:       []string{"Before", "T"}[n],
			Entrypoint:  "index.html",
			Mode:        "html",
			PublishedAt: now.Add(time.Duration(n-2) * time.Hour),
		}
		e.revisions[n] = r.ID
		e.store.revisions[r.ID] = r
		a.Current = r.ID
		a.Number = r.Number
		a.PublishedAt = r.PublishedAt
		claims := token.Claims{
			Workspace: e.store.workspace.ID,
			Artifact:  a.ID,
			Revision:  r.ID,
			Expires:   now.Add(limits.Day),
		}
		var err error
		if e.tokens[n], err = e.Addresses.ViewToken.Mint(claims); err != nil {
			t.Fatal(err)
		}
	}
}
