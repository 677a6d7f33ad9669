package pages

import (
	"encoding/json"
	"time"
)

// Panel is what a viewer offers beside an artifact.
type Panel struct {
	Files   []File // a page of them
	Count   int    // of all files
	Total   int64  // size of all files
	Next    string // the next page of files: its address or, of a link, its cursor; empty: there is none
	First   string // address of the first page of files; empty: this is it
	Bundle  Bundle
	Address string // of the page, to be passed on; with the secret of a link
	APIURL  string
}

// QR returns the code of the address.
func (p Panel) QR() (*QR, error) { return DrawQR(p.Address) }

// File is a file of a revision.
type File struct {
	Path, URL string
	Kind      string // in plain words
	Size      int64
	Shown     bool // the viewer shows this file
}

// Bundle is the archive of all files of a revision. Its zero value is left out.
type Bundle struct {
	State      string // as in the contract: pending, ready, failed, disabled
	URL        string // of a ready one
	Size       int64
	RetryAfter time.Duration // of a pending one
}

// RetrySeconds returns RetryAfter for scripts.
func (b Bundle) RetrySeconds() int { return int(b.RetryAfter / time.Second) }

// Shown is the file that a viewer shows, or offers where browsers show none of its kind.
type Shown struct {
	Entrypoint, Source string
	Own                string // Source at the own origin of the artifact; empty: none shows it
	App                bool   // at Own it chooses by any path what it shows
	Framed             bool   // browsers show the entrypoint in a frame
	Shared             bool   // people see it who may not know who made it
}

// Opened is the viewer of an access link for browsers without scripts: the server renders what the link opens.
type Opened struct {
	Panel
	PublicID, Blob string
	Revision       string // id of the shown one
	Title          string
	Mode           string // how it is shown
	Shown
	CreatedAt, ExpiresAt time.Time
	Kept                 bool // it does not end at ExpiresAt
}

// Kinds returns what the pages call files as JSON, so that the script of the viewer uses the same words.
func (Viewer) Kinds() (string, error) {
	b, err := json.Marshal(kinds)
	return string(b), err
}

// What the panel of an access link has before the script fills it.

// Bundle returns an archive that is not known yet.
func (Viewer) Bundle() Bundle { return Bundle{} }

// Blob returns no secret, because the server does not have it.
func (Viewer) Blob() string { return "" }

// Address returns no address, because the secret is a part of it.
func (Viewer) Address() string { return "" }

// QR returns no code, because the address is not known.
func (Viewer) QR() *QR { return nil }
