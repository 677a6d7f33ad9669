// Package abuse takes reports of abuse from people without an account and keeps them for operators.
package abuse

import (
	"context"
	"net/netip"
	"time"

	"vitrine/shared/identity/pow"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Reason says what is wrong with an artifact. Operators use the same codes for lockdowns.
type Reason string

// The reasons.
const (
	Phishing Reason = "phishing_report"
	Malware  Reason = "malware_signal"
	Abuse    Reason = "abuse_complaint"
	Illegal  Reason = "illegal_content"
	Other    Reason = "other" // needs a text
)

// Reasons are the reasons that a sender may give.
var Reasons = []Reason{Phishing, Malware, Abuse, Illegal, Other}

// Form has the fields that a sender fills in.
type Form struct {
	Target string // the public id of an access link, the id of an artifact, or an address, which may hold secrets
	Reason Reason
	Text   string // may be empty
	Email  string // for answers; may be empty
}

// Request is a submitted form.
type Request struct {
	Form
	Proof     *pow.Proof // nil: none
	From      netip.Addr
	RequestID string
}

// Report is a stored report. A reporter has at most one for an artifact on a UTC day.
type Report struct {
	ID        id.Report
	Artifact  id.Artifact
	Workspace id.Workspace // owner of the artifact at that time
	Link      id.Public    // the one that the sender named; empty: none
	Reporter  string       // the client's network, from address.Subject
	Reason    Reason
	Text      string
	Email     string
	At        time.Time
	HandledAt time.Time // zero: waits for an operator
	HandledBy id.Member
}

// Place returns the name of the report among those of its artifact.
func (r Report) Place() string { return r.At.UTC().Format("20060102") + "#" + r.Reporter }

// Field names a field of a form.
type Field string

// The fields.
const (
	TargetField Field = "target"
	ReasonField Field = "reason"
	TextField   Field = "text"
	EmailField  Field = "email"
)

// Invalid refuses a form because of one field. Its message tells the sender what to write there.
type Invalid struct {
	*fault.Fault
	Field Field
}

// Unwrap returns the fault.
func (i *Invalid) Unwrap() error { return i.Fault }

func invalid(f Field, format string, args ...any) error {
	return &Invalid{fault.New(fault.InvalidRequest, format, args...), f}
}

// Store is the service's view of the tables.
type Store interface {
	// Link and Artifact read strongly, nil if there is none.
	Link(ctx context.Context, p id.Public) (*link.Link, error)
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	// Workspace reads strongly, nil if there is none.
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	// Add stores a report with its event in one transaction. It changes no state if the reporter already has a report of
	// the artifact on that day.
	Add(ctx context.Context, r Report, e event.Event) error
}
