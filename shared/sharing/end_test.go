package sharing

import (
	"context"
	"testing"
	"time"

	"vitrine/shared/address"
	"vitrine/shared/artifact"
	"vitrine/shared/credential"
	"vitrine/shared/id"
	"vitrine/shared/link"
	"vitrine/shared/workspace"
)

type linkReader = Links // embedded under another name, because the port has a method of its own name

// fakeStore remembers what was closed; nothing else is asked of it but an empty list.
type fakeStore struct {
	linkReader
	Changes
	done []Closing
}

func (c *fakeStore) CloseLinks(_ context.Context, done Closing) error {
	c.done = append(c.done, done)
	return nil
}

func (c *fakeStore) Links(context.Context, Query) ([]link.Link, string, error) { return nil, "", nil }

func TestPrivateClosesWhatWasMadeOrPublishedSinceTheLastClosing(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	for name, c := range map[string]struct {
		is     artifact.Artifact
		closes bool
	}{
		"nothing was published":                  {artifact.Artifact{}, false},
		"published, without a link":              {artifact.Artifact{Number: 1}, true},
		"published, with a share link":           {artifact.Artifact{Number: 1, Share: id.NewPublic(), LinksAt: now}, true},
		"closed since":                           {artifact.Artifact{Number: 1, LinksAt: now, LinksClosed: now, ViewsClosed: 1}, false},
		"closed, and a link made since":          {artifact.Artifact{Number: 1, LinksAt: now, LinksClosed: now.Add(-1), ViewsClosed: 1}, true},
		"closed, and published since":            {artifact.Artifact{Number: 2, LinksAt: now, LinksClosed: now, ViewsClosed: 1}, true},
		"closed by older code, which kept views": {artifact.Artifact{Number: 1, LinksAt: now, LinksClosed: now}, true},
	} {
		store := &fakeStore{}
		s := &Sharer{Store: store, Changes: store, Addresses: &address.Book{}, Now: func() time.Time { return now }}
		a := c.is
		a.ID, a.Owner, a.Status, a.ExpiresAt = id.NewArtifact(), "w", artifact.Live, now.Add(time.Hour)
		by := credential.Actor{Workspace: workspace.Workspace{ID: "w"}}
		out, err := s.SetVisibility(t.Context(), by, Target{Named: a.ID, Artifact: &a}, Private)
		if err != nil || out.Visibility != Private || (len(store.done) == 1) != c.closes {
			t.Errorf("%s: %+v %v, closed %d times", name, out, err, len(store.done))
		}
		if c.closes && (store.done[0].Artifact.Number != a.Number || store.done[0].At.Before(a.LinksAt)) {
			t.Errorf("%s: %+v", name, store.done[0])
		}
	}
}
