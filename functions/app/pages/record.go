package pages

import "time"

// Audit is one page of the audit log of a workspace, newest first.
type Audit struct {
	Layout
	Items []AuditEntry
	Kept  time.Duration // how long entries are kept
	Pages
}

// AuditEntry is one entry of the audit log: a sentence in parts.
type AuditEntry struct {
	Parts   []Part
	At      time.Time
	Target  Ref
	Request string // empty: not known
}

// Part is a piece of a sentence: plain words, or text from outside.
type Part struct {
	Text   string
	Quoted bool   // a name that a user chose
	Code   bool   // an id
	Path   string // empty: it leads nowhere
}

// Ref names a target.
type Ref struct {
	Kind, ID string
	Path     string // empty: it has no page
}

// Recorded is what the overview says of the record.
type Recorded struct {
	Notices  []AuditEntry // who got access since Since
	Since    time.Time
	Activity []AuditEntry // the newest entries
}

func (Audit) template() string { return "audit.html" }
