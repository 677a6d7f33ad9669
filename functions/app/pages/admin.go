package pages

import (
	"net/url"
	"time"
)

// Console is the frame around the pages of operators.
type Console struct {
	Email string
	// Here is the path of the current section; empty: none of them.
	Here string
}

// Layout returns the frame, as the templates ask for it.
func (c Console) Layout() Console { return c }

// Sections returns the navigation.
func (c Console) Sections() []section {
	all := []section{
		{Path: "/admin", Name: "Triage"},
		{Path: "/admin/reports", Name: "Reports"},
		{Path: "/admin/lockdowns", Name: "Locks"},
		{Path: "/admin/events", Name: "Events"},
		{Path: "/admin/provisioning", Name: "New workspaces"},
		{Path: "/admin/policy", Name: "Policy"},
		{Path: "/dashboard", Name: "Your workspace"},
	}
	for i := range all {
		all[i].Here = all[i].Path == c.Here
	}
	return all
}

// Triage is the first page of operators.
type Triage struct {
	Console
	Error     string // what is wrong with the text that was to be looked up
	Published []OperatorEntry
	Reports   []ReportRow
	Locks     []LockRow
	Hot       []HotRow
	OldCopy   time.Time // of the newest copy of the data, if it is too old; else zero
}

// HotRow is an artifact that was read often.
type HotRow struct {
	Artifact string
	At       time.Time
}

// Name names an actor or a target.
type Name struct{ Kind, ID string }

// OperatorEntry is an event of the deployment.
type OperatorEntry struct {
	What, Action string
	At           time.Time
	By, On       Name
	Workspace    string // empty: of none
	Scope        string // of a lock of its target; empty: it cannot be locked
	Target       string // id
	Request      string // empty: not known
}

// ReportRow is a report of abuse. Text and Email are the sender's words.
type ReportRow struct {
	ID, Artifact, Place, Workspace string
	Reason, Text, Email            string
	Sender                         string    // a keyed hash
	At, HandledAt                  time.Time // HandledAt is zero for one that waits
}

// Waits reports whether an operator has to look at the report.
func (r ReportRow) Waits() bool { return r.HandledAt.IsZero() }

// LockRow is a lockdown.
type LockRow struct {
	Scope, Target, Reason string
	SetAt, LiftedAt       time.Time // LiftedAt is zero for one in effect
	SetBy                 string
	Once                  string
}

// Holds reports whether the lock is in effect.
func (l LockRow) Holds() bool { return l.LiftedAt.IsZero() }

// Finding is what a pasted text turned out to be.
type Finding struct {
	Console
	Kind, ID                        string
	Found                           bool
	Artifact                        *FoundArtifact
	Link                            *FoundLink
	Key                             *Key
	Workspace                       *FoundWorkspace
	Members                         []FoundMember
	Locks                           []LockRow
	ArtifactLocked, WorkspaceLocked bool
	Reasons                         []string
	Once                            string
}

// FoundArtifact is an artifact without the words of its publisher.
type FoundArtifact struct {
	Artifact
	CreatedAt time.Time
	Files     int
	Size      int64
	Opens     bool // operators may open it
}

// FoundLink is an access link.
type FoundLink struct {
	Kind                      string
	MadeAt, EndsAt, RevokedAt time.Time
}

// FoundMember is a member with an e-mail address that was looked up.
type FoundMember struct{ ID, Workspace string }

// FoundWorkspace is the owner of what was found.
type FoundWorkspace struct {
	ID, Tier    string
	CreatedAt   time.Time
	ClaimedInto string // empty: it was not claimed
	Plan        string // path of the page of its plan; empty: no plan is sold, or it cannot have another one
	Yours       bool   // it is the operator's own
}

// OpenedContent leads an operator to what an artifact shows.
type OpenedContent struct {
	Console
	Artifact, Revision, URL string
	Until                   time.Time
}

// Reports is one page of the inbox, or of what was reported of one artifact.
type Reports struct {
	Console
	Artifact string // empty: of all
	Items    []ReportRow
	Pages
}

// Lockdowns is one page of the list, with the form of a new one as it was filled in.
type Lockdowns struct {
	Console
	Items                 []LockRow
	Scope, Target, Reason string
	Reasons               []string
	Once, Error           string
	Pages
}

// Events is one page of the record of all workspaces.
type Events struct {
	Console
	Items                            []OperatorEntry
	Filters                          url.Values
	Actions, ActorTypes, TargetTypes []string
	Error                            string
	Pages
}

// Focuses returns the names of what the record can be narrowed to.
func (Events) Focuses() []Choice {
	return []Choice{{"all", "Everything"}, {"security", "Ends of access and locks"}, {"lifecycle", "Everything else"}}
}

// Provisioning shows and changes how many ephemeral workspaces may be made in a minute.
type Provisioning struct {
	Console
	PerMinute, Made, Least, Most int
	Until                        time.Time // zero: the quota is for good
	Tiers                        []Tier
	Error                        string
}

// PlanOverride shows what plan a workspace has, and gives it another one.
type PlanOverride struct {
	Console
	Path, Workspace, Plan string
	Override              string // that operators gave; empty: none
	Subscription          string // its status in words; empty: there is none
	Chosen, Reason        string // as the form was filled in
	Once, Error           string
}

// Tier is a tier of workspaces with its limits.
type Tier struct {
	Name string
	Limits
}

func (Triage) template() string        { return "admin.html" }
func (Finding) template() string       { return "admin-finding.html" }
func (OpenedContent) template() string { return "admin-content.html" }
func (Reports) template() string       { return "admin-reports.html" }
func (Lockdowns) template() string     { return "admin-lockdowns.html" }
func (Events) template() string        { return "admin-events.html" }
func (PlanOverride) template() string  { return "admin-plan.html" }

// Policy shows the policy of the deployment.
type Policy struct {
	Console
	Decided bool // the owner decided something
	Facts   []PolicyFact
}

// PolicyFact is a member of the policy's file.
type PolicyFact struct {
	Member string
	Values []string
	Named  bool // the owner decided it
}

func (Policy) template() string       { return "admin-policy.html" }
func (Provisioning) template() string { return "admin-provisioning.html" }
