package claim

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// Store is the storage that Service uses.
type Store interface {
	// Token reads a claim token with strong consistency. It returns nil if there is none.
	Token(ctx context.Context, public id.Public) (*Token, error)
	// Move commits a claim. Errors: *idempotency.AlreadyDone, ErrGone, not_authenticated (the destination closed),
	// database_unavailable.
	Move(ctx context.Context, m Move) error
}

// Artifacts lists the artifacts that a claim moves.
type Artifacts interface {
	// List returns one page of a workspace's artifacts, newest first.
	List(ctx context.Context, q artifact.Query) (rows []artifact.Artifact, more bool, err error)
}

// Service lets members take over ephemeral workspaces.
type Service struct {
	Store       Store
	Artifacts   Artifacts
	Peppers     keyring.Derived
	Environment credential.Environment
	Now         func() time.Time
}

// claimable is a usable token with the artifacts of its workspace.
type claimable struct {
	token     Token
	artifacts []artifact.Artifact // the newest limits.ClaimListed
}

// Preview returns what a claim would move into the caller's workspace. It writes no item. It fails with the same
// not_found for every token that cannot be used.
func (s *Service) Preview(ctx context.Context, by credential.Actor, claimToken string) (Preview, error) {
	h, err := s.open(ctx, by, claimToken, s.Now())
	if err == nil && !h.token.RedeemedAt.IsZero() {
		err = unusable()
	}
	if err != nil {
		return Preview{}, err
	}
	p := Preview{
		Workspace: h.token.Workspace,
		CreatedAt: h.token.CreatedAt,
		ExpiresAt: h.token.ExpiresAt,
		Count:     len(h.artifacts),
		Titles:    []string{},
	}
	for _, a := range h.artifacts[:min(len(h.artifacts), limits.ClaimTitles)] {
		p.Titles = append(p.Titles, a.Title)
	}
	return p, nil
}

// Claim moves the contents of a token's workspace into the caller's. Credentials of the claimed workspace end, and give
// no access to the caller's. Claim fails with the same not_found for every token that cannot be used. Of several
// concurrent claims one wins. A repeated command gets the first answer.
func (s *Service) Claim(
	ctx context.Context, by credential.Actor, command idempotency.Command, record *idempotency.Record, claimToken string,
) (contract.Claimed, error) {
	now := s.Now()
	return idempotency.Do(command, record, now, func() (contract.Claimed, error) {
		h, err := s.open(ctx, by, claimToken, now)
		if err != nil {
			return contract.Claimed{}, err
		}
		answer := contract.Claimed{
			DestinationWorkspaceID: by.Workspace.ID,
			SourceWorkspaceID:      h.token.Workspace,
			ClaimTokenID:           h.token.ID,
			ArtifactIDs:            make([]id.Artifact, len(h.artifacts)),
		}
		for i, a := range h.artifacts {
			answer.ArtifactIDs[i] = a.ID
		}
		m := s.move(by, h.token, now)
		m.Command = &command
		m.Result = idempotency.Encode(answer)
		err = s.Store.Move(ctx, m)
		if errors.Is(err, ErrGone) {
			err = unusable()
		}
		return answer, err
	})
}

// open checks a token and lists the artifacts of its workspace in parallel. An unknown token costs the same as a known
// one. A redeemed token passes, because only the commit can tell whether the same command redeemed it.
func (s *Service) open(ctx context.Context, by credential.Actor, text string, now time.Time) (claimable, error) {
	if by.Member == "" || by.Workspace.ClaimedAt.IsZero() {
		return claimable{}, fault.New(fault.NotAuthenticated, "only a member can claim: sign in")
	}
	sent, err := credential.Parse(text, credential.ClaimToken, s.Environment)
	if err != nil || sent.Workspace == by.Workspace.ID || sent.Workspace == id.NoWorkspace {
		return claimable{}, unusable()
	}
	var h claimable
	listed := async.Start(func() (err error) {
		h.artifacts, _, err = s.Artifacts.List(ctx, artifact.Query{Workspace: sent.Workspace, Limit: limits.ClaimListed, Now: now})
		return err
	})
	stored, err := s.Store.Token(ctx, sent.Public)
	if err := errors.Join(err, listed()); err != nil {
		return claimable{}, err
	}
	if stored == nil {
		stored = new(Token)
	}
	h.token = *stored
	if !sent.Matches(stored.Hash, s.Peppers) || stored.Workspace != sent.Workspace || !now.Before(stored.ExpiresAt) {
		return claimable{}, unusable()
	}
	return h, nil
}

// move returns the claim of a token that a member holds. It does not let in the agent of the token, because that needs
// the code that the agent shows.
func (s *Service) move(by credential.Actor, t Token, now time.Time) Move {
	return Move{
		Source:       t.Workspace,
		Destination:  by.Workspace.ID,
		Token:        t,
		Member:       by.Member,
		Registration: t.Registration,
		MinExpiry:    limits.End(now, by.Workspace.Life(by.Policy)),
		At:           now,
		Events:       []event.Event{by.Record(now, event.WorkspaceClaimed, event.OnWorkspace, string(t.Workspace), "workspace "+string(t.Workspace))},
	}
}

func unusable() error {
	return fault.New(fault.NotFound, "this claim token cannot be used: it is unknown, expired, used up, or of your own workspace")
}
