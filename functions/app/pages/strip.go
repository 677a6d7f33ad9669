package pages

// Strip says which revision a viewer shows, and leads to others. The script of the viewer for links fills its zero
// value.
type Strip struct {
	Artifact      string
	Revision      string // on show
	Newest        string
	Number, Count int    // of the revision on show and of the newest; 0: not known
	Older, Newer  string // revisions beside the one on show; empty: none
	Follows       bool   // the newest revision is on show
	Compare       string // path that compares it with the one before; empty: there is none
}

// Strip returns the strip of a page that its script fills.
func (Viewer) Strip() Strip { return Strip{} }
