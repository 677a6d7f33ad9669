package app

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

type fakeSessions struct{ *fakeServices }

func (f fakeSessions) Authenticate(ctx context.Context, given, requestID string) (session.Authenticated, error) {
	found, err := fakeDeletions(f).AuthenticateDeleting(ctx, given, requestID)
	if w := found.Actor.Workspace; w.Deleting() {
		return session.Authenticated{}, w.RefuseDeleting()
	}
	return found, err
}

func (f fakeSessions) End(ctx context.Context, given, _ string) error {
	return f.changed(ctx, "End "+given)
}

func (f fakeSessions) EndAll(ctx context.Context, _ credential.Actor) error {
	return f.changed(ctx, "EndAll")
}

func (f fakeSessions) List(ctx context.Context, a session.Authenticated) ([]session.Session, error) {
	other := a.Session
	other.Hash[0], other.Browser, other.SeenAt = 7, f.device, noon.Add(-2*time.Hour)
	return []session.Session{a.Session, other}, f.called(ctx, "Sessions")
}

func (f fakeSessions) EndNamed(ctx context.Context, _ session.Authenticated, name string) error {
	return f.changed(ctx, "EndNamed "+name)
}

type fakeDeletions struct{ *fakeServices }

func (f fakeDeletions) AuthenticateDeleting(
	ctx context.Context, given, requestID string,
) (session.Authenticated, error) {
	if given != secret {
		return session.Authenticated{}, fault.New(fault.NotAuthenticated, "sign in to go on")
	}
	if f.hang {
		return session.Authenticated{}, f.failing(ctx)
	}
	by := f.actor
	by.RequestID = requestID
	return session.Authenticated{
		Session: session.Session{
			Member:    memberID,
			Workspace: homeID,
			CreatedAt: noon,
			Browser:   "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
			Network:   "192.0.2.0/24",
		},
		Member: member.Member{
			ID:        memberID,
			Workspace: homeID,
			Email:     f.email,
			Scopes:    by.Scopes,
		},
		Actor: by,
	}, nil
}

func (f fakeDeletions) Request(
	ctx context.Context, by credential.Actor, confirm string,
) (contract.WorkspaceDeletion, error) {
	if confirm != by.Workspace.Name {
		return contract.WorkspaceDeletion{}, fault.New(fault.InvalidRequest, "confirm is not the name of the workspace")
	}
	return contract.WorkspaceDeletion{}, f.changed(ctx, "RequestDeletion "+confirm)
}

func (f fakeDeletions) Cancel(ctx context.Context, _ credential.Actor) (contract.WorkspaceDeletion, error) {
	return contract.WorkspaceDeletion{}, f.changed(ctx, "CancelDeletion")
}

// questionText is the secret of the question which agents a person keeps.
const questionText = "cXVlc3Rpb24gd2hpY2ggYWdlbnRzIGEgcGVyc29uIGs"

type fakeSignIns struct {
	*fakeServices
	begun    []signin.Destination
	callback signin.Callback // what Finish got
	finished signin.Finished // what it answers
	kept     []id.Delegation
}

func (f *fakeSignIns) Begin(ctx context.Context, to signin.Destination, _ netip.Addr) (signin.Begun, error) {
	f.begun = append(f.begun, to)
	return signin.Begun{URL: "https://id.example/authorize?state=s", Cookie: "Ym91bmQ"}, f.changed(ctx, "Begin")
}

func (f *fakeSignIns) Finish(
	ctx context.Context, c signin.Callback, _ session.Client, _ string,
) (signin.Finished, error) {
	f.callback = c
	return f.finished, f.changed(ctx, "Finish")
}

func (f *fakeSignIns) SignOutURL() string { return "https://id.example/logout?client_id=web" }

func (f *fakeSignIns) PendingTakeover(
	_ context.Context, secret string,
) (signin.Question, []delegation.Delegation, error) {
	if secret != questionText {
		return signin.Question{}, nil, fault.New(fault.InvalidRequest, "nothing waits")
	}
	q := signin.Question{Who: member.Identity{Email: f.email}, ExpiresAt: noon.Add(10 * time.Minute)}
	return q, f.linked, nil
}

func (f *fakeSignIns) FinishTakeover(
	ctx context.Context, secret string, keep []id.Delegation, previous string, _ session.Client, _ string,
) (signin.Finished, error) {
	if secret != questionText {
		return signin.Finished{}, fault.New(fault.InvalidRequest, "nothing waits")
	}
	f.kept = slices.Clone(keep)
	return f.finished, f.changed(ctx, "Finish "+previous)
}
