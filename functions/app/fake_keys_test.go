package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

type keyring struct{ *house }

func (s keyring) Create(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, name string, _ time.Duration,
) (contract.CreatedKey, error) {
	s.commands = append(s.commands, c)
	if err := s.called(ctx, "Create "+name); err != nil {
		return contract.CreatedKey{}, err
	}
	if name == "" {
		return contract.CreatedKey{}, fault.New(fault.InvalidRequest, "name must have 1 to 120 characters")
	}
	return contract.CreatedKey{APIKey: liveKey(name).Summary(), Secret: "ap_pk_preview_0123456789ABCDEF_" + strings.Repeat("s", 71)}, nil
}

func (s keyring) List(
	ctx context.Context, _ credential.Actor, which credential.Which, p cursor.Page,
) ([]credential.Key, contract.PageInfo, error) {
	if s.empty {
		return nil, contract.PageInfo{}, nil
	}
	list := []credential.Key{liveKey(s.title)}
	if which == credential.EndedKeys {
		past := liveKey("Last year's server")
		past.ExpiresAt = noon.Add(-time.Hour)
		list = []credential.Key{endedKey(), past}
	}
	info, err := s.turn(p)
	return list, info, cmp.Or(err, s.failing(ctx))
}

func liveKey(name string) credential.Key {
	return credential.Key{
		ID:        keyID,
		Name:      name,
		Public:    "0123456789ABCDEF",
		Scopes:    []credential.Scope{credential.Publish, credential.Read},
		CreatedAt: noon,
	}
}

func endedKey() credential.Key {
	k := liveKey("Old laptop")
	k.ID, k.RevokedAt = endedKeyID, noon
	return k
}

func (s keyring) Key(ctx context.Context, _ credential.Actor, k id.Key) (credential.Key, error) {
	switch k {
	case keyID:
		return liveKey(s.title), s.failing(ctx)
	case endedKeyID:
		return endedKey(), s.failing(ctx)
	}
	return credential.Key{}, fault.New(fault.NotFound, "no such key")
}

func (s keyring) Revoke(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, k id.Key,
) (contract.RevokedKey, error) {
	s.commands = append(s.commands, c)
	return contract.RevokedKey{}, s.called(ctx, "Revoke "+string(k))
}

type accounts struct{ numbers *limits.Limits }

func (a accounts) Workspace(by credential.Actor, m member.Member) contract.WebWorkspace {
	return contract.WebWorkspace{
		Workspace: by.Workspace.Summary(), WorkspaceMember: m.Summary(), UsagePolicy: workspace.UsagePolicy(a.numbers, by.Workspace.Tier(), nil),
	}
}

func (a accounts) Policy(_ context.Context, by credential.Actor) contract.UsagePolicy {
	return workspace.UsagePolicy(a.numbers, by.Workspace.Tier(), new(7))
}

type counter struct{ *house }

func (s counter) Actor(_ context.Context, w id.Workspace, subject string) error {
	s.calling.Lock()
	defer s.calling.Unlock()
	s.counted = append(s.counted, string(w)+" "+subject)
	return s.tooMany
}
