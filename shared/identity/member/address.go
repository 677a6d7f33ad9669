package member

import (
	"errors"
	"strings"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/text"
)

// ProviderIssuer is the issuer of members that an agent's identity provider made. No person signs in by it.
const ProviderIssuer = "agent-auth"

// Agents returns the identity of a member that is made for a delegation.
func Agents(d id.Delegation, email string) Identity {
	return Identity{Issuer: ProviderIssuer, Subject: string(d), Email: email}
}

// ProviderMade reports whether a provider of agents made the member and no person has signed in as it.
func (m Member) ProviderMade() bool { return m.Issuer == ProviderIssuer }

// Address is an e-mail address as members are found by it. Dots and what follows a plus sign count.
type Address string

// AddressOf returns the address of an e-mail address as a provider spells it. Only ASCII letters lose their case.
func AddressOf(email string) Address { return Address(text.LowerASCII(strings.TrimSpace(email))) }

// Addressee is a member with an address.
type Addressee struct {
	Workspace id.Workspace
	Member    id.Member
}

// ErrUnconfirmed reports that a provider of agents made the member that a person would become, so that the person has
// to say first which agents they keep.
var ErrUnconfirmed = errors.New("agents made a workspace for this address")

// Unconfirmed is the error for a person whose address only a member has that a provider of agents made. It wraps
// ErrUnconfirmed.
type Unconfirmed struct {
	Member Member
	Who    Identity
}

// Error implements error.
func (u *Unconfirmed) Error() string { return ErrUnconfirmed.Error() }

// Unwrap returns what callers who cannot ask the person answer.
func (u *Unconfirmed) Unwrap() error {
	return fault.Wrap(fault.Forbidden, ErrUnconfirmed,
		"agents have worked under your e-mail address: sign in with a browser first, and say which of them you keep")
}
