// Package artifact implements the rules of artifacts and their revisions: publish, read, list and delete.
package artifact

import (
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

// Status is the state of an artifact. ExpiresAt decides whether it has expired, because the status follows later.
type Status string

// The states of an artifact.
const (
	Live    Status = "active"
	Deleted Status = "deleted"
	Expired Status = "expired"
)

// Artifact is the metadata item of an artifact. Every read and write consults it.
type Artifact struct {
	ID               id.Artifact
	Owner            id.Workspace
	ClaimedFrom      id.Workspace // the claimed workspace that its stored item still names as owner; empty: none
	StorageWorkspace id.Workspace // under whose id its bytes are stored; never changes
	Status           Status
	ExpiresAt        time.Time
	PinnedAt         time.Time   // zero: not pinned
	Lock             id.Lockdown // operator lockdown; empty: none
	LockedAt         time.Time
	LinksLockedAt    time.Time   // when members locked its links; zero: not locked
	Current          id.Revision // empty until the first publication
	Number           int         // of the newest published revision
	Draft            id.Revision // empty: none
	DraftAt          time.Time

	ShareLink          id.Public // the share link; empty: none
	ShareLinkUntil     time.Time // when it ends by itself; zero: never
	NewestLinkAt       time.Time // when the newest link was made; zero: none, or not known
	LinksRevokedBefore time.Time // all links made up to then are revoked; zero: none
	// ViewsRevokedBefore is the number of the newest revision when links were last closed. It is zero if they were not, or
	// if older code closed them.
	ViewsRevokedBefore int

	Title      string
	Entrypoint string
	App        App
	FileCount  int
	Size       int64

	CreatedAt   time.Time
	UpdatedAt   time.Time
	PublishedAt time.Time // of the newest revision; zero: none, or not known
	DeletedAt   time.Time
}

// Lasts reports whether the artifact does not expire: it is pinned, or has no end.
func (a *Artifact) Lasts() bool { return !a.PinnedAt.IsZero() || !limits.Ends(a.ExpiresAt) }

// Active reports whether the artifact is neither deleted nor expired at an instant.
func (a *Artifact) Active(now time.Time) bool {
	return a != nil && a.Status == Live && (a.Lasts() || now.Before(a.ExpiresAt))
}

// Readable reports whether content of the artifact may be shown at an instant.
func (a *Artifact) Readable(now time.Time) bool { return a.Active(now) && a.Lock == "" }

// Shared returns the share link, or "" if there is none or it has ended by itself at an instant.
func (a *Artifact) Shared(now time.Time) id.Public {
	if !a.ShareLinkUntil.IsZero() && !now.Before(a.ShareLinkUntil) {
		return ""
	}
	return a.ShareLink
}

// Linked reports whether a link was made since all were last closed. That link may have ended by itself.
func (a *Artifact) Linked() bool {
	return a.ShareLink != "" || !a.NewestLinkAt.IsZero() && a.LinksRevokedBefore.Before(a.NewestLinkAt)
}

// LinksOpen reports whether links that were made at an instant are neither locked nor closed.
func (a *Artifact) LinksOpen(made time.Time) bool {
	return a.LinksLockedAt.IsZero() && (a.LinksRevokedBefore.IsZero() || made.After(a.LinksRevokedBefore))
}

// ViewOpen reports whether the public view of a published revision may be shown: links are not locked, and were not
// closed since the revision was published. It compares numbers of revisions where it can, because clocks of hosts
// differ.
func (a *Artifact) ViewOpen(r Revision) bool {
	switch {
	case !a.LinksLockedAt.IsZero():
		return false
	case a.ViewsRevokedBefore > 0:
		return r.Number > a.ViewsRevokedBefore
	}
	return a.LinksRevokedBefore.IsZero() || r.PublishedAt.After(a.LinksRevokedBefore)
}

// Shown returns the current revision with the fields that the artifact's own item has.
func (a *Artifact) Shown() Revision {
	return Revision{
		ID:          a.Current,
		Artifact:    a.ID,
		Status:      Published,
		Number:      a.Number,
		Entrypoint:  a.Entrypoint,
		App:         a.App,
		FileCount:   a.FileCount,
		PublishedAt: a.PublishedAt,
	}
}

// NextLink returns the creation time of a link that is made now. However clocks differ, it is after the last closing,
// so that the link is not closed already. It is never before that of an earlier link, so that the next closing covers
// both.
func (a *Artifact) NextLink(now time.Time) time.Time {
	at := now.UTC().Truncate(time.Millisecond)
	if !a.LinksRevokedBefore.IsZero() && !at.After(a.LinksRevokedBefore) {
		at = a.LinksRevokedBefore.Add(time.Millisecond)
	}
	if at.Before(a.NewestLinkAt) {
		at = a.NewestLinkAt
	}
	return at
}

// NotFound returns the refusal of an artifact that the caller's workspace does not have.
func NotFound() error {
	return fault.New(fault.ArtifactNotFound, "no such artifact in this workspace, or it is deleted or expired")
}

// Contended returns the refusal of a change whose attempts all lost a race.
func Contended() error {
	return fault.New(fault.DatabaseUnavailable, "the artifact keeps changing; repeat the request in a moment")
}

// RevisionStatus is the state of a revision.
type RevisionStatus string

// The states of a revision.
const (
	Draft     RevisionStatus = "draft"
	Published RevisionStatus = "published"
	Retained  RevisionStatus = "retained" // its bytes are gone
)

// Revision is one published or drafted tree of an artifact.
type Revision struct {
	ID               id.Revision
	Artifact         id.Artifact
	Status           RevisionStatus
	Number           int         // zero while it is a draft
	Source           id.Revision // the one that it restored; empty: it was a draft
	Session          id.Session  // the one that uploaded it; empty: it was restored, or older code stored it
	Title            string
	Entrypoint       string
	EntrypointExists bool // among the files
	Listing          bool // the viewer opens the list of files, and not the entrypoint
	App              App
	Mode             media.Mode
	FileCount        int
	Size             int64
	CreatedAt        time.Time
	PublishedAt      time.Time
	Bundle           Bundle
	Warnings         lint.Report // findings in its pages when it was made, as many as could be stored
}

// App tells whether a revision is an app of one page, which chooses by the path what it shows. At the own origin of an
// artifact its entrypoint then answers for paths that no file has.
type App string

// The values of App. What a publisher says lasts over later revisions.
const (
	NoApp       App = "" // its pages do not look like one
	FoundApp    App = "found"
	DeclaredApp App = "yes"
	DeclinedApp App = "no"
)

// AppOf returns the value of what a publisher says; nil: nothing.
func AppOf(said *bool) App {
	switch {
	case said == nil:
		return NoApp
	case *said:
		return DeclaredApp
	}
	return DeclinedApp
}

// Is reports whether the revision is an app.
func (a App) Is() bool { return a == FoundApp || a == DeclaredApp }

// Said reports whether the publisher has said what it is.
func (a App) Said() bool { return a == DeclaredApp || a == DeclinedApp }

// Keeps reports whether what a publisher says, or does not say, leaves a revision as it is.
func (a App) Keeps(of App) bool { return !a.Said() || a.Is() == of.Is() }

// Frame returns the URL that a viewer frames: the list of the files, or the entrypoint as its kind is shown.
func (r Revision) Frame(at address.Location) string {
	if r.Listing {
		return at.Folder("")
	}
	return at.Of(r.Entrypoint).Frame()
}

// WarningsFor returns the findings that apply under a policy.
func (r Revision) WarningsFor(p limits.Policy) lint.Report { return r.Warnings.Under(p.Scripts) }

// Contents is a revision with its files.
type Contents struct {
	Revision Revision
	Tree     tree.Tree
}
