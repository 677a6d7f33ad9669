package pages

import (
	"html/template"
	"time"
)

// ArtifactSummary describes artifacts that a member may take over: titles of the newest, and how many there are.
type ArtifactSummary struct {
	Titles []string
	Count  int
	Most   bool // there may be more than Count
}

// More returns how many artifacts Titles does not name.
func (s ArtifactSummary) More() int { return max(0, s.Count-len(s.Titles)) }

// Claim asks for a claim token, from the fragment of a link or from the clipboard.
type Claim struct {
	Layout
	SignedIn bool
	SignIn   string // path
	Error    string
}

// ClaimPreview shows what a claim would move, and where.
type ClaimPreview struct {
	Layout
	ArtifactSummary
	CreatedAt, ExpiresAt time.Time
	Token, Once          string
}

// AgentRequest shows an agent that asks for access.
type AgentRequest struct {
	Layout
	ArtifactSummary
	RegisteredAt, ExpiresAt time.Time
	EndsAt                  time.Time // when its access would end
	Network                 string
	Attempt                 string // identifies the shown attempt; the answer sends it back
	Error                   string
	// Of an agent that a provider vouches for; empty otherwise.
	Provider, Host, Address string
	Rights                  []string
}

// Keep asks a person under whose address agents have worked which of them they keep. It has no layout, because no
// session is open.
type Keep struct {
	Email     string
	Linked    []Linked
	Question  string // identifies the shown question; the answer sends it back
	ExpiresAt time.Time
}

// Device asks for the code that a device shows.
type Device struct {
	Layout
	Code, Error string
}

// DeviceRequest shows a device that asks for access.
type DeviceRequest struct {
	Layout
	Client, Name, Network string
	AskedAt, ExpiresAt    time.Time
	Rights                []string
	Code                  string
}

// Consent shows an app that asks for access.
type Consent struct {
	Layout
	Client, ID, Host string
	DescribedAt      string // host of the app's metadata document; empty: it has none
	FirstParty       bool
	Loopback         bool
	Rights           []string
	Audience         string
	ExpiresAt        time.Time
	Request          string
}

// Leave sends the browser back to an app, because a redirect after a form is blocked by the form-action policy.
type Leave struct {
	Client, Host string
	Allowed      bool
	To           template.URL // as the authorization server returned it, never a client's own text
}

// AppError shows the refused request of an app that the member has not granted access.
type AppError struct {
	Client, ID, Host      string
	Code, Meaning, Detail string
	To                    template.URL // as the authorization server returned it, never a client's own text
}

// SignedOut confirms that the member signed out.
type SignedOut struct {
	SignIn   string
	Provider string // where they sign out of the identity provider; empty: nowhere
}

// NotAllowed tells a person that the deployment does not let their account in.
type NotAllowed struct {
	Contact string // mailto or https URL where they can ask; empty: none
}

func (NotAllowed) template() string    { return "not-allowed.html" }
func (Claim) template() string         { return "claim.html" }
func (ClaimPreview) template() string  { return "claim-preview.html" }
func (AgentRequest) template() string  { return "agent.html" }
func (Keep) template() string          { return "keep.html" }
func (Device) template() string        { return "device.html" }
func (DeviceRequest) template() string { return "device-request.html" }
func (Consent) template() string       { return "consent.html" }
func (Leave) template() string         { return "leave.html" }
func (AppError) template() string      { return "app-error.html" }
func (SignedOut) template() string     { return "signed-out.html" }
