package member

import (
	"context"
	"errors"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

// ErrKnown reports that the person became a member in the meantime.
var ErrKnown = errors.New("this person is a member already")

// Store is the storage that Service uses.
type Store interface {
	// ByIdentity reads the member with a subject at an issuer, and the workspace with its sign-ins, with strong
	// consistency. It returns nil if there is none.
	ByIdentity(ctx context.Context, issuer, subject string) (*Member, *workspace.Workspace, error)
	// ByAddress reads the members with an address, with strong consistency. It misses members whose last sign-in is older
	// than the list of addresses.
	ByAddress(ctx context.Context, a Address) ([]Addressee, error)
	// Member reads a member and the workspace with strong consistency. It returns nil for what does not exist.
	Member(ctx context.Context, w id.Workspace, m id.Member) (*Member, *workspace.Workspace, error)
	// Add commits the member, the workspace and the event of a first sign-in in one transaction. It returns ErrKnown, and
	// writes no item, if the person is a member already or the members with the address are not a.Others any more.
	Add(ctx context.Context, a NewMember) error
	// Touch writes the e-mail address and SeenAt of m if the stored SeenAt is older than since, or if the stored address
	// differs and is not newer than m. Otherwise it changes no item. It also lists the member under the new address
	// instead of the old one.
	Touch(ctx context.Context, m Member, since time.Time) error
	// RecordSignIn writes the last sign-in of a member. It writes no item if the member is gone.
	RecordSignIn(ctx context.Context, m Member, in workspace.SignIn) error
}

// NewMember holds the items that a first sign-in creates.
type NewMember struct {
	Member    Member
	Workspace workspace.Workspace
	Operator  bool // the identity provider lists the person as an operator
	Event     event.Event
	Others    []Addressee // the other members with the address of Member, as they were read
}

// SignedIn is a person who has signed in.
type SignedIn struct {
	Member    Member
	Workspace workspace.Workspace
	New       bool // this call created the member and the workspace
	// Operator is when the identity provider authenticated the person as an operator; zero if it did not. It is not
	// stored with the member, because every sign-in has to prove it again.
	Operator time.Time
	// AuthenticatedAt is when the identity provider authenticated the person; zero if it does not say. It is not stored
	// with the member either.
	AuthenticatedAt time.Time
}

// Service identifies people by issuer and subject, never by e-mail address.
type Service struct {
	Store     Store
	Allowlist workspace.Allowlist
	Now       func() time.Time
}

// SignIn finds the member of a person, or creates one with a workspace of its own. Of several concurrent first sign-ins
// one creates them, and all return the same member. It creates no API key. It fails with Unconfirmed for a new person
// whose address belongs to one member only, which a provider of agents made, and with workspace.NotAllowedError for a
// person whom the deployment does not let in.
func (s *Service) SignIn(ctx context.Context, who Identity, requestID string) (SignedIn, error) {
	if who.Issuer == "" || who.Subject == "" || who.Email == "" {
		return SignedIn{}, errors.New("an identity without issuer, subject or address")
	}
	in, err := s.signIn(ctx, who, requestID)
	if err != nil {
		return SignedIn{}, err
	}
	in.Operator = who.OperatorAt()
	in.AuthenticatedAt = who.AuthenticatedAt
	return in, nil
}

func (s *Service) signIn(ctx context.Context, who Identity, requestID string) (SignedIn, error) {
	return conflict.Retry(races, func() (SignedIn, error) {
		m, w, err := s.Store.ByIdentity(ctx, who.Issuer, who.Subject)
		if err != nil {
			return SignedIn{}, err
		}
		if m != nil {
			return s.touch(ctx, *m, *w, who)
		}
		if !s.Allowlist.Allows(who.SignIn()) {
			return SignedIn{}, s.Allowlist.Refuse()
		}
		others, err := s.Store.ByAddress(ctx, AddressOf(who.Email))
		if err == nil {
			err = s.confirmed(ctx, others, who)
		}
		if err != nil {
			return SignedIn{}, err
		}
		a := New(who, s.Now(), requestID)
		a.Others = others
		return SignedIn{Member: a.Member, Workspace: a.Workspace, New: true}, s.Store.Add(ctx, a)
	})
}

// races bounds optimistic retries of first sign-ins. A lost attempt reads again, because the person or another member
// with the address may be there now.
var races = conflict.Policy{Lost: ErrKnown, Attempts: 5, Exhausted: func() error {
	return fault.New(fault.DatabaseUnavailable, "too many sign-ins with the same address; repeat the request in a moment")
}}

// confirmed fails with Unconfirmed if a provider of agents made the only member with the person's address.
func (s *Service) confirmed(ctx context.Context, others []Addressee, who Identity) error {
	if len(others) != 1 {
		return nil
	}
	m, _, err := s.Store.Member(ctx, others[0].Workspace, others[0].Member)
	if err == nil && m != nil && m.ProviderMade() {
		err = &Unconfirmed{Member: *m, Who: who}
	}
	return err
}

// touch records that a member was seen, and what the provider says now. It records that even for a member who is not let
// in any more, so that the member's other credentials are refused too.
func (s *Service) touch(ctx context.Context, m Member, w workspace.Workspace, who Identity) (SignedIn, error) {
	if in := who.SignIn(); w.SignIns[m.ID] != in {
		if err := s.Store.RecordSignIn(ctx, m, in); err != nil {
			return SignedIn{}, err
		}
	}
	if !s.Allowlist.Allows(who.SignIn()) {
		return SignedIn{}, s.Allowlist.Refuse()
	}
	now := s.Now()
	since := now.Add(-limits.SessionSeenEvery)
	if m.Email == who.Email && m.SeenAt.After(since) {
		return SignedIn{Member: m, Workspace: w}, nil
	}
	m.Email, m.SeenAt = who.Email, now
	return SignedIn{Member: m, Workspace: w}, s.Store.Touch(ctx, m, since)
}

// New returns a member for an identity, with a workspace of its own.
func New(who Identity, now time.Time, requestID string) NewMember {
	now = now.UTC().Truncate(time.Millisecond) // the precision of the store
	w := workspace.Workspace{
		ID:        id.NewWorkspace(),
		Name:      nameFor(who.Email),
		Plan:      workspace.FreePlan,
		CreatedAt: now,
		ClaimedAt: now,
	}
	m := Member{
		ID:        id.NewMember(),
		Workspace: w.ID,
		Issuer:    who.Issuer,
		Subject:   who.Subject,
		Email:     who.Email,
		Listed:    AddressOf(who.Email),
		Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
		CreatedAt: now,
		SeenAt:    now,
	}
	return NewMember{Member: m, Workspace: w, Operator: who.Operator, Event: event.Event{
		ID:        id.NewEvent(),
		Workspace: w.ID,
		At:        now,
		Action:    event.WorkspaceCreated,
		Actor:     event.ByMember(m.ID),
		Target:    event.Target{Type: event.OnWorkspace, ID: string(w.ID)},
		RequestID: requestID,
	}}
}

// nameFor returns the initial name of a person's workspace.
func nameFor(email string) string {
	const ending = "'s Workspace"
	local := email
	if at := strings.LastIndexByte(email, '@'); at > 0 {
		local = email[:at]
	}
	return text.Cut(local, limits.WorkspaceNameRunes-len(ending)) + ending
}
