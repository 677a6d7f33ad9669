package dynamo

import (
	"context"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// GrantAndWorkspace implements access.MemberStore.
func (s *Store) GrantAndWorkspace(ctx context.Context, grant id.Public, w id.Workspace) (*oauth.Grant, *workspace.Workspace, error) {
	b := batch{strong: true}
	b.want(grantKey(grant))
	b.want(workspaceKey(w))
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return readGrant(f.at(grantKey(grant)), grant), readWorkspace(f.at(workspaceKey(w)), w), nil
}

// MemberAndRecord implements access.MemberStore.
func (s *Store) MemberAndRecord(ctx context.Context, w id.Workspace, m id.Member, wants access.Request) (*member.Member, *idempotency.Record, error) {
	b := batch{strong: true}
	b.want(memberKey(w, m))
	record := b.wantRecord(wants, string(m))
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return readMember(f.at(memberKey(w, m)), w, m), readRecord(f.hot(record)), nil
}
