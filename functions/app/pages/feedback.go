package pages

import (
	"slices"
	"strings"
	"time"
)

// Feedback is what people and agents wrote about an artifact, with the forms of a member who may write.
type Feedback struct {
	Artifact                  string
	Revision                  string   // that a new thread is about
	Seq, HeldSeq              int64    // of the newest change, and of what a guest wrote last
	Count                     int      // of open threads
	Held                      int      // how much of what guests wrote waits
	Waiting                   []Thread // what guests wrote, for a member to let through
	Open, Addressed, Resolved []Thread
	More                      bool     // there are more threads than these
	Unread                    bool     // the threads could not be read
	Writes                    bool     // the member may write
	Viewer                    bool     // it stands in the viewer
	Shown                     bool     // the viewer opens with it
	Files                     []string // that may be written about; there may be others
	Draft                     Draft
	Acted                     *Acted          // what a form did to several threads; nil: none was sent
	Policy                    *FeedbackPolicy // on the page of the artifact; nil: the member may not change it
}

// Empty reports whether no thread is shown.
func (f Feedback) Empty() bool {
	return len(f.Waiting)+len(f.Open)+len(f.Addressed)+len(f.Resolved) == 0
}

// Bulk returns the form that acts on the chosen ones of some threads; its zero value where none can be chosen.
func (f Feedback) Bulk(threads []Thread) Bulk {
	if len(threads) == 0 || threads[0].Choice == "" {
		return Bulk{}
	}
	return Bulk{
		Form:     threads[0].Choice,
		Artifact: f.Artifact,
		Once:     f.Draft.Once,
	}
}

// Bulk is a form below a list of threads.
type Bulk struct{ Form, Artifact, Once string }

// The forms that act on several threads, by their elements.
const (
	ChooseOpen = "chosen"
	ChooseHeld = "chosen-held"
)

// Held reports whether the form is about what guests wrote.
func (b Bulk) Held() bool { return b.Form == ChooseHeld }

// Acted is what a form did to threads.
type Acted struct {
	Done   int
	Words  string // for what was done to these
	Failed []Failed
}

// Failed is a thread to which it was not done.
type Failed struct {
	Thread // its zero value: it is not shown any more
	Why    string
}

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
	State        string // open, addressed, resolved or, of what waits for a member, held
	About        string // one of Abouts
	Path         string
	From, To     int
	Quote        string
	Unproven     bool   // the quote may be made by a script
	Newest       bool   // it is about the newest revision
	Reply        bool   // what is held replies in a thread
	Seen         int64  // the number of the last thing on show that is held
	Choice       string // the form by which it is chosen; empty: it cannot be
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

// Element returns the id of its element. A thread may stand beside replies to it that are held.
func (t Thread) Element() string {
	if t.State == "held" {
		return "held-" + t.ID
	}
	return t.ID
}

// By returns who wrote what is shown first.
func (t Thread) By() string {
	if len(t.Said) == 0 {
		return ""
	}
	return t.Said[0].Author
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
	Guest   bool
	Text    string
	Cut     bool // there is more
	Deleted bool // its author took it back
	At      time.Time
	Remove  string // path of the question whether to delete it; empty: another one wrote it
}

// AddressedBy is a revision that says that it has dealt with a thread. Its note is in Text.
type AddressedBy struct {
	Number int
	Open   string // path of the viewer
	Said
}

// Inbox lists the artifacts that have open threads, or on which guests wrote what waits.
type Inbox struct {
	Layout
	Items []Discussed
	Pages
}

// Discussed is an artifact in the inbox.
type Discussed struct {
	ID, Title string
	Open      int       // threads
	Waiting   int       // how much of what guests wrote waits
	At        time.Time // of the last change of one
}

// FeedbackPolicy is the form of who may write about an artifact, and what becomes of it.
type FeedbackPolicy struct {
	Who           string // one of Writers
	AtOnce        bool   // what guests write does not wait for a member
	AgentsResolve bool
	Error         string // why it was not taken; empty: it was not sent
}

// Who may write.
const (
	NobodyWrites  = "off"
	MembersWrite  = "members"
	LinksWrite    = "links"
	AtOnce        = "at_once" // what guests write reaches agents then
	WaitForMember = "held"
)

// writers are the choices of who may write.
var writers = []Choice{
	{NobodyWrites, "Nobody begins threads; those that exist go on"}, {MembersWrite, "Members and agents of the workspace"},
	{LinksWrite, "They, and people with a share link that takes feedback"},
}

// Writers returns the choices of who may write.
func (FeedbackPolicy) Writers() []Choice { return writers }

// Guests returns the choices of what becomes of what guests write.
func (FeedbackPolicy) Guests() []Choice {
	return []Choice{{WaitForMember, "It waits until a member lets it through"}, {AtOnce, "It reaches agents at once"}}
}

// Chosen returns which of Guests it is.
func (p FeedbackPolicy) Chosen() string {
	if p.AtOnce {
		return AtOnce
	}
	return WaitForMember
}

// Known reports whether Who is one of the choices.
func (p FeedbackPolicy) Known() bool {
	return slices.ContainsFunc(writers, func(c Choice) bool { return c.Code == p.Who })
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
