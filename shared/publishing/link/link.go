// Package link describes access links, to which signed blobs in URLs refer.
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
	Workspace id.Workspace // the one that created it; changes some time after a claim
	Artifact  id.Artifact
	Revision  id.Revision // of a revision link
	Kind      Kind
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: live
	Comments  bool      // those who open it may write about the artifact, if its settings let guests write
}

// Opens reports whether the link opens the artifact at an instant.
func (l *Link) Opens(a id.Artifact, now time.Time) bool {
	return l != nil && l.Artifact == a && l.RevokedAt.IsZero() && (l.ExpiresAt.IsZero() || now.Before(l.ExpiresAt))
}

// Ended returns when the link was revoked, or closed with all links of its artifact, whichever was first. It is zero if
// the link is live. closed is when all links were last closed, zero if never. It does not end links made afterwards.
func (l *Link) Ended(closed time.Time) time.Time {
	if closed.IsZero() || l.CreatedAt.After(closed) || !l.RevokedAt.IsZero() && l.RevokedAt.Before(closed) {
		return l.RevokedAt
	}
	return closed
}

// Record is a link as its creation returns it and as stored results and exports hold it.
type Record struct {
	ID        id.Link          `json:"id"`
	Kind      Kind             `json:"type"`
	Artifact  id.Artifact      `json:"artifact_id"`
	Revision  *id.Revision     `json:"revision_id"`
	CreatedAt idempotency.Time `json:"created_at"`
	Comments  *bool            `json:"comments,omitempty"` // nil: the request did not say
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
