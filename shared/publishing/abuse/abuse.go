// Package abuse takes reports of abuse from people without an account and keeps them for operators.
//
// A sender learns only whether a form is complete. Reports of what does not exist or has ended, and repeated ones, are
// answered like any other, because the answer must not tell what exists.
package abuse

import (
	"context"
	"net/netip"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Reason is what a sender says is wrong with an artifact. Operators use the same codes for their lockdowns.
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

// Form is what a sender fills in.
type Form struct {
	Target string // the public id of an access link, the id of an artifact, or an address, which may hold secrets
	Reason Reason
	Text   string // may be empty
	Email  string // for answers; may be empty
}

// Proof is the solution of a challenge.
type Proof struct {
	Challenge contract.Challenge
	Solution  contract.Solution
}

// Request is a form on its way.
type Request struct {
	Form
	Proof     *Proof // nil: none
	From      netip.Addr
	RequestID string
}

// Report is a report as it is kept. A reporter has one for an artifact on a UTC day.
type Report struct {
	ID        id.Report
	Artifact  id.Artifact
	Workspace id.Workspace // that the artifact belonged to
	Link      id.Public    // that the sender named; empty: none
	Reporter  string       // the client's network as address.Subject has it
	Reason    Reason
	Text      string
	Email     string
	At        time.Time
	HandledAt time.Time // zero: it waits for an operator
	HandledBy id.Member
}

// Place returns what distinguishes the report from the others of its artifact.
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

// Invalid refuses a form for one of its fields; its message tells the sender what to write there.
type Invalid struct {
	*fault.Fault
	Field Field
}

// Unwrap returns the fault.
func (i *Invalid) Unwrap() error { return i.Fault }

func invalid(f Field, format string, args ...any) error {
	return &Invalid{fault.New(fault.InvalidRequest, format, args...), f}
}

// Store is what Service needs.
type Store interface {
	// Link and Artifact read strongly, nil if there is none.
	Link(ctx context.Context, p id.Public) (*link.Link, error)
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	// Workspace reads strongly, nil if there is none.
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	// Add keeps a report with its event in one transaction. If the reporter has one for the artifact on that day already,
	// it changes no state.
	Add(ctx context.Context, r Report, e event.Event) error
}

// Counters tells how many reports of all senders were counted.
type Counters interface {
	// CountOf returns how many were counted in a window. An eventually consistent read is enough.
	CountOf(ctx context.Context, w rate.Window) (int, error)
}
