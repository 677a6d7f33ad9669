// Package link describes access links, which a signed blob in a URL refers to.
package link

import (
	"cmp"
	"slices"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Kind says which revision a link shows.
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
	Workspace id.Workspace // that created it; after a claim it changes with a delay
	Artifact  id.Artifact
	Revision  id.Revision // of a revision link
	Kind      Kind
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: live
}

// Opens reports whether the link opens the artifact at an instant.
func (l *Link) Opens(a id.Artifact, now time.Time) bool {
	return l != nil && l.Artifact == a && l.RevokedAt.IsZero() && (l.ExpiresAt.IsZero() || now.Before(l.ExpiresAt))
}

// Ended returns when the link ended, zero if it did not: when it was revoked, or when all links of its artifact were
// closed (zero: never) after it was created, whichever was first.
func (l *Link) Ended(closed time.Time) time.Time {
	if closed.IsZero() || l.CreatedAt.After(closed) || !l.RevokedAt.IsZero() && l.RevokedAt.Before(closed) {
		return l.RevokedAt
	}
	return closed
}

// Record is what the creation of a link answers, and what stored results and exports hold of it.
type Record struct {
	ID        id.Link          `json:"id"`
	Kind      Kind             `json:"type"`
	Artifact  id.Artifact      `json:"artifact_id"`
	Revision  *id.Revision     `json:"revision_id"`
	CreatedAt idempotency.Time `json:"created_at"`
}

// Record returns the record of a link.
func (l Link) Record() Record {
	r := Record{
		ID:        l.ID,
		Kind:      l.Kind,
		Artifact:  l.Artifact,
		CreatedAt: idempotency.Time{Time: l.CreatedAt},
	}
	if l.Revision != "" {
		r.Revision = &l.Revision
	}
	return r
}

// Sort sorts links newest first, and by id where times are equal.
func Sort(links []Link) {
	slices.SortFunc(links, func(x, y Link) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(y.Public, x.Public))
	})
}
