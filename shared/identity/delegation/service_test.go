package delegation_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"vitrine/scripts/testkit/tables"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

func TestATokenThatRevokesMayBeSentAgain(t *testing.T) {
	s := &delegation.Service{Store: tables.New(t).Stores.Delegations, Now: time.Now}
	p := delegation.Principal{Issuer: "https://idp.example", Subject: "ada", Audience: "a"}
	first := delegation.Proof{
		Kind:     delegation.Event,
		Issuer:   p.Issuer,
		ID:       "jti-1",
		Digest:   sha256.Sum256([]byte("one")),
		IssuedAt: time.Now(),
		Until:    time.Now().Add(time.Hour),
	}
	other := first
	other.Digest = sha256.Sum256([]byte("another with its id"))
	for n, c := range []struct {
		proof delegation.Proof
		want  error
	}{{first, nil}, {first, nil}, {other, delegation.ErrReplayed}} {
		if err := s.Revoke(t.Context(), p, c.proof, "request"); !errors.Is(err, c.want) {
			t.Errorf("Revoke no. %d = %v, want %v", n+1, err, c.want)
		}
	}
}

// fakeStore holds one delegation, and no workspace that can be read.
type fakeStore struct {
	delegation.Store
	held  delegation.Delegation
	err   error
	ended int
}

func (f *fakeStore) Delegation(context.Context, id.Delegation) (*delegation.Delegation, error) {
	return &f.held, nil
}

func (f *fakeStore) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return nil, f.err
}

func (f *fakeStore) End(context.Context, delegation.Ending) error {
	f.ended++
	return nil
}

// Without its workspace an end would leave the access tokens of the agents valid.
func TestADelegationDoesNotEndWithoutItsWorkspace(t *testing.T) {
	by := credential.Actor{Member: id.NewMember(), Workspace: workspace.Workspace{ID: id.NewWorkspace()}}
	f := &fakeStore{
		held: delegation.Delegation{
			Principal: delegation.Principal{Issuer: "https://idp.example", Subject: "ada", Audience: "a"},
			Workspace: by.Workspace.ID,
		},
		err: errors.New("the tables are away"),
	}
	s := &delegation.Service{Store: f, Now: time.Now}
	if err := s.UnlinkProvider(t.Context(), by, f.held.ID()); !errors.Is(err, f.err) || f.ended > 0 {
		t.Errorf("UnlinkProvider = %v after %d ends, want %v and none", err, f.ended, f.err)
	}
}
