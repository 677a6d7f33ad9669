// Package member maps people, as the identity provider identifies them, to members of workspaces.
package member

import (
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// Identity is a person as the identity provider describes them. Its maker has checked the signature, the audience and
// that the e-mail address is verified.
type Identity struct {
	Issuer  string
	Subject string // identifies the person together with Issuer, because the address may change
	Email   string
	// AuthenticatedAt is when the provider last authenticated the person; zero if the provider does not say.
	AuthenticatedAt time.Time
	// Operator reports that the provider lists the person as an operator of this deployment.
	Operator bool
}

// SignIn returns what the provider says that decides whether the person may use the deployment.
func (i Identity) SignIn() workspace.SignIn {
	return workspace.SignIn{Email: i.Email, Operator: i.Operator}
}

// OperatorAt returns when the provider authenticated the person as an operator. It is zero for other people, and if
// the provider does not say when.
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
	Listed    Address // the address by which the member is found; empty: not listed yet
	Scopes    []credential.Scope
	CreatedAt time.Time
	SeenAt    time.Time
	// SignedOutAt ends every session and every grant of an OAuth client made before it; zero if the member never signed
	// out everywhere.
	SignedOutAt time.Time
}

// Live reports whether a session or grant that the member made at an instant is still valid.
func (m Member) Live(made time.Time) bool { return made.After(m.SignedOutAt) }

// Summary returns the wire form.
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
