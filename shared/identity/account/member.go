package account

import (
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
)

// Callback returns the workspace of a member who has just signed in. It makes no API key, because a key without end
// that no page shows would stay unnoticed.
func (s *Service) Callback(by credential.Actor, m member.Member) contract.AuthCallback {
	return contract.AuthCallback{
		Workspace:       by.Workspace.Summary(),
		WorkspaceMember: m.Summary(),
		Scopes:          credential.ScopeStrings(m.Scopes),
	}
}

// Workspace returns a member's workspace with its limits.
func (s *Service) Workspace(by credential.Actor, m member.Member) contract.WebWorkspace {
	return contract.WebWorkspace{
		Workspace:       by.Workspace.Summary(),
		WorkspaceMember: m.Summary(),
		UsagePolicy:     workspace.UsagePolicy(s.Limits, by.Workspace.Tier(), nil),
	}
}

// Delegate returns the member for whom a client acts on the MCP host. The scopes are the member's; the client's token
// may have fewer.
func (s *Service) Delegate(by credential.Actor, m member.Member) contract.MCPWhoami {
	return contract.MCPWhoami{
		WorkspaceMember: contract.MCPMember{ID: m.ID, Email: m.Email},
		Workspace:       by.Workspace.Summary(),
		Scopes:          credential.ScopeStrings(m.Scopes),
	}
}
