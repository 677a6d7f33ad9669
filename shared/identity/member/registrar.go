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

// ErrKnown says that a person became a member meanwhile.
var ErrKnown = errors.New("this person is a member already")

// Store is what Registrar needs.
type Store interface {
	// MemberByIdentity finds the member behind a subject of an issuer, strongly, with the workspace; nil if there is none.
	MemberByIdentity(ctx context.Context, issuer, subject string) (*Member, *workspace.Workspace, error)
	// AddMember commits a person's member, workspace and event in one transaction; ErrKnown if the person is a member already,
	// and then nothing is written.
	AddMember(ctx context.Context, a NewMember) error
	// TouchMember writes e-mail address and SeenAt of m if what is stored is older than since, or has another address and is not
	// younger than m. Otherwise it changes nothing.
	TouchMember(ctx context.Context, m Member, since time.Time) error
}

// NewMember is everything that a first sign-in makes.
type NewMember struct {
	Member    Member
	Workspace workspace.Workspace
	Event     event.Event
}

// SignedIn is a person who is here.
type SignedIn struct {
	Member    Member
	Workspace workspace.Workspace
	New       bool // this call made member and workspace
	// Operator is when the identity provider vouched for them as an operator; zero: it did not. It is never stored with
	// the member: whoever comes in again is asked again.
	Operator time.Time
}

// Service knows people by issuer and subject, never by their address.
type Service struct {
	Store Store
	Now   func() time.Time
}

// SignIn finds the member that a person is, or makes one with a workspace of its own. Of several first sign-ins at once one
// makes them and all find the same. Nobody gets an API key on the way.
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
	m, w, err := r.Store.MemberByIdentity(ctx, who.Issuer, who.Subject)
	if err != nil {
		return SignedIn{}, err
	}
	if m != nil {
		return r.touch(ctx, *m, *w, who)
	}
	a := admission(who, r.Now(), requestID)
	switch err := r.Store.AddMember(ctx, a); {
	case err == nil:
		return SignedIn{Member: a.Member, Workspace: a.Workspace, New: true}, nil
	case !errors.Is(err, ErrKnown):
		return SignedIn{}, err
	}
	m, w, err = r.Store.MemberByIdentity(ctx, who.Issuer, who.Subject)
	if err == nil && m == nil {
		err = errors.New("a member vanished")
	}
	if err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Member: *m, Workspace: *w}, nil
}

// touch notes that a member is back, and the address that the provider has now.
func (r *Service) touch(ctx context.Context, m Member, w workspace.Workspace, who Identity) (SignedIn, error) {
	now := r.Now()
	since := now.Add(-limits.SessionSeenEvery)
	if m.Email == who.Email && m.SeenAt.After(since) {
		return SignedIn{Member: m, Workspace: w}, nil
	}
	m.Email, m.SeenAt = who.Email, now
	return SignedIn{Member: m, Workspace: w}, r.Store.TouchMember(ctx, m, since)
}

func admission(who Identity, now time.Time, requestID string) NewMember {
	now = now.UTC().Truncate(time.Millisecond) // as it is stored
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

// nameFor is what the workspace of a person with an address is called at first.
func nameFor(email string) string {
	const ending = "'s Workspace"
	local := email
	if at := strings.LastIndexByte(email, '@'); at > 0 {
		local = email[:at]
	}
	return text.Cut(local, limits.WorkspaceNameRunes-len(ending)) + ending
}
