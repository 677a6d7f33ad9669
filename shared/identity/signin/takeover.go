package signin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Question is a sign-in that waits until the person says which agents they keep, because so far only agents have used
// the person's address. No session is open meanwhile.
type Question struct {
	Secret    session.Hash // of the secret that the browser holds; zero: no browser waits
	Who       member.Identity
	Member    id.Member // the member that the agents' provider made
	Workspace id.Workspace
	ReturnTo  string
	ExpiresAt time.Time
}

// TakeoverStore is the storage of Takeovers. Reads are strongly consistent, and return nil for what does not exist.
type TakeoverStore interface {
	// Ask stores a question.
	Ask(ctx context.Context, q Question) error
	// Question reads a question, even one that has expired.
	Question(ctx context.Context, secret session.Hash) (*Question, error)
	// Member reads a member and the workspace.
	Member(ctx context.Context, w id.Workspace, m id.Member) (*member.Member, *workspace.Workspace, error)
	// List reads the delegations of a workspace.
	List(ctx context.Context, q cursor.Query[delegation.Delegation]) (rows []delegation.Delegation, next string, err error)
	// TakeOver commits an answer. It returns ErrAnswered if the question was answered before, or if the member, the
	// workspace or a delegation has changed since it was read.
	TakeOver(ctx context.Context, t Takeover) error
}

// ErrAnswered reports that an answer came too late.
var ErrAnswered = errors.New("the question was answered, or its subject has changed")

// Takeover is the answer to a question. Its commit ends every earlier credential of the workspace.
type Takeover struct {
	Question  Question
	To        member.Member       // the person
	Workspace workspace.Workspace // as it was read; the commit raises its epoch
	Changes   []Change
	Events    []event.Event
}

// Change is the effect of an answer on a delegation.
type Change struct{ Was, To delegation.Delegation }

// Takeovers asks people which agents that have worked under their address they keep.
type Takeovers struct {
	Store    TakeoverStore
	Sessions *session.Service
	Now      func() time.Time
}

// mostKept is how many delegations a question lists, so that the answer fits one transaction. Delegations beyond it
// end, because the epoch of the workspace is raised.
const mostKept = 40

// ask stores the question to a person, and returns the secret for the browser.
func (t *Takeovers) ask(ctx context.Context, u *member.Unconfirmed, returnTo string) (secret string, err error) {
	secret = random()
	return secret, t.Store.Ask(ctx, Question{
		Secret:    hashOf(secret),
		Who:       u.Who,
		Member:    u.Member.ID,
		Workspace: u.Member.Workspace,
		ReturnTo:  ReturnPath(returnTo),
		ExpiresAt: t.Now().Add(limits.TakeoverLife),
	})
}

// PendingTakeover returns the open question of a browser and the delegations that the person may keep. It fails with
// invalid_request if there is none.
func (t *Takeovers) PendingTakeover(ctx context.Context, secret string) (Question, []delegation.Delegation, error) {
	q, err := t.open(ctx, secret)
	if err != nil {
		return Question{}, nil, err
	}
	_, w, err := t.subject(ctx, q)
	if err != nil {
		return Question{}, nil, err
	}
	all, err := t.delegations(ctx, *w)
	return q, all, err
}

func (t *Takeovers) open(ctx context.Context, text string) (Question, error) {
	if !secret(text) {
		return Question{}, errNoQuestion()
	}
	q, err := t.Store.Question(ctx, hashOf(text))
	if err == nil && (q == nil || !t.Now().Before(q.ExpiresAt)) {
		err = errNoQuestion()
	}
	if err != nil {
		return Question{}, err
	}
	return *q, nil
}

// subject reads the member of a question and the workspace. It fails with invalid_request if a person has become the
// member meanwhile, or the address has changed.
func (t *Takeovers) subject(ctx context.Context, q Question) (*member.Member, *workspace.Workspace, error) {
	m, w, err := t.Store.Member(ctx, q.Workspace, q.Member)
	switch {
	case err != nil:
		return nil, nil, err
	case m == nil || w == nil || !m.ProviderMade() || member.AddressOf(m.Email) != member.AddressOf(q.Who.Email):
		return nil, nil, errNoQuestion()
	case !w.Open():
		return nil, nil, fault.New(fault.Forbidden, "this workspace is closed")
	}
	return m, w, nil
}

func (t *Takeovers) delegations(ctx context.Context, w workspace.Workspace) ([]delegation.Delegation, error) {
	all, _, err := t.Store.List(ctx, cursor.Query[delegation.Delegation]{
		Workspace: w.ID,
		Limit:     mostKept,
		Live:      func(d delegation.Delegation) bool { return d.Live(w) },
	})
	return all, err
}

// FinishTakeover answers the open question of a browser and signs the person in. It fails with invalid_request if there
// is none.
func (t *Takeovers) FinishTakeover(
	ctx context.Context, secret string, keep []id.Delegation, previous string, about session.Client, requestID string,
) (Finished, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.IdentityAnswer)
	defer cancel()
	q, err := t.open(ctx, secret)
	if err != nil {
		return Finished{}, err
	}
	in, err := t.Answer(ctx, q, keep, requestID)
	if err != nil {
		return Finished{}, err
	}
	if err := t.Sessions.End(ctx, previous, requestID); err != nil {
		return Finished{}, err
	}
	opened, err := t.Sessions.Start(ctx, in, about, requestID)
	return Finished{Session: opened, ReturnTo: ReturnPath(q.ReturnTo), Member: in.Member}, err
}

var answers = conflict.Policy{Lost: ErrAnswered, Attempts: 3, Exhausted: errNoQuestion}

// Answer commits which delegations a person keeps. The person becomes the member, and the other delegations end. Every
// earlier credential is invalid, because the epoch of the workspace is raised.
func (t *Takeovers) Answer(
	ctx context.Context, q Question, keep []id.Delegation, requestID string,
) (member.SignedIn, error) {
	return conflict.Retry(answers, func() (member.SignedIn, error) {
		m, w, err := t.subject(ctx, q)
		if err != nil {
			return member.SignedIn{}, err
		}
		all, err := t.delegations(ctx, *w)
		if err != nil {
			return member.SignedIn{}, err
		}
		now := t.Now().UTC().Truncate(time.Millisecond)
		c := Takeover{Question: q, To: *m, Workspace: *w}
		c.To.Issuer = q.Who.Issuer
		c.To.Subject = q.Who.Subject
		c.To.Email = q.Who.Email
		c.To.SeenAt = now
		by := event.ByMember(m.ID)
		c.Events = []event.Event{{
			ID:        id.NewEvent(),
			Workspace: w.ID,
			At:        now,
			Action:    event.MemberConfirmed,
			Actor:     by,
			Target:    event.Target{Type: event.OnWorkspace, ID: string(w.ID)},
			RequestID: requestID,
		}}
		for _, d := range all {
			to := d.Ended(now)
			if slices.Contains(keep, d.ID()) {
				to.EndedAt, to.Epoch = time.Time{}, w.Epoch+1
			} else {
				c.Events = append(c.Events, d.Record(event.DelegationRevoked, by, now, requestID))
			}
			c.Changes = append(c.Changes, Change{Was: d, To: to})
		}
		err = t.Store.TakeOver(ctx, c)
		after := *w
		after.Epoch++
		return member.SignedIn{
			Member:          c.To,
			Workspace:       after,
			Operator:        q.Who.OperatorAt(),
			AuthenticatedAt: q.Who.AuthenticatedAt,
		}, err
	})
}

func hashOf(secret string) session.Hash {
	raw, _ := base64.RawURLEncoding.DecodeString(secret)
	return sha256.Sum256(raw)
}

func errNoQuestion() error {
	return fault.New(fault.InvalidRequest, "nothing waits for an answer here, or it waited too long: sign in again")
}
