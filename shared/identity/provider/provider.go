// Package provider verifies what the identity providers of agents say: assertions about the person that an agent acts
// for, which are identity assertion JWT authorization grants (ID-JAG), and security event tokens (RFC 8417).
//
// A deployment trusts the providers that its configuration lists. Their keys are read from the URLs in that list and
// kept in the memory of the process; nothing in a token leads to a request.
package provider

import (
	"context"
	"sync"
	"time"

	"vitrine/shared/identity/credential"
)

// Provider is an identity provider that agents run at.
type Provider struct {
	Issuer    string
	Aliases   []string // other values of iss that mean the same issuer
	Name      string   // shown to people
	ClientIDs []string // clients at the provider; agents of others are refused
	JWKS      string   // URL of the keys
	// Algorithms sign its tokens, each one of those that this package knows.
	Algorithms []string
	// Provision makes a member of a person that is none yet; without it such a person is refused.
	Provision bool
	// EmailDomains are the domains that the provider may vouch for, in lower case; empty: all.
	EmailDomains []string
	// MaxAuthAge is how long ago the person may have signed in at the provider.
	MaxAuthAge time.Duration
}

// Documents reads the keys of providers.
type Documents interface {
	// Get reads at most maxBytes from a URL: without following a redirect, from public addresses only, and in bounded
	// time. fresh is how long the answer may be kept; zero if it does not say.
	Get(ctx context.Context, url string, maxBytes int) (body []byte, fresh time.Duration, err error)
}

// Identity is the person that a verified assertion speaks of, and the agent's client that it was made for.
type Identity struct {
	Issuer   string // the provider's own, also if the assertion names an alias
	Name     string // of the provider
	Subject  string // the person at the issuer
	Audience string
	ClientID string
	ID       string // jti; one assertion of an issuer has it
	KeyID    string // kid of the key that signed
	// Email is the address that the provider vouches for. Its ASCII letters are lower case.
	Email    string
	Scopes   []credential.Scope
	AuthTime time.Time // when the person signed in at the provider
	IssuedAt time.Time
	Expires  time.Time // ID has to be remembered until maxClockSkew after it
	// Provision is that of the provider.
	Provision bool
}

// Event is a verified security event token.
type Event struct {
	Issuer   string // the provider's own, also if the token names an alias
	Subject  string // the person at the issuer; empty if the token is about none, and never with Revoked
	Audience string
	ID       string   // jti; one event of an issuer has it
	KeyID    string   // kid of the key that signed
	Digest   [32]byte // SHA-256 of the whole token
	// Revoked says that the provider vouches for the subject no more. Other events are ignored.
	Revoked  bool
	IssuedAt time.Time
	Expires  time.Time // ID has to be remembered until maxClockSkew after it
}

// Verifier verifies tokens of the providers that are trusted. It must not be copied.
type Verifier struct {
	Providers []Provider
	Documents Documents
	Audience  string // issuer of the authorization server, which the tokens are for
	Now       func() time.Time

	mu   sync.Mutex
	sets map[string]*keySet // by the provider's issuer
}
