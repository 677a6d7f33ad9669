package member

import (
	"errors"
	"strings"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/text"
)

// ProviderIssuer is the issuer of members that an agent's identity provider made. No person signs in with it.
const ProviderIssuer = "agent-auth"

// Agents returns the identity of a member that is made for a delegation.
func Agents(d id.Delegation, email string) Identity {
	return Identity{Issuer: ProviderIssuer, Subject: string(d), Email: email}
}

// ProviderMade reports whether a provider of agents made the member and no person has signed in as that member yet.
func (m Member) ProviderMade() bool { return m.Issuer == ProviderIssuer }

// Address is the form of an e-mail address by which members are found. Dots and the part after a plus sign count.
type Address string

// AddressOf returns the Address of an e-mail address in a provider's spelling. It lowers ASCII letters only.
func AddressOf(email string) Address { return Address(text.LowerASCII(strings.TrimSpace(email))) }

// Addressee is a member with an address.
type Addressee struct {
	Workspace id.Workspace
	Member    id.Member
}

// ErrUnconfirmed reports that a provider of agents made the member that a person would become. The person has to say
// first which agents they keep.
var ErrUnconfirmed = errors.New("agents made a workspace for this address")

// Unconfirmed is the error for a person whose address belongs to one member only, which a provider of agents made. It
// wraps ErrUnconfirmed.
type Unconfirmed struct {
	Member Member
	Who    Identity
}

// Error implements error.
func (u *Unconfirmed) Error() string { return ErrUnconfirmed.Error() }

// Unwrap returns the answer of callers that cannot ask the person.
func (u *Unconfirmed) Unwrap() error {
	return fault.Wrap(fault.Forbidden, ErrUnconfirmed,
		"agents have worked under your e-mail address: sign in with a browser first, and say which of them you keep")
}
