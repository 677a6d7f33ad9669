package pages

import "time"

// Layout is the frame around the pages of a member.
type Layout struct {
	Workspace, Email string
	// Here is the path of the current section. It is empty on pages that ask one question and have no navigation.
	Here string
	// Sells and Operates say that there are pages about the plan, and pages of operators for this member.
	Sells, Operates bool
}

// section is an entry of the navigation.
type section struct {
	Path, Name string
	Here       bool
}

// Sections returns the navigation; nil where there is none.
func (l Layout) Sections() []section {
	if l.Here == "" {
		return nil
	}
	all := []section{
		{Path: "/dashboard", Name: "Overview"},
		{Path: "/artifacts", Name: "Artifacts"},
		{Path: "/feedback", Name: "Feedback"},
		{Path: "/access-links", Name: "Access links"},
		{Path: "/keys", Name: "API keys"},
		{Path: "/connections", Name: "Connections"},
		{Path: "/audit", Name: "Audit log"},
		{Path: "/settings", Name: "Workspace"},
	}
	if l.Sells {
		all = append(all, section{Path: "/billing", Name: "Billing"})
	}
	if l.Operates {
		all = append(all, section{Path: "/admin", Name: "Operators"})
	}
	for i := range all {
		all[i].Here = all[i].Path == l.Here
	}
	return all
}

// Pages links a page of a list to its other pages.
type Pages struct {
	Of    string // what the list contains, where a page has several lists
	First string // path of the first page; empty: this is it
	Next  string // path of the next page; empty: this is the last
	// Ranked reports that the list has another order than the newest first.
	Ranked bool
}

// Artifact is a row of a list.
type Artifact struct {
	ID, Title, Status string
	Kind              string    // what people call its entrypoint; empty: not known
	Size              int64     // bytes of all its files
	Pinned, Locked    bool      // Locked: none of its access links works
	PublishedAt       time.Time // zero: never
	ExpiresAt         time.Time // zero: it does not expire
}

// Ended reports whether the artifact can no longer be viewed.
func (a Artifact) Ended() bool { return a.Status == "Expired" || a.Status == "Deleted" }

// Limits are the limits of a workspace; sizes are bytes.
type Limits struct {
	PerDay, Files            int
	FileSize, ArtifactSize   int64
	DefaultLife, LongestLife time.Duration // zero: artifacts do not expire
	PerMinute                int
	Pins                     int
	Revisions                int // of an artifact
}

// Overview is the first page of a member.
type Overview struct {
	Layout
	APIURL string
	AppURL string
	Connect
	Recent []Artifact
	Limits Limits
	Counts *Counts // nil: they could not be counted
	// Discussed is how many artifacts have open threads, or what waits for a member; empty: it is not known.
	Discussed string
	Left      *int      // new artifacts that may be published today; nil: not known
	Due       *Standing // of a subscription that needs attention; nil: of none
	Upload    *Upload   // nil: the member may not publish
	Recorded
}

// Key is an API key, without its secret.
type Key struct {
	ID, Public, Name  string
	Scopes            []string
	CreatedAt, UsedAt time.Time
	ExpiresAt         time.Time
	Revoked           bool
	RevokedAt         time.Time
}

// KeyLives are the days after which a new key expires.
var KeyLives = []Choice{{"", "Never"}, {"7", "In 7 days"}, {"30", "In 30 days"}, {"90", "In 90 days"}, {"365", "In a year"}}

// Keys lists the live API keys of a workspace and creates new ones, or lists those that have ended.
type Keys struct {
	Layout
	APIURL string
	Ended  bool          // the list shows ended keys
	Kept   time.Duration // how long ended keys are listed
	Items  []Key
	Pages
	Made  *Made
	Once  string
	Lives []Choice
	Name  string // as it was typed
	Error string // what is wrong with it
}

// Made shows a new key with its secret, this once.
type Made struct {
	Key
	Secret string
}

// Agent is a connected agent.
type Agent struct {
	ID, Network                      string
	RegisteredAt, ApprovedAt, EndsAt time.Time
}

// App is an OAuth client with a grant of the member.
type App struct {
	ID, Name, Audience string
	DescribedAt        string // host of its metadata document; empty: it has none
	Scopes             []string
	AllowedAt, EndsAt  time.Time
}

// Linked is a provider that lets agents in for a person.
type Linked struct {
	ID, Name, Host string
	Address        string // of the person at the provider
	Rights         []string
	Since, SeenAt  time.Time
}

// Connections lists the agents, providers of agents and apps that may act in a workspace.
type Connections struct {
	Layout
	APIURL      string
	Agents      []Agent
	AgentPages  Pages
	Linked      []Linked
	LinkedPages Pages
	Apps        []App
	AppPages    Pages
}

// Settings shows the workspace, the member and the session.
type Settings struct {
	Layout
	ID, Member         string
	CreatedAt          time.Time
	Scopes             []string
	Limits             Limits
	SignedInAt, EndsAt time.Time
	SeenAt             time.Time
	Browser, Network   string
	Others             []Session
	Change             *Change // nil: the member may not change them
	Export             *Export // nil: the member may not ask for one
}

// Session is another browser where the member is signed in.
type Session struct {
	Name, Browser, Network string
	Since, SeenAt          time.Time
}

// Change is the form for the settings of a workspace.
type Change struct {
	Once, Name  string
	Days        string // the default lifetime of new artifacts
	Lasting     bool   // they do not expire instead
	Least, Most int    // of Days; Most is zero if artifacts need not expire
	Wrong       string // the field that Error is about: name or days
	Error       string
}

// Confirm asks before an action that cannot be undone.
type Confirm struct {
	Layout
	Heading string
	Subject string // a name that a user chose
	Detail  string // an id
	Text    string
	Action  string // path that the answer is posted to
	Button  string
	Back    string
	Once    string
}

// Done reports what was changed.
type Done struct {
	Layout
	Heading string
	Subject string
	Points  []string
	Fine    string
	Links   []Link
}

// Link leads to another page of the host.
type Link struct{ Path, Text string }

func (Overview) template() string    { return "overview.html" }
func (Keys) template() string        { return "keys.html" }
func (Connections) template() string { return "connections.html" }
func (Settings) template() string    { return "settings.html" }
func (Confirm) template() string     { return "confirm.html" }
func (Done) template() string        { return "done.html" }
