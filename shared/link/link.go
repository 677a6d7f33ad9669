// Package link knows access links: rows that a signed blob points to.
package link

import (
	"time"

	"vitrine/shared/id"
)

// Kind is what a link follows.
type Kind string

// The kinds of links.
const (
	Share    Kind = "share"    // the newest revision
	Revision Kind = "revision" // one revision for good
)

// Link is a stored access link.
type Link struct {
	ID        id.Link
	Public    id.Public
	Artifact  id.Artifact
	Revision  id.Revision // of a revision link
	Kind      Kind
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: live
}

// Opens tells whether the link still opens the artifact at an instant.
func (l *Link) Opens(a id.Artifact, now time.Time) bool {
	return l != nil && l.Artifact == a && l.RevokedAt.IsZero() && (l.ExpiresAt.IsZero() || now.Before(l.ExpiresAt))
}
