package account

import (
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
)

// Callback tells a member who has just signed in where they are. No key is made on the way: an unseen key without end
// would be nobody's.
func (r *Reader) Callback(by credential.Actor, m member.Member) contract.AuthCallback {
	return contract.AuthCallback{Workspace: by.Workspace.Summary(), WorkspaceMember: m.Summary(), Scopes: credential.ScopeStrings(m.Scopes)}
}

// Workspace tells a member's workspace and its limits.
func (r *Reader) Workspace(by credential.Actor, m member.Member) contract.WebWorkspace {
	return contract.WebWorkspace{
		Workspace: by.Workspace.Summary(), WorkspaceMember: m.Summary(),
		UsagePolicy: workspace.UsagePolicy(r.Limits, by.Workspace.Tier(), nil),
	}
}

// Delegate tells a client on the MCP host for whom it acts. The scopes are the member's; what the token may do can be less.
func (r *Reader) Delegate(by credential.Actor, m member.Member) contract.MCPWhoami {
	return contract.MCPWhoami{
		WorkspaceMember: contract.MCPMember{ID: m.ID, Email: m.Email}, Workspace: by.Workspace.Summary(), Scopes: credential.ScopeStrings(m.Scopes),
	}
}
