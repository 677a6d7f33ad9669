package workspace

import (
	"errors"
	"slices"
	"strings"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/policy"
)

// SignIn is what the identity provider said of a member at the last sign-in. Of a member that a provider of agents
// made, it is what that provider said last.
type SignIn struct {
	Email    string // verified
	Operator bool
}

// Allowlist says which people a deployment lets in. Its zero value lets everybody in.
type Allowlist struct {
	People  policy.SignIn
	Contact string // mailto or https URL where people ask to be let in; empty: none
}

// Allows reports whether a person gets in. Domains are compared exactly: those below one are not part of it.
func (a Allowlist) Allows(s SignIn) bool {
	switch {
	case a.People.Anybody():
		return true
	case a.People.Operators:
		return s.Operator
	}
	address, ok := policy.Address(s.Email)
	domain := address[strings.LastIndexByte(address, '@')+1:]
	return ok && (slices.Contains(a.People.Addresses, address) || slices.Contains(a.People.Domains, domain))
}

// Admits reports whether a credential of a workspace may be used. m is the member who made it; if it is empty, any
// member of the workspace will do. Workspaces that nobody has claimed are not judged.
func (a Allowlist) Admits(w Workspace, m id.Member) bool {
	if a.People.Anybody() || w.ClaimedAt.IsZero() {
		return true
	}
	if m != "" {
		s, signedIn := w.SignIns[m]
		return signedIn && a.Allows(s)
	}
	for _, s := range w.SignIns {
		if a.Allows(s) {
			return true
		}
	}
	return false
}

// NotAllowedError is the cause of the refusal of a person whom the deployment does not let in.
type NotAllowedError struct{ Contact string }

// Error implements error.
func (e *NotAllowedError) Error() string { return "the deployment does not let this account in" }

// Refuse returns the refusal for a person who signs in. It wraps NotAllowedError.
func (a Allowlist) Refuse() error {
	text := "this account may not use this deployment"
	if a.Contact != "" {
		text += "; to be let in, ask " + strings.TrimPrefix(a.Contact, "mailto:")
	}
	return fault.Wrap(fault.Forbidden, &NotAllowedError{a.Contact}, "%s", text)
}

// Hide returns a refusal whose text tells nothing, with NotAllowedError as its cause.
func (a Allowlist) Hide(refusal error) error {
	f := fault.Of(refusal)
	return fault.Wrap(f.Code, &NotAllowedError{a.Contact}, "%s", f.Message)
}

// NotAllowed returns the cause of a refusal, if it is NotAllowedError.
func NotAllowed(err error) (*NotAllowedError, bool) { return errors.AsType[*NotAllowedError](err) }
