package member

import (
	"context"
	"errors"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

// ErrKnown reports that the person became a member in the meantime.
var ErrKnown = errors.New("this person is a member already")

// Store is the storage that Service uses.
type Store interface {
	// ByIdentity reads the member with a subject at an issuer, and the workspace, with strong consistency. It
	// returns nil if there is none.
	ByIdentity(ctx context.Context, issuer, subject string) (*Member, *workspace.Workspace, error)
	// Add commits the member, the workspace and the event of a first sign-in in one transaction. It returns
	// ErrKnown, and writes no item, if the person is a member already.
	Add(ctx context.Context, a NewMember) error
	// Touch writes the e-mail address and SeenAt of m if the stored SeenAt is older than since, or if the stored
	// address differs and is not newer than m. Otherwise it changes no item.
	Touch(ctx context.Context, m Member, since time.Time) error
}

// NewMember holds the items that a first sign-in creates.
type NewMember struct {
	Member    Member
	Workspace workspace.Workspace
	Event     event.Event
}

// SignedIn is a person who has signed in.
type SignedIn struct {
	Member    Member
	Workspace workspace.Workspace
	New       bool // this call created the member and the workspace
	// Operator is when the identity provider authenticated the person as an operator; zero if it did not. It is not
	// stored with the member, because every sign-in has to prove it again.
	Operator time.Time
}

// Service identifies people by issuer and subject, never by e-mail address.
type Service struct {
	Store Store
	Now   func() time.Time
}

// SignIn finds the member of a person, or creates one with a workspace of its own. Of several concurrent first
// sign-ins one creates them, and all of them return the same member. No API key is created.
func (r *Service) SignIn(ctx context.Context, who Identity, requestID string) (SignedIn, error) {
	if who.Issuer == "" || who.Subject == "" || who.Email == "" {
		return SignedIn{}, errors.New("an identity without issuer, subject or address")
	}
	in, err := r.signIn(ctx, who, requestID)
	if err != nil {
		return SignedIn{}, err
	}
	in.Operator = who.OperatorAt()
	return in, nil
}

func (r *Service) signIn(ctx context.Context, who Identity, requestID string) (SignedIn, error) {
	m, w, err := r.Store.ByIdentity(ctx, who.Issuer, who.Subject)
	if err != nil {
		return SignedIn{}, err
	}
	if m != nil {
		return r.touch(ctx, *m, *w, who)
	}
	a := newMember(who, r.Now(), requestID)
	switch err := r.Store.Add(ctx, a); {
	case err == nil:
		return SignedIn{Member: a.Member, Workspace: a.Workspace, New: true}, nil
	case !errors.Is(err, ErrKnown):
		return SignedIn{}, err
	}
	m, w, err = r.Store.ByIdentity(ctx, who.Issuer, who.Subject)
	if err == nil && m == nil {
		err = errors.New("a member vanished")
	}
	if err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Member: *m, Workspace: *w}, nil
}

// touch records when a member was last seen, and the current address at the provider.
func (r *Service) touch(ctx context.Context, m Member, w workspace.Workspace, who Identity) (SignedIn, error) {
	now := r.Now()
	since := now.Add(-limits.SessionSeenEvery)
	if m.Email == who.Email && m.SeenAt.After(since) {
		return SignedIn{Member: m, Workspace: w}, nil
	}
	m.Email, m.SeenAt = who.Email, now
	return SignedIn{Member: m, Workspace: w}, r.Store.Touch(ctx, m, since)
}

func newMember(who Identity, now time.Time, requestID string) NewMember {
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
		Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
		CreatedAt: now,
		SeenAt:    now,
	}
	return NewMember{Member: m, Workspace: w, Event: event.Event{
		ID:        id.NewEvent(),
		Workspace: w.ID,
		At:        now,
		Action:    event.WorkspaceCreated,
		Actor:     event.ByMember(m.ID),
		Target:    event.Target{Type: event.OnWorkspace, ID: string(w.ID)},
		RequestID: requestID,
	}}
}

// nameFor returns the first name of the workspace of a person.
func nameFor(email string) string {
	const ending = "'s Workspace"
	local := email
	if at := strings.LastIndexByte(email, '@'); at > 0 {
		local = email[:at]
	}
	return text.Cut(local, limits.WorkspaceNameRunes-len(ending)) + ending
}
