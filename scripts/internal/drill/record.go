package main

import (
	"time"

	"vitrine/shared/platform/id"
)

// mark is what a client knows of an action: when its success was acknowledged, or that it was tried and its outcome is
// unknown.
type mark struct {
	at      time.Time // zero: not acknowledged
	unknown bool
}

// set records the outcome of an action that was tried just now.
func (m *mark) set(err error) {
	switch {
	case err == nil:
		m.at, m.unknown = time.Now(), false
	case m.at.IsZero():
		m.unknown = true
	}
}

// done reports whether the action was acknowledged.
func (m mark) done() bool { return !m.at.IsZero() }

// by reports whether the action was acknowledged before an instant.
func (m mark) by(instant time.Time) bool { return m.done() && m.at.Before(instant) }

// account is a workspace with the key that its client publishes with.
type account struct {
	workspace  id.Workspace
	key        key
	claimToken string  // of an ephemeral workspace
	owner      *person // the member whose workspace it is; nil: it is ephemeral
	claimer    *person // who claimed it, or tried
	claimed    mark
	artifacts  []*artifact
}

// key is an API key.
type key struct {
	id      id.Key
	secret  string
	made    mark
	revoked mark
}

// artifact is what was acknowledged about one artifact.
type artifact struct {
	id        id.Artifact
	revisions []revision
	links     []*link
	deleted   mark
	pinned    mark
}

// revision is an acknowledged publication.
type revision struct {
	content, text string
	published     mark
}

// link is an access link.
type link struct {
	id            id.Link // empty: no answer told it
	public        id.Public
	url           string
	made, revoked mark
}

// usable reports whether the artifact was never asked to be deleted.
func (a *artifact) usable() bool { return !a.deleted.done() && !a.deleted.unknown }

// usable reports whether the link was never asked to be revoked.
func (l *link) usable() bool { return !l.revoked.done() && !l.revoked.unknown }
