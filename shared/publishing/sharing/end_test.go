package sharing

import (
	"context"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

type linkReader = Links // embedded under another name, because the port has a method of its own name

// fakeStore remembers what was closed; nothing else is asked of it but an empty list.
type fakeStore struct {
	linkReader
	Changes
	done []Closing
}

func (c *fakeStore) RevokeAll(_ context.Context, done Closing) error {
	c.done = append(c.done, done)
	return nil
}

func (c *fakeStore) List(context.Context, Query) ([]link.Link, string, error) { return nil, "", nil }

func TestPrivateClosesWhatWasMadeOrPublishedSinceTheLastClosing(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	for name, c := range map[string]struct {
		published int
		share     id.Public
		made      time.Time // the newest link
		closed    time.Time
		views     int // that were closed
		closes    bool
	}{
		"nothing was published":     {closes: false},
		"published, without a link": {published: 1, closes: true},
		"published, with a share link": {
			published: 1,
			share:     id.NewPublic(),
			made:      now,
			closes:    true,
		},
		"closed since": {
			published: 1,
			made:      now,
			closed:    now,
			views:     1,
			closes:    false,
		},
		"closed, and a link made since": {
			published: 1,
			made:      now,
			closed:    now.Add(-1),
			views:     1,
			closes:    true,
		},
		"closed, and published since": {
			published: 2,
			made:      now,
			closed:    now,
			views:     1,
			closes:    true,
		},
		"closed by older code, which kept views": {
			published: 1,
			made:      now,
			closed:    now,
			closes:    true,
		},
	} {
		store := &fakeStore{}
		s := &Service{
			Store:     store,
			Changes:   store,
			Addresses: &address.URLBuilder{},
			Now:       func() time.Time { return now },
		}
		a := artifact.Artifact{
			ID:                 id.NewArtifact(),
			Owner:              "w",
			Status:             artifact.Live,
			ExpiresAt:          now.Add(time.Hour),
			Number:             c.published,
			ShareLink:          c.share,
			NewestLinkAt:       c.made,
			LinksRevokedBefore: c.closed,
			ViewsRevokedBefore: c.views,
		}
		by := credential.Actor{Workspace: workspace.Workspace{ID: "w"}}
		out, err := s.SetVisibility(t.Context(), by, Target{RequestedID: a.ID, Artifact: &a}, Private)
		if err != nil || out.Visibility != Private || (len(store.done) == 1) != c.closes {
			t.Errorf("%s: %+v %v, closed %d times", name, out, err, len(store.done))
		}
		if c.closes && (store.done[0].Artifact.Number != a.Number || store.done[0].At.Before(a.NewestLinkAt)) {
			t.Errorf("%s: %+v", name, store.done[0])
		}
	}
}
