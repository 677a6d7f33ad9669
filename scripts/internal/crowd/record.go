package crowd

import (
	"cmp"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// Mark is what a worker knows of an action. The outcome of one that was tried and not acknowledged is unknown.
type Mark struct {
	at    time.Time // when its success was acknowledged; zero: it was not
	tried bool
}

// set records the outcome of an action that was tried just now.
func (m *Mark) set(err error) {
	m.tried = true
	if err == nil {
		m.at = time.Now()
	}
}

// done reports whether the action was acknowledged.
func (m Mark) done() bool { return !m.at.IsZero() }

// Account is a workspace with the key that a worker publishes with.
type Account struct {
	Workspace  id.Workspace
	Key        Key
	Artifacts  []*Artifact
	claimToken string // of an ephemeral workspace; empty: it is a member's
	claimed    Mark
}

// Key is an API key.
type Key struct {
	ID      id.Key
	agent   *wire.Agent // holds the secret
	made    time.Time
	revoked Mark
}

// Artifact is what was acknowledged about one artifact.
type Artifact struct {
	ID        id.Artifact
	Deleted   Mark
	pinned    Mark
	revisions []revision
	links     []*link
}

// revision is an acknowledged publication.
type revision struct {
	content, text string
	published     time.Time
}

// link is an access link.
type link struct {
	id      id.Link // empty: no answer told it
	public  id.Public
	url     string
	made    time.Time
	revoked Mark
}

// addLink writes down a URL of a link. An artifact has one share link at a time, which is asked for more than once.
func (a *Artifact) addLink(l id.Link, url string) {
	public, _, _ := wire.SplitLink(url)
	for _, known := range a.links {
		if known.public == public {
			known.id = cmp.Or(known.id, l)
			return
		}
	}
	a.links = append(a.links, &link{
		id:     l,
		public: public,
		url:    url,
		made:   time.Now(),
	})
}
