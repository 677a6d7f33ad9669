package pages

import (
	"fmt"
	"slices"
)

// Count is how many artifacts there are. More reports that there may be more than N.
type Count struct {
	N    int
	More bool
}

// String formats the count: 1,234, or 10,000+ where there may be more.
func (c Count) String() string {
	text := fmt.Sprint(c.N)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if c.More {
		text += "+"
	}
	return text
}

// Counts are the artifacts of a workspace in numbers.
type Counts struct{ All, Published, Expiring Count }

// Search is what is asked of the list of artifacts, as the form shows it again.
type Search struct {
	Title string
	State string // one of States; empty: every state
	Kind  string // one of Kinds; empty: every kind
	Order string // one of Orders; empty: as they were made, newest first
}

// The choices of a Search.
var (
	States = []Choice{
		{"", "Any state"}, {"published", "Published"}, {"pinned", "Pinned"}, {"draft", "Draft"},
		{"expired", "Expired"}, {"deleted", "Deleted"},
	}
	Orders = []Choice{
		{"", "Newest first"}, {"published", "Last published"}, {"title", "Title"}, {"size", "Size"}, {"expiry", "Expiry"},
	}
	Kinds = kindChoices()
)

// kindChoices returns the names of kinds in alphabetical order.
func kindChoices() []Choice {
	var names []string
	for _, name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	out := []Choice{{"", "Any kind"}}
	for _, name := range slices.Compact(names) {
		out = append(out, Choice{name, name})
	}
	return out
}

// Field is a field of the form with its options.
type Field struct {
	Name, Label, Chosen string
	Of                  []Choice
}

// Fields returns the fields of the form beside the title.
func (s Search) Fields() []Field {
	return []Field{
		{
			Name:   "state",
			Label:  "State",
			Chosen: s.State,
			Of:     States,
		},
		{
			Name:   "kind",
			Label:  "Kind",
			Chosen: s.Kind,
			Of:     Kinds,
		},
		{
			Name:   "sort",
			Label:  "Order",
			Chosen: s.Order,
			Of:     Orders,
		},
	}
}

// Artifacts is one page of the list, or of what a search found.
type Artifacts struct {
	Layout
	APIURL string
	AppURL string
	Connect
	Items []Artifact
	Pages
	Counts *Counts // nil: not counted
	Search
	Searched bool // the list is what a search found
	Found    int  // by the search, on all pages
	Looked   int  // at how many of the newest artifacts the search looked; 0: at all
	AllURL   string
	Chosen   bool // the boxes of all items are checked
}

// Choosable reports whether something can be done to some of the items.
func (a Artifacts) Choosable() bool {
	return slices.ContainsFunc(a.Items, func(one Artifact) bool { return !one.Ended() })
}

// Selection asks before something is done to several artifacts.
type Selection struct {
	Layout
	Heading, Text string // the number of artifacts follows Heading
	Items         []Artifact
	Missing       int // artifacts that were chosen and have ended
	Do, Button    string
	Danger        bool
	Back, Once    string
}

// Outcomes says what was done to each of several artifacts.
type Outcomes struct {
	Layout
	Items  []Outcome
	Failed bool // some were not changed
}

// Outcome is what was done to an artifact, or why it was not.
type Outcome struct {
	Artifact
	Text   string
	Failed bool
}

func (Artifacts) template() string { return "artifacts.html" }
func (Selection) template() string { return "selection.html" }
func (Outcomes) template() string  { return "outcomes.html" }
