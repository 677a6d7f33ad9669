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
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

// MemberStore is what Members needs of the store.
type MemberStore interface {
	// GrantAndWorkspace reads a grant and a workspace in one strongly consistent batch, nil for what does not exist;
	// database_unavailable if anything stays unread.
	GrantAndWorkspace(ctx context.Context, grant id.Public, w id.Workspace) (*oauth.Grant, *workspace.Workspace, error)
	// MemberAndRecord reads a member and the record of the command that the member repeats, if any, in one strongly consistent
	// batch, nil for what does not exist; database_unavailable if anything stays unread.
	MemberAndRecord(ctx context.Context, w id.Workspace, m id.Member, wants Request) (*member.Member, *idempotency.Record, error)
}

// Members checks access tokens that act for members. What the path names is not read along: the services of members
// follow artifacts that a claim is still moving, and read them by themselves.
type Members struct {
	Store       MemberStore
	Peppers     keyring.Derived
	Limits      *limits.Limits
	Environment credential.Environment
	// Audience is the origin of the host that asks. Tokens for any other are refused.
	Audience string
	// Delegated hosts serve clients of others, which the member need not trust in full: there a token can do no more than
	// its scopes. Elsewhere the clients are our own, and the member's scopes count.
	Delegated bool
	Now       func() time.Time
}

// Authenticate authenticates a bearer text. Every refusal is the same not_authenticated; a malformed text costs no read.
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
	who, record, err := m.Store.MemberAndRecord(ctx, ws.ID, grant.Member, w)
	if err != nil {
		return Authenticated{}, err
	}
	if who == nil || !grant.Live(now, *ws, *who) {
		return Authenticated{}, errUnauthenticated()
	}
	login := credential.CLIGrant{At: grant.CreatedAt}
	if grant.Client == oauth.CLI {
		login.Grant = grant.Public
	}
	operator := grant.Operator
	if m.Delegated { // whatever the member is: the client is not ours
		operator = time.Time{}
	}
	return Authenticated{
		Actor: credential.Actor{
			Operator:  operator,
			Member:    who.ID,
			Client:    grant.Client,
			CLIGrant:  login,
			Scopes:    grant.Rights(*who, m.Delegated),
			Workspace: *ws,
			Policy:    m.Limits.Tiers[ws.Tier()],
			RequestID: requestID,
		},
		Record: record, Member: who,
	}, nil
}

// issued tells whether the grant holds this very token and it has not ended. Every grant, one that does not exist
// included, costs the same hashes.
func (m *Members) issued(token credential.Token, grant *oauth.Grant, now time.Time) bool {
	var tokens []oauth.AccessToken
	if grant != nil {
		tokens = grant.Access
	}
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

// accepts tells whether a grant is for the host that asks. Our own clients are let in where nobody else's are, and
// nowhere else, because both kinds get tokens for one origin where a deployment has no MCP host.
func (m *Members) accepts(g oauth.Grant) bool {
	own := g.Client == oauth.CLI || g.Client == oauth.Dashboard
	return g.Audience == m.Audience && own != m.Delegated
}

func errUnauthenticated() error {
	return fault.New(fault.NotAuthenticated, "send a live access token in the header Authorization: Bearer <token>")
}
