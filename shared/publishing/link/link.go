// Package link knows access links: rows that a signed blob points to.
package link

import (
	"cmp"
	"slices"
	"time"

	"vitrine/shared/platform/id"
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
	Workspace id.Workspace // that made it; a claim moves it along, later than it commits
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

// Ended is when the link was ended, zero if it was not: by itself, or with all links of its artifact that had been made
// when they were closed (zero: never).
func (l *Link) Ended(closed time.Time) time.Time {
	if closed.IsZero() || l.CreatedAt.After(closed) || !l.RevokedAt.IsZero() && l.RevokedAt.Before(closed) {
		return l.RevokedAt
	}
	return closed
}

// Sort orders links as lists show them: newest first, with the id as tie-breaker.
func Sort(links []Link) {
	slices.SortFunc(links, func(x, y Link) int { return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(y.Public, x.Public)) })
}
