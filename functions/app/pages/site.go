package pages

import "cmp"

// Site is what all pages of a deployment have in common.
type Site struct {
	Name  string // empty: Vitrine
	Logo  string // path of an image that replaces the mark; empty: the mark
	Style string // path of a style sheet with the accent; empty: none

	Contact        Link   // where people ask, as they read it; empty: nowhere
	Terms, Privacy string // URLs; empty: none
	Deleted        string // a sentence on who can still reach what was deleted

	NoReports bool // no page offers the form for reports of abuse
}

func (s Site) named() Site {
	s.Name = cmp.Or(s.Name, "Vitrine")
	return s
}

// Links returns what pages end with.
func (s Site) Links() (links []Link) {
	for _, l := range []Link{{s.Contact.Path, "Contact"}, {s.Terms, "Terms"}, {s.Privacy, "Privacy"}} {
		if l.Path != "" {
			links = append(links, l)
		}
	}
	return links
}
