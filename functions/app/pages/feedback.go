package pages

import (
	"slices"
	"strings"
	"time"
)

// Feedback is what people and agents wrote about an artifact, with the forms of a member who may write.
type Feedback struct {
	Artifact                  string
	Revision                  string // that a new thread is about
	Seq                       int64  // of the newest change
	Count                     int    // of open threads
	Open, Addressed, Resolved []Thread
	More                      bool     // there are more threads than these
	Unread                    bool     // the threads could not be read
	Writes                    bool     // the member may write
	Viewer                    bool     // it stands in the viewer
	Shown                     bool     // the viewer opens with it
	Files                     []string // that may be written about; there may be others
	Draft                     Draft
}

// Empty reports whether no thread is shown.
func (f Feedback) Empty() bool { return len(f.Open)+len(f.Addressed)+len(f.Resolved) == 0 }

// Draft is what a form has, as it was sent if it is shown again.
type Draft struct {
	Once                  string
	Body                  string
	About                 string // one of Abouts
	Path, From, To, Quote string
	Revision              string
	Error                 string // why it was not taken; empty: it was not sent
}

// Abouts are what a thread may be about, by the kind of its anchor.
var Abouts = []Choice{{"artifact", "this artifact"}, {"file", "a file"}, {"lines", "lines"}, {"text", "a quote"}}

// Abouts returns the choices of the form.
func (Feedback) Abouts() []Choice { return Abouts }

// Thread is one remark with its replies.
type Thread struct {
	Artifact, ID string
	State        string // open, addressed or resolved
	About        string // one of Abouts
	Path         string
	From, To     int
	Quote        string
	Unproven     bool   // the quote may be made by a script
	Newest       bool   // it is about the newest revision
	Open         string // path of the viewer, at what it is about
	Said         []Said
	Hidden       int          // how many messages are left out after the first
	Addressed    *AddressedBy // nil: no revision says that it has dealt with it
	Whole        bool         // it stands on a page of its own
	Viewer       string       // revision on show in the viewer that it stands in; empty: in none
	Writes       bool
	Once         string
	Draft        Draft
}

// Page returns the path of the page of the thread.
func (t Thread) Page() string { return "/artifacts/" + t.Artifact + "/feedback/" + t.ID }

// Lines are the lines of what authors wrote in the thread, and of what they wrote about.
func (t Thread) Lines() (all []string) {
	texts := []string{t.Path, t.Quote}
	for _, s := range t.Said {
		texts = append(texts, s.Text)
	}
	for _, text := range texts {
		if text != "" {
			all = append(all, strings.Split(Visible(text), "\n")...)
		}
	}
	return all
}

// Cut reports whether messages are left out, or parts of them.
func (t Thread) Cut() bool {
	return t.Hidden > 0 || slices.ContainsFunc(t.Said, func(s Said) bool { return s.Cut })
}

// Said is what an author wrote.
type Said struct {
	Author  string
	Agent   bool
	Text    string
	Cut     bool // there is more
	Deleted bool // its author took it back
	At      time.Time
}

// AddressedBy is a revision that says that it has dealt with a thread. Its note is in Text.
type AddressedBy struct {
	Number int
	Open   string // path of the viewer
	Said
}

// Inbox lists the artifacts that have open threads.
type Inbox struct {
	Layout
	Items []Discussed
	Pages
}

// Discussed is an artifact with open threads.
type Discussed struct {
	ID, Title string
	Open      int       // threads
	At        time.Time // of the last change of one
}

// FeedbackPage lists the threads of an artifact.
type FeedbackPage struct {
	Layout
	Title string
	State string // of the threads
	Feedback
	Pages
}

// States are the states of threads that the page offers.
func (FeedbackPage) States() []Choice {
	return []Choice{{"", "Open"}, {"addressed", "Addressed"}, {"resolved", "Resolved"}}
}

// Chosen returns which of States it is.
func (p FeedbackPage) Chosen() string {
	if p.State == "open" {
		return ""
	}
	return p.State
}

// ThreadPage shows a thread with all of its messages.
type ThreadPage struct {
	Layout
	Title  string
	Thread Thread
	Pages
}

func (Inbox) template() string        { return "inbox.html" }
func (FeedbackPage) template() string { return "feedback.html" }
func (ThreadPage) template() string   { return "thread.html" }
