// Package provider verifies the tokens that identity providers of agents send.
//
// The tokens are identity assertion JWT authorization grants (ID-JAG), about the person for whom an agent acts, and
// security event tokens (RFC 8417). A deployment trusts the providers that its configuration lists. Their keys are read
// from the URLs in that list and kept in the memory of the process. No content of a token leads to a request.
package provider

import (
	"context"
	"sync"
	"time"

	"vitrine/shared/identity/credential"
)

// Provider is a trusted identity provider of agents.
type Provider struct {
	Issuer    string
	Aliases   []string // other values of iss that mean the same issuer
	Name      string   // shown to people
	ClientIDs []string // clients at the provider whose agents are let in
	JWKS      string   // URL of the keys
	// Algorithms are those that may sign its tokens. This package knows each of them.
	Algorithms []string
	// Provision makes a member for a person who is none yet; otherwise such a person is refused.
	Provision bool
	// EmailDomains are the domains for which the provider may vouch, in lower case; empty: all.
	EmailDomains []string
	// MaxAuthAge is how long ago the person may have signed in at the provider.
	MaxAuthAge time.Duration
}

// Documents reads the keys of providers.
type Documents interface {
	// Get reads at most maxBytes from a URL. It follows no redirect, connects to public addresses only, and takes bounded
	// time. fresh is how long the answer may be kept; 0: the answer does not say.
	Get(ctx context.Context, url string, maxBytes int) (body []byte, fresh time.Duration, err error)
}

// Identity is the person of a verified assertion and the agent's client for which it was made.
type Identity struct {
	Issuer   string // the provider's own, even if the assertion names an alias
	Name     string // of the provider
	Subject  string // the person at the issuer
	Audience string
	ClientID string
	ID       string // jti; unique among assertions of an issuer
	KeyID    string // kid of the key that signed
	// Email is the address for which the provider vouches. Its ASCII letters are lower case.
	Email    string
	Scopes   []credential.Scope
	AuthTime time.Time // when the person signed in at the provider
	IssuedAt time.Time
	Expires  time.Time // ID has to be remembered until maxClockSkew after it
	// Provision is the Provision of the provider.
	Provision bool
}

// Event is a verified security event token.
type Event struct {
	Issuer   string // the provider's own, even if the token names an alias
	Subject  string // the person at the issuer; empty if the token is about none, but never with Revoked
	Audience string
	ID       string   // jti; unique among events of an issuer
	KeyID    string   // kid of the key that signed
	Digest   [32]byte // SHA-256 of the whole token
	// Revoked reports that the provider no longer vouches for the subject. Other events are ignored.
	Revoked  bool
	IssuedAt time.Time
	Expires  time.Time // ID has to be remembered until maxClockSkew after it
}

// Verifier verifies tokens of trusted providers. It must not be copied.
type Verifier struct {
	Providers []Provider
	Documents Documents
	Audience  string // the issuer of the authorization server, for which the tokens are made
	Now       func() time.Time

	mu   sync.Mutex
	sets map[string]*keySet // by the provider's issuer
}
