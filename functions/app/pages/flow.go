package pages

import (
	"html/template"
	"time"
)

// ArtifactSummary is what somebody published and a member may take over: titles of the newest, and how many there are.
type ArtifactSummary struct {
	Titles []string
	Count  int
	Most   bool // there may be more than Count
}

// More is how many artifacts Titles does not name.
func (p ArtifactSummary) More() int { return max(0, p.Count-len(p.Titles)) }

// Claim takes a claim token, from the fragment of a link or from somebody's clipboard.
type Claim struct {
	Layout
	SignedIn bool
	SignIn   string // path
	Error    string
}

// ClaimPreview shows what a claim would bring, and where.
type ClaimPreview struct {
	Layout
	ArtifactSummary
	CreatedAt, ExpiresAt time.Time
	Token, Once          string
}

// AgentRequest shows an agent that asks to be let in.
type AgentRequest struct {
	Layout
	ArtifactSummary
	RegisteredAt, ExpiresAt time.Time
	EndsAt                  time.Time // of what it may do
	Network                 string
	Attempt                 string // names what is shown; the answer brings it back
	Error                   string
}

// Device asks for the code that a device shows.
type Device struct {
	Layout
	Code, Error string
}

// DeviceRequest shows a device that asks to be let in.
type DeviceRequest struct {
	Layout
	Client, Name, Network string
	AskedAt, ExpiresAt    time.Time
	Rights                []string
	Code                  string
}

// Consent shows an app that asks to be let in.
type Consent struct {
	Layout
	Client, ID, Host string
	FirstParty       bool
	Loopback         bool
	Rights           []string
	Audience         string
	ExpiresAt        time.Time
	Request          string
}

// Leave sends the browser back to an app, which no redirect may do after a form.
type Leave struct {
	Client, Host string
	Allowed      bool
	To           template.URL // as the authorization server returned it, never a client's own text
}

// AppError shows a request of an app that was refused, and that the member has not let in.
type AppError struct {
	Client, ID, Host      string
	Code, Meaning, Detail string
	To                    template.URL // as the authorization server returned it, never a client's own text
}

// SignedOut is where people are after they left.
type SignedOut struct {
	SignIn   string
	Provider string // where they sign out of the identity provider; empty: nowhere
}

func (Claim) template() string         { return "claim.html" }
func (ClaimPreview) template() string  { return "claim-preview.html" }
func (AgentRequest) template() string  { return "agent.html" }
func (Device) template() string        { return "device.html" }
func (DeviceRequest) template() string { return "device-request.html" }
func (Consent) template() string       { return "consent.html" }
func (Leave) template() string         { return "leave.html" }
func (AppError) template() string      { return "app-error.html" }
func (SignedOut) template() string     { return "signed-out.html" }
