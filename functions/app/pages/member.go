package pages

import "time"

// Layout is what the pages of a member have around them.
type Layout struct {
	Workspace, Email string
	// Here is the section on show, by its path; empty on pages that ask one question and offer no way around it.
	Here string
}

// section is an entry of the navigation.
type section struct {
	Path, Name string
	Here       bool
}

// Sections is the navigation; nil where there is none.
func (s Layout) Sections() []section {
	if s.Here == "" {
		return nil
	}
	all := []section{
		{Path: "/dashboard", Name: "Overview"}, {Path: "/artifacts", Name: "Artifacts"}, {Path: "/access-links", Name: "Access links"},
		{Path: "/keys", Name: "API keys"},
		{Path: "/connections", Name: "Connections"}, {Path: "/audit", Name: "Audit log"}, {Path: "/settings", Name: "Workspace"},
	}
	for i := range all {
		all[i].Here = all[i].Path == s.Here
	}
	return all
}

// Pages are the ways from a page of a list to its others.
type Pages struct {
	Of    string // what the list has, where a page has several lists
	First string // path of the first page; empty: this is it
	Next  string // path of the following page; empty: this is the last
}

// Artifact is a row of a list.
type Artifact struct {
	ID, Title, Status string
	Pinned, Locked    bool      // Locked: none of its access links opens it
	PublishedAt       time.Time // zero: never
	ExpiresAt         time.Time // zero: not by itself
}

// Ended tells whether nobody can see it any more.
func (a Artifact) Ended() bool { return a.Status == "Expired" || a.Status == "Deleted" }

// Limits are the numbers of a workspace; sizes are bytes.
type Limits struct {
	PerDay, Files            int
	FileSize, ArtifactSize   int64
	DefaultLife, LongestLife time.Duration
	PerMinute                int
}

// Overview is what a member sees first.
type Overview struct {
	Layout
	APIURL string
	Recent []Artifact
	Limits Limits
}

// Artifacts is one page of the list.
type Artifacts struct {
	Layout
	APIURL string
	Items  []Artifact
	Pages
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

// Keys lists the live API keys of a workspace and makes new ones, or lists those that have ended.
type Keys struct {
	Layout
	APIURL string
	Ended  bool          // these have ended
	Kept   time.Duration // how long those are listed
	Items  []Key
	Pages
	Made  *Made
	Once  string
	Name  string // as it was typed
	Error string // what is wrong with it
}

// Made is a key that was just made, with the secret that is shown this once.
type Made struct {
	Key
	Secret string
}

// Agent is a connected agent.
type Agent struct {
	ID, Network                      string
	RegisteredAt, ApprovedAt, EndsAt time.Time
}

// App is an OAuth client that a member allowed.
type App struct {
	ID, Name, Audience string
	Scopes             []string
	AllowedAt, EndsAt  time.Time
}

// Connections lists who may act in a workspace beside its keys.
type Connections struct {
	Layout
	APIURL     string
	Agents     []Agent
	AgentPages Pages
	Apps       []App
	AppPages   Pages
}

// Settings tells about the workspace, the member and the session.
type Settings struct {
	Layout
	ID, Member         string
	CreatedAt          time.Time
	Scopes             []string
	Limits             Limits
	SignedInAt, EndsAt time.Time
	Browser, Network   string
	Change             *Change // nil: the member may change nothing
}

// Change is the form for the settings of a workspace.
type Change struct {
	Once, Name  string
	Days        string // that new artifacts live unless asked otherwise
	Least, Most int    // of Days
	Wrong       string // the field that Error is about: name or days
	Error       string
}

// Audit is one page of what was done in a workspace, newest first.
type Audit struct {
	Layout
	Items []AuditEntry
	Kept  time.Duration // entries of the record
	Pages
}

// AuditEntry is something that somebody did.
type AuditEntry struct {
	What, Detail string
	At           time.Time
	By, On       Ref
	Request      string // empty: nobody knows it
}

// Ref is who did something, or what it was done to.
type Ref struct {
	Kind, ID string
	Path     string // empty: it has no page
}

// Confirm asks whether to do something that cannot be undone.
type Confirm struct {
	Layout
	Heading string
	Subject string // a name that somebody chose
	Detail  string // an id
	Text    string
	Action  string // where the answer is posted
	Button  string
	Back    string
	Once    string
}

// Done tells what was changed.
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
func (Artifacts) template() string   { return "artifacts.html" }
func (Keys) template() string        { return "keys.html" }
func (Connections) template() string { return "connections.html" }
func (Settings) template() string    { return "settings.html" }
func (Audit) template() string       { return "audit.html" }
func (Confirm) template() string     { return "confirm.html" }
func (Done) template() string        { return "done.html" }
