package access

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// MemberStore is the storage that Members uses.
type MemberStore interface {
	// GrantAndWorkspace reads a grant and a workspace in one strongly consistent batch. It returns nil for what does not
	// exist, and fails with database_unavailable if an item stays unread.
	GrantAndWorkspace(ctx context.Context, grant id.Public, w id.Workspace) (*oauth.Grant, *workspace.Workspace, error)
	// FindMember reads a member, the idempotency record of the command, if any, and the other items of wants in one
	// strongly consistent batch. It returns nil for what does not exist, and fails with database_unavailable if an item
	// stays unread. Key and Workspace of Found stay nil.
	FindMember(ctx context.Context, w id.Workspace, m id.Member, wants Request) (*member.Member, Found, error)
	artifact.Workspaces
}

// Members authenticates access tokens that act for members.
type Members struct {
	Store       MemberStore
	Peppers     keyring.Derived
	Limits      *limits.Limits
	Allowlist   workspace.Allowlist // Store has to read what it judges by
	Environment credential.Environment
	// Audience is the origin of this host. Tokens for other origins are refused.
	Audience string
	// Delegated is set on a host for third-party clients, which the member need not fully trust. A token there has its
	// own scopes only. Elsewhere clients are first-party and have the scopes of the member.
	Delegated bool
	// Named is set on a host whose tools use the artifact, revision or session of the request, so that they are read with
	// the member. Elsewhere the services for members read them.
	Named bool
	Now   func() time.Time
}

// Authenticate authenticates a bearer token. All failures are the same not_authenticated error. Only that of a
// workspace that is being deleted differs, and wraps workspace.ErrDeleting or workspace.ErrRemoved. A malformed token
// costs no read.
func (m *Members) Authenticate(ctx context.Context, bearer string, w Request, requestID string) (Authenticated, error) {
	token, err := credential.Parse(bearer, credential.AccessToken, m.Environment)
	if err != nil {
		return Authenticated{}, errUnauthenticated()
	}
	grant, ws, err := m.Store.GrantAndWorkspace(ctx, token.Public, token.Workspace)
	if err != nil {
		return Authenticated{}, err
	}
	now := m.Now()
	if !m.issued(token, grant, now) || ws == nil || !m.accepts(*grant) {
		return Authenticated{}, errUnauthenticated()
	}
	if !m.Named {
		w = Request{
			Operation: w.Operation,
			Target:    w.Target,
			Client:    w.Client,
			Deleting:  w.Deleting,
		}
	}
	// The member is read in a second batch, because only the grant names it.
	who, found, err := m.Store.FindMember(ctx, ws.ID, grant.Member, w)
	if err != nil {
		return Authenticated{}, err
	}
	open := *ws
	if w.Deleting {
		open = ws.Kept()
	}
	switch {
	case who == nil:
		return Authenticated{}, errUnauthenticated()
	case !m.Allowlist.Admits(*ws, who.ID):
		return Authenticated{}, m.Allowlist.Hide(errUnauthenticated())
	case open.Deleting():
		return Authenticated{}, ws.RefuseDeleting()
	case !grant.Live(now, open, *who):
		return Authenticated{}, errUnauthenticated()
	}
	out, err := found.with(ctx, m.Store, w, m.actor(*grant, *ws, *who, requestID))
	if err != nil {
		return Authenticated{}, err
	}
	out.Member = who
	return out, nil
}

// actor returns the member in whose name a grant acts.
func (m *Members) actor(g oauth.Grant, ws workspace.Workspace, who member.Member, requestID string) credential.Actor {
	login := credential.CLIGrant{At: g.CreatedAt}
	if g.Client == oauth.CLI {
		login.Grant = g.Public
	}
	operator, authenticated := g.Operator, g.AuthenticatedAt
	if g.Generation > 0 { // a refreshed token does not prove that its holder signed in lately
		operator = time.Time{}
	}
	if m.Delegated { // a third-party client never acts as an operator or after a fresh sign-in
		operator, authenticated = time.Time{}, time.Time{}
	}
	return credential.Actor{
		Operator:        operator,
		AuthenticatedAt: authenticated,
		Member:          who.ID,
		Client:          g.Client,
		ClientName:      g.Name,
		CLIGrant:        login,
		Scopes:          g.Rights(who, m.Delegated),
		Workspace:       ws,
		Policy:          m.Limits.Tiers[ws.Tier()],
		RequestID:       requestID,
	}
}

// issued reports whether token is a live access token of the grant. Every grant costs the same hashes, even one that
// does not exist.
func (m *Members) issued(token credential.Token, grant *oauth.Grant, now time.Time) bool {
	var tokens []oauth.AccessToken
	if grant != nil {
		tokens = grant.Access
	}
	// The full slice expression makes append copy, so that the grant keeps its own tokens.
	for len(tokens) < limits.AccessTokens {
		tokens = append(tokens[:len(tokens):len(tokens)], oauth.AccessToken{})
	}
	found := false
	for _, t := range tokens {
		if token.Matches(t.Hash, m.Peppers) && now.Before(t.ExpiresAt) {
			found = true
		}
	}
	return found
}

// accepts reports whether a grant is for this host. A host accepts either first-party clients or third-party ones. The
// audience alone does not tell them apart, because in a deployment without an MCP host both get tokens for one origin.
func (m *Members) accepts(g oauth.Grant) bool {
	own := g.Client == oauth.CLI || g.Client == oauth.Dashboard
	return g.Audience == m.Audience && own != m.Delegated
}

func errUnauthenticated() error {
	return fault.New(fault.NotAuthenticated, "send a live access token in the header Authorization: Bearer <token>")
}
