package delegation

import (
	"cmp"
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Store is the storage that Service uses. Reads are strongly consistent, and return nil for what does not exist.
type Store interface {
	// Delegation reads a delegation, even one that has ended.
	Delegation(ctx context.Context, d id.Delegation) (*Delegation, error)
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	// End commits the end of a delegation. Its errors are ErrChanged, ErrReplayed and ErrRepeated.
	End(ctx context.Context, e Ending) error
	// List reads the delegations of a workspace that have not ended, newest first. next is the position of the last row
	// if others follow.
	List(ctx context.Context, q cursor.Query[Delegation]) (rows []Delegation, next string, err error)
}

// Ending is the end of a delegation. Its commit ends all credentials of the delegation's term.
type Ending struct {
	Was       *Delegation // as it was read; nil: there was none
	To        Delegation
	Workspace *workspace.Workspace // of Was, as it was read; nil: no workspace records the ended term
	Proof     *Proof               // the token that the commit uses up; nil: none
	At        time.Time
	Events    []event.Event
}

// Service lists and ends delegations.
type Service struct {
	Store   Store
	Cursors *cursor.Codec
	Now     func() time.Time
}

// now returns the time in the precision of the store.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

var races = conflict.Policy{Lost: ErrChanged, Attempts: 10, Exhausted: func() error {
	return fault.New(fault.DatabaseUnavailable,
		"too many requests change the same delegation; repeat the request in a moment")
}}

// LinkedProviders returns one page of the live delegations of the caller's workspace, newest first.
func (s *Service) LinkedProviders(
	ctx context.Context, by credential.Actor, p cursor.Page,
) (_ []Delegation, next string, _ error) {
	if by.Member == "" {
		return nil, "", errNoMember()
	}
	of := cursor.List{Workspace: by.Workspace.ID, Name: "delegations", Now: s.now()}
	return cursor.Read(s.Cursors, of, p, func(after string, limit int) ([]Delegation, string, error) {
		return s.Store.List(ctx, cursor.Query[Delegation]{
			Workspace: by.Workspace.ID,
			After:     after,
			Limit:     limit,
			Live:      func(d Delegation) bool { return d.Live(by.Workspace) },
		})
	})
}

// LinkedProvider returns a live delegation of the caller's workspace. It fails with not_found if there is none.
func (s *Service) LinkedProvider(ctx context.Context, by credential.Actor, which id.Delegation) (Delegation, error) {
	if by.Member == "" {
		return Delegation{}, errNoMember()
	}
	if !which.Valid() {
		return Delegation{}, errNone()
	}
	d, err := s.Store.Delegation(ctx, which)
	if err == nil && (d == nil || !d.Live(by.Workspace)) {
		err = errNone()
	}
	if err != nil {
		return Delegation{}, err
	}
	return *d, nil
}

// UnlinkProvider ends a delegation of the caller's workspace. From its commit on, the access tokens and assertions of
// its agents are invalid.
func (s *Service) UnlinkProvider(ctx context.Context, by credential.Actor, which id.Delegation) error {
	_, err := conflict.Retry(races, func() (struct{}, error) {
		d, err := s.LinkedProvider(ctx, by, which)
		if err != nil {
			return struct{}{}, err
		}
		// The commit replaces the workspace's list of ended terms, so the list has to be newer than the caller's.
		w, err := s.Store.Workspace(ctx, d.Workspace)
		if err != nil {
			return struct{}{}, err
		}
		now := s.now()
		return struct{}{}, s.Store.End(ctx, Ending{
			Was:       &d,
			To:        d.Ended(now),
			Workspace: w,
			At:        now,
			Events:    []event.Event{d.Record(event.DelegationRevoked, by.Event(), now, by.RequestID)},
		})
	})
	return err
}

// Revoke ends the delegation of a principal because the provider says so in a token. A token has an effect only once. A
// principal without a delegation gets an ended one, so that a pending step-up is invalid too. Revoke fails with
// ErrReplayed for another token with a used id. It returns nil for a repetition of the same token.
func (s *Service) Revoke(ctx context.Context, p Principal, by Proof, requestID string) error {
	_, err := conflict.Retry(races, func() (struct{}, error) {
		d, err := s.Store.Delegation(ctx, p.ID())
		if err != nil {
			return struct{}{}, err
		}
		now := s.now()
		e := Ending{Was: d, Proof: &by, At: now}
		e.To = cmp.Or(d, &Delegation{Principal: p}).Ended(now)
		if by.IssuedAt.After(e.To.RevokedAt) { // events may arrive out of order
			e.To.RevokedAt = by.IssuedAt
		}
		if d != nil && d.EndedAt.IsZero() {
			if e.Workspace, err = s.Store.Workspace(ctx, d.Workspace); err != nil {
				return struct{}{}, err
			}
			ended := d.Record(event.DelegationRevoked, event.BySystem(), now, requestID)
			ended.Detail += ", as the provider told us"
			e.Events = append(e.Events, ended)
		}
		return struct{}{}, s.Store.End(ctx, e)
	})
	if errors.Is(err, ErrRepeated) {
		return nil
	}
	return err
}

// Record returns an event about the delegation in its workspace.
func (d Delegation) Record(a event.Action, by event.Actor, at time.Time, requestID string) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: d.Workspace,
		At:        at,
		Action:    a,
		Actor:     by,
		Target:    event.Target{Type: event.OnDelegation, ID: string(d.ID())},
		Detail:    d.Host(),
		RequestID: requestID,
	}
}

// Terms returns the terms that end with an ending, as the workspace keeps them.
func (e Ending) Terms() []workspace.EndedTerm {
	return e.Workspace.EndTerms(e.At, e.Was.Term())
}

// TombstoneEnds returns when an ended delegation may be forgotten, because no credential of it and no registration that
// waits for its person is left.
func TombstoneEnds(ended time.Time) time.Time { return ended.Add(limits.MovedLife) }

func errNoMember() error {
	return fault.New(fault.NotAuthenticated, "only a member can see or end what a provider's agents may do: sign in")
}

func errNone() error { return fault.New(fault.NotFound, "no connected provider has this id") }
