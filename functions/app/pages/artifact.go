package pages

import (
	"slices"
	"time"
)

// ArtifactPage is one artifact and all that a member may do with it.
type ArtifactPage struct {
	Layout
	Artifact
	Entrypoint string
	Files      int
	Size       int64
	Source     string // of the frame and of the link; empty: there is nothing to show
	Framed     bool   // browsers show the entrypoint in a frame
	Revisions  []Revision
	Links      []AccessLink
	Pages      // of Links
	// Linked and Following tell of links on other pages: there may be some that are not over, and one is a share link
	// that works.
	Linked, Following bool
	Once              string
	Name              string // the title as it was typed
	Error             string // what is wrong with it
}

// Open tells whether somebody without an account can see the artifact now, as far as is known.
func (e ArtifactPage) Open() bool { return e.Linked || slices.ContainsFunc(e.Links, AccessLink.Live) }

// Shared tells whether it has a share link that works, or would without the lock.
func (e ArtifactPage) Shared() bool {
	return e.Following || slices.ContainsFunc(e.Links, func(l AccessLink) bool { return l.Share && !l.Over() })
}

// Restorable tells whether one of its revisions can be published again.
func (e ArtifactPage) Restorable() bool {
	return slices.ContainsFunc(e.Revisions, func(r Revision) bool { return r.Restore != "" })
}

// Closable tells whether it has links that are not over, as far as is known.
func (e ArtifactPage) Closable() bool {
	return e.Linked || slices.ContainsFunc(e.Links, func(l AccessLink) bool { return !l.Over() })
}

// Revision is a state of an artifact.
type Revision struct {
	ID, State string
	Number    int // 0: it has none yet
	Newest    bool
	Open      string // path of the viewer; empty: there is nothing to see
	Restore   string // where it is published again; empty: it cannot be
	At        time.Time
	Files     int
	Size      int64
}

// The states of an access link. The first three are over for good.
const (
	Revoked = "Revoked"
	Expired = "Expired"
	Ended   = "Ended" // with its artifact
	Locked  = "Locked"
	Live    = "Live"
)

// AccessLink is a link that lets people without an account see an artifact.
type AccessLink struct {
	ID, Public        string
	Artifact, Title   string // Title: empty where the page names the artifact itself, or when it is not known
	Share             bool   // it follows the newest revision
	Revision          string // else it shows this one
	Number            int    // of Revision; 0: not known
	State             string
	CreatedAt         time.Time
	EndsAt, RevokedAt time.Time // zero: never
	With              bool      // it ends at EndsAt with its artifact, not before
}

// Live tells whether the link opens something.
func (l AccessLink) Live() bool { return l.State == Live }

// Over tells whether the link never opens anything again.
func (l AccessLink) Over() bool { return l.State == Revoked || l.State == Expired || l.State == Ended }

// Path is where a link is acted on.
func (l AccessLink) Path() string { return "/artifacts/" + l.Artifact + "/links/" + l.ID }

// AccessLinks are links of a workspace.
type AccessLinks struct {
	Layout
	Items []AccessLink
	Pages
}

// Address is the address of an access link with its secret, shown this once.
type Address struct {
	Layout
	Artifact string
	Link     AccessLink
	URL      string
	Until    time.Time // when the address stops, at the latest
	Known    bool      // the artifact had this link before somebody asked for one
}

// Private is the viewer for members: the whole page is an artifact.
type Private struct {
	Workspace            string
	ID, Title            string
	Older                string // the revision on show, if it is not the newest one
	Entrypoint, Source   string
	Framed               bool // browsers show the entrypoint in a frame
	ContentOrigin        string
	Files                []File
	CreatedAt, ExpiresAt time.Time // ExpiresAt zero: not while it is pinned
}

// File is a file of a revision.
type File struct {
	Path, URL string
	Size      int64
	Shown     bool // it is what the viewer shows
}

func (ArtifactPage) template() string { return "artifact.html" }
func (AccessLinks) template() string  { return "links.html" }
func (Address) template() string      { return "address.html" }
func (Private) template() string      { return "private.html" }
