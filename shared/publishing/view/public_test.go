package view

import (
	"context"
	"testing"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// fakeStore has one artifact of one workspace, whose revisions are published.
type fakeStore struct {
	workspace workspace.Workspace
	artifact  artifact.Artifact
	revisions map[id.Revision]artifact.Revision
}

func (s *fakeStore) ReadState(context.Context, readaccess.Query) (readaccess.State, error) {
	return readaccess.State{Workspace: &s.workspace, Artifact: &s.artifact}, nil
}

func (s *fakeStore) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return &s.workspace, nil
}

func (s *fakeStore) Revision(_ context.Context, _ id.Artifact, r id.Revision) (*artifact.Revision, error) {
	found := s.revisions[r]
	return &found, nil
}

func (s *fakeStore) Contents(_ context.Context, _ id.Artifact, r id.Revision) (*artifact.Contents, error) {
	return &artifact.Contents{Revision: s.revisions[r], Tree: tree.Tree{{Path: "index.html", Size: 1}}}, nil
}

// newViewer is a viewer of an artifact with two revisions, and the tokens of their public views.
func newViewer(t *testing.T, now time.Time) (*Service, *fakeStore, [2]string) {
	t.Helper()
	const api, content = "https://api.test", "https://content.test"
	ring, numbers := keyring.New().Content, limits.Default()
	numbers.Off = true
	views, err := token.New(ring, token.AgentView, api)
	if err != nil {
		t.Fatal(err)
	}
	files, err := token.New(ring, token.Content, content)
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeStore{workspace: workspace.Workspace{ID: id.NewWorkspace()}, revisions: map[id.Revision]artifact.Revision{}}
	s.artifact = artifact.Artifact{
		ID:        id.NewArtifact(),
		Owner:     s.workspace.ID,
		Status:    artifact.Live,
		ExpiresAt: now.Add(limits.Day),
		Title:     "T",
	}
	var tokens [2]string
	for n := range tokens {
		r := artifact.Revision{
			ID:          id.NewRevision(),
			Artifact:    s.artifact.ID,
			Status:      artifact.Published,
			Number:      n + 1,
			Entrypoint:  "index.html",
			PublishedAt: now.Add(time.Duration(n-2) * time.Hour),
		}
		s.revisions[r.ID] = r
		s.artifact.Current = r.ID
		s.artifact.Number = r.Number
		s.artifact.PublishedAt = r.PublishedAt
		claims := token.Claims{
			Workspace: s.workspace.ID,
			Artifact:  s.artifact.ID,
			Revision:  r.ID,
			Expires:   now.Add(limits.Day),
		}
		if tokens[n], err = views.Mint(claims); err != nil {
			t.Fatal(err)
		}
	}
	clock := func() time.Time { return now }
	return &Service{
		Store:   s,
		Limits:  &numbers,
		Limiter: &rate.Limiter{Limits: &numbers, Now: clock},
		Now:     clock,
		Addresses: &address.URLBuilder{
			Origins: address.Origins{API: api, Content: content}, ViewToken: views, ContentToken: files,
		},
	}, s, tokens
}

func TestAPublicViewEndsWithTheLinksThatWereThere(t *testing.T) {
	now := time.Now()
	type is = artifact.Artifact
	both := [2]bool{true, true}
	none := [2]bool{}
	second := [2]bool{false, true}
	for name, c := range map[string]struct {
		set   func(*is)
		opens [2]bool // the views of both revisions
	}{
		"nothing is closed":    {func(*is) {}, both},
		"the links are locked": {func(a *is) { a.LinksLockedAt = now }, none},
		"closed after both":    {func(a *is) { a.LinksRevokedBefore, a.ViewsRevokedBefore = now, 2 }, none},
		"closed, and a link made since": {func(a *is) {
			a.LinksRevokedBefore = now
			a.ViewsRevokedBefore = 2
			a.NewestLinkAt = now.Add(1)
		}, none},
		"closed before the second":      {func(a *is) { a.LinksRevokedBefore, a.ViewsRevokedBefore = now, 1 }, second},
		"closed by older code":          {func(a *is) { a.LinksRevokedBefore = now }, none},
		"closed by older code, between": {func(a *is) { a.LinksRevokedBefore = now.Add(-90 * time.Minute) }, second},
		"closed and locked": {func(a *is) {
			a.LinksRevokedBefore = now
			a.ViewsRevokedBefore = 1
			a.LinksLockedAt = now
		}, none},
	} {
		v, s, tokens := newViewer(t, now)
		c.set(&s.artifact)
		for n, text := range tokens {
			view, err := v.Public(t.Context(), text)
			opened, refused := view.Title == "T", fault.CodeOf(err) == fault.NotFound
			if opened != c.opens[n] || refused == opened || opened != (err == nil) {
				t.Errorf("%s: the view of revision %d: %q %v", name, n+1, view.Title, err)
			}
		}
	}
}
