package pages

import (
	"slices"
	"time"
)

// ArtifactPage shows one artifact and all that a member may do with it.
type ArtifactPage struct {
	Layout
	Artifact
	Entrypoint string
	Files      int
	Size       int64
	Source     string // URL of the frame and of the link; empty: no content can be shown
	Bundle     Bundle
	Listing    bool         // it opens with the list of its files, not the entrypoint
	Framed     bool         // browsers show it in a frame
	Newest     string       // id of the revision on show; empty: none
	Warned     []WarnedFile // the worst first
	Unshown    int          // how many more warnings there are
	Revisions  []Revision
	Links      []AccessLink
	Pages      // of Links
	// RevisionPages leads to the other pages of Revisions.
	RevisionPages Pages
	// Linked and Following describe links on other pages: Linked that some may not be over, Following that one is a share
	// link that works.
	Linked, Following bool
	Upload            *Upload  // nil: no revision can be published
	Feedback          Feedback // with the open threads
	APIURL            string
	Once              string
	Name              string // the title as it was typed
	Error             string // what is wrong with it
}

// WarnedFile is a file of an artifact in which something will not work.
type WarnedFile struct {
	Path     string
	Warnings []Warning
}

// Warning is what will not work in a file, and what to do.
type Warning struct {
	Severity string // Error, Warning or Hint
	Line     int    // 0: the file as a whole
	Text     string
}

// Open reports whether visitors without an account can see the artifact now, as far as is known.
func (p ArtifactPage) Open() bool { return p.Linked || slices.ContainsFunc(p.Links, AccessLink.Live) }

// Shared reports whether it has a share link that works, or would without the lock.
func (p ArtifactPage) Shared() bool {
	return p.Following || slices.ContainsFunc(p.Links, func(l AccessLink) bool { return l.Share && !l.Over() })
}

// Commentable returns the share link if it works and is listed here; nil otherwise.
func (p ArtifactPage) Commentable() *AccessLink {
	for _, l := range p.Links {
		if l.Share && l.Live() {
			return &l
		}
	}
	return nil
}

// Restorable reports whether one of its revisions can be published again.
func (p ArtifactPage) Restorable() bool {
	return slices.ContainsFunc(p.Revisions, func(r Revision) bool { return r.Restore != "" })
}

// Closable reports whether it has links that are not over, as far as is known.
func (p ArtifactPage) Closable() bool {
	return p.Linked || slices.ContainsFunc(p.Links, func(l AccessLink) bool { return !l.Over() })
}

// Revision is a revision of an artifact.
type Revision struct {
	ID, State string
	Number    int // 0: not numbered yet
	Newest    bool
	Open      string // path of the viewer; empty: no content can be shown
	Restore   string // path that publishes it again; empty: it cannot be
	Compare   string // path that compares it with the one before; empty: there is none
	At        time.Time
	Files     int
	Size      int64
}

// States of an access link. The first three are final.
const (
	Revoked = "Revoked"
	Expired = "Expired"
	Ended   = "Ended" // with its artifact
	Locked  = "Locked"
	Live    = "Live"
)

// AccessLink is a link that lets visitors without an account see an artifact.
type AccessLink struct {
	ID, Public        string
	Artifact, Title   string // Title is empty where the page names the artifact itself, or when it is not known
	Share             bool   // it follows the newest revision
	Revision          string // otherwise it shows this revision
	Number            int    // of Revision; 0: not known
	State             string
	CreatedAt         time.Time
	EndsAt, RevokedAt time.Time // zero: never
	With              bool      // it ends at EndsAt because its artifact does
	Comments          bool      // people who have it may write feedback
}

// Live reports whether the link works.
func (l AccessLink) Live() bool { return l.State == Live }

// Over reports whether the link will never work again.
func (l AccessLink) Over() bool { return l.State == Revoked || l.State == Expired || l.State == Ended }

// Path returns the path for actions on the link.
func (l AccessLink) Path() string { return "/artifacts/" + l.Artifact + "/links/" + l.ID }

// AccessLinks are links of a workspace.
type AccessLinks struct {
	Layout
	Items []AccessLink
	Pages
}

// Address is an access link with its secret.
type Address struct {
	Layout
	Artifact string
	Link     AccessLink
	URL      string
	Known    bool // the artifact had this link before this request
}

// Private is the viewer for members. The artifact fills the page.
type Private struct {
	Panel
	Strip     Strip
	Feedback  Feedback
	Workspace string
	ID, Title string
	Revision  string // id of the shown one
	Older     string // the same, if it is not the newest one
	Shown
	Scripts       bool // scripts of its pages run
	ContentOrigin string
	OwnOrigins    string // pattern with * in place of the label; empty: artifacts have no origins of their own
	Pace
	MCPURL               string     // empty: there is no MCP host
	Revisions            []Revision // that can be shown, newest first
	More                 bool       // Revisions are not all
	CreatedAt, ExpiresAt time.Time  // ExpiresAt is zero if it does not expire
	Pinned               bool
}

// Size returns the size of the file on show; 0 for a list of files.
func (p Private) Size() (n int64) {
	for _, f := range p.Files {
		if f.Shown {
			n = f.Size
		}
	}
	return n
}

func (ArtifactPage) template() string { return "artifact.html" }
func (AccessLinks) template() string  { return "links.html" }
func (Address) template() string      { return "address.html" }
func (Private) template() string      { return "private.html" }
func (Opened) template() string       { return "opened.html" }
