// Package member knows the people of workspaces: who they are at the identity provider, and what they may do here.
package member

import (
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// Identity is a person as the identity provider vouches for them: signature, audience and a verified e-mail address are
// checked.
type Identity struct {
	Issuer  string
	Subject string // with Issuer, the person; the address may change
	Email   string
	// AuthenticatedAt is when the person proved who they are there; zero: the provider does not tell.
	AuthenticatedAt time.Time
	// Operator tells that the provider counts the person among those who look after this deployment.
	Operator bool
}

// OperatorAt is when the provider vouched for the person as an operator; zero: it did not, or does not tell when.
func (i Identity) OperatorAt() time.Time {
	if !i.Operator {
		return time.Time{}
	}
	return i.AuthenticatedAt
}

// Member is a person in a workspace.
type Member struct {
	ID        id.Member
	Workspace id.Workspace
	Issuer    string
	Subject   string
	Email     string
	Scopes    []credential.Scope
	CreatedAt time.Time
	SeenAt    time.Time
	// SignedOutAt ends every session and every grant of an OAuth client that was made before; zero: never.
	SignedOutAt time.Time
}

// Live tells whether something that the member made at an instant still holds.
func (m Member) Live(made time.Time) bool { return made.After(m.SignedOutAt) }

// Summary is the member on the wire.
func (m Member) Summary() contract.MemberSummary {
	return contract.MemberSummary{
		ID:          m.ID,
		WorkspaceID: m.Workspace,
		Email:       m.Email,
		Scopes:      credential.ScopeStrings(m.Scopes),
		CreatedAt:   contract.At(m.CreatedAt),
		LastSeenAt:  contract.At(m.SeenAt),
	}
}
