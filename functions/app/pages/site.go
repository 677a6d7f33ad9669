package pages

import (
	"cmp"
	"strings"
)

// Site is what all pages of a deployment have in common.
type Site struct {
	Name  string // empty: Vitrine
	Logo  string // path of an image that replaces the mark; empty: the mark
	Style string // path of a style sheet with the accent; empty: none

	// URLs of pages elsewhere, and of a mailbox; empty: none.
	Contact, Terms, Privacy string

	NoReports bool // no page offers the form for reports of abuse
}

func (s Site) named() Site {
	s.Name = cmp.Or(s.Name, "Vitrine")
	return s
}

// Reach returns where people ask, as they read it; empty: nowhere.
func (s Site) Reach() string {
	_, shown, _ := strings.Cut(s.Contact, ":")
	shown, _, _ = strings.Cut(strings.TrimPrefix(shown, "//"), "?")
	return strings.TrimSuffix(shown, "/")
}

// Links returns what pages end with.
func (s Site) Links() (links []Link) {
	for _, l := range []Link{{s.Contact, "Contact"}, {s.Terms, "Terms"}, {s.Privacy, "Privacy"}} {
		if l.Path != "" {
			links = append(links, l)
		}
	}
	return links
}
