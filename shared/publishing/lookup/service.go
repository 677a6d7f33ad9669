package lookup

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/text"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/lockdown"
)

// Service looks things up for operators. Other callers get not_found.
type Service struct {
	Store   Store
	Locks   Locks
	Reader  abuse.Reader
	URLs    URLs
	Marks   Marks
	Members Members
	Copies  Copies
	Now     func() time.Time
}

// Find tells what a pasted text is. It records the event of the look-up before it returns. The event has a kind and an
// id, and never the text, which may hold secrets. An e-mail address gives one event for each of its members. Errors:
// invalid_request for a text that is neither an id nor an address.
func (s *Service) Find(ctx context.Context, by credential.Actor, pasted string) (Finding, error) {
	now := s.Now().UTC().Truncate(time.Millisecond) // the precision that is stored
	if err := by.Operates(now); err != nil {
		return Finding{}, err
	}
	n, ok := s.read(pasted)
	if !ok {
		return Finding{}, fault.New(fault.InvalidRequest, "this is neither an id nor an address of this deployment nor one of e-mail")
	}
	f, err := s.find(ctx, n)
	if err != nil {
		return Finding{}, err
	}
	f.At = now
	detail := "found"
	if !f.Found() {
		detail = "not found"
	}
	return f, s.Store.Record(ctx, f.records(by, detail)...)
}

// OldCopy returns when the data was last copied if that is longer ago than limits.CopyAge. It returns the zero time
// otherwise, and where the data was never copied.
func (s *Service) OldCopy(ctx context.Context, by credential.Actor) (time.Time, error) {
	now := s.Now()
	if err := by.Operates(now); err != nil {
		return time.Time{}, err
	}
	at, err := s.Copies.Newest(ctx)
	if err != nil || now.Sub(at) <= limits.CopyAge {
		return time.Time{}, err
	}
	return at, nil
}

// find reads the item that a text names, and its owner.
func (s *Service) find(ctx context.Context, n named) (f Finding, err error) {
	f = Finding{Kind: n.kind, ID: n.id}
	switch n.kind {
	case event.OnWorkspace:
		return f, s.owner(ctx, &f, id.Workspace(n.id))
	case event.OnKey:
		public, _ := id.Key(n.id).Public()
		return f, s.key(ctx, &f, public)
	case event.OnLink:
		return f, s.link(ctx, &f, id.Public(n.id))
	case event.OnArtifact:
		return f, s.artifact(ctx, &f, id.Artifact(n.id))
	}
	if n.address != "" {
		f.Members, err = s.Members.ByAddress(ctx, n.address)
	}
	return f, err
}

// link reads a link with its artifact. A public id may be that of a key.
func (s *Service) link(ctx context.Context, f *Finding, p id.Public) (err error) {
	if f.Link, err = s.Store.Link(ctx, p); err != nil {
		return err
	}
	if f.Link != nil {
		return s.artifact(ctx, f, f.Link.Artifact)
	}
	return s.key(ctx, f, p)
}

func (s *Service) key(ctx context.Context, f *Finding, p id.Public) (err error) {
	if f.Key, err = s.Store.Key(ctx, p); err != nil || f.Key == nil {
		return err
	}
	f.Kind, f.ID = event.OnKey, string(f.Key.ID)
	return s.owner(ctx, f, f.Key.Workspace)
}

// artifact reads an artifact as its owner has it now, and its owner.
func (s *Service) artifact(ctx context.Context, f *Finding, a id.Artifact) (err error) {
	if f.Artifact, err = s.Store.Artifact(ctx, a); err != nil || f.Artifact == nil {
		return err
	}
	if err := s.lock(ctx, f, lockdown.Artifact, string(a)); err != nil {
		return err
	}
	owner, err := s.Store.Workspace(ctx, f.Artifact.Owner)
	if err != nil || owner == nil {
		return err
	}
	if owner.ClaimedInto != "" {
		f.Artifact = f.Artifact.AfterClaimOf(*owner)
	}
	return s.owner(ctx, f, f.Artifact.Owner)
}

func (s *Service) owner(ctx context.Context, f *Finding, w id.Workspace) (err error) {
	if f.Workspace, err = s.Store.Workspace(ctx, w); err != nil || f.Workspace == nil {
		return err
	}
	return s.lock(ctx, f, lockdown.Workspace, string(w))
}

// lock adds the lockdown of a target that is in effect.
func (s *Service) lock(ctx context.Context, f *Finding, scope lockdown.Scope, target string) error {
	l, err := s.Locks.Active(ctx, scope, target)
	if l != nil {
		f.Locks = append(f.Locks, *l)
	}
	return err
}

// hotFor is how long an artifact that was read often counts as hot.
const hotFor = time.Hour

// Hot returns the artifacts that were read often in the last hour, the newest mark first.
func (s *Service) Hot(ctx context.Context, by credential.Actor) ([]rate.Hot, error) {
	now := s.Now()
	if err := by.Operates(now); err != nil {
		return nil, err
	}
	return s.Marks.Hot(ctx, now.Add(-hotFor), now)
}

// Open returns a URL at which an operator sees an artifact. It records the event with the reason first. Errors:
// invalid_request for a missing reason and for a locked artifact, not_found.
func (s *Service) Open(ctx context.Context, by credential.Actor, a id.Artifact, reason string) (Opened, error) {
	now := s.Now().UTC().Truncate(time.Millisecond) // the precision that is stored
	if err := by.Operates(now); err != nil {
		return Opened{}, err
	}
	reason, err := text.Reason.Clean(reason)
	if err != nil {
		return Opened{}, err
	}
	if _, err := a.Bits(); err != nil {
		return Opened{}, fault.NewCode(fault.NotFound)
	}
	f := Finding{Kind: event.OnArtifact, ID: string(a), At: now}
	if err := s.artifact(ctx, &f, a); err != nil {
		return Opened{}, err
	}
	switch {
	case len(f.Locks) > 0:
		return Opened{}, fault.New(fault.InvalidRequest, "it is locked, so it opens nowhere; lift the lock to see it")
	case f.Workspace == nil || !f.Artifact.Active(now) || f.Artifact.Current == "":
		return Opened{}, fault.New(fault.NotFound, "there is nothing to open")
	}
	e := f.record(by, event.ContentOpened, reason)
	e.Revision = f.Artifact.Current
	if err := s.Store.Record(ctx, e); err != nil {
		return Opened{}, err
	}
	return s.opened(f)
}

// opened mints the URL. Its token lets no script run.
func (s *Service) opened(f Finding) (Opened, error) {
	o := Opened{
		Artifact: f.Artifact.ID,
		Revision: f.Artifact.Current,
		Until:    f.At.Add(limits.OperatorFresh).Truncate(time.Second),
	}
	prefix, err := s.URLs.Content(token.Claims{
		Workspace: f.Workspace.ID,
		Artifact:  o.Artifact,
		Revision:  o.Revision,
		NoIndex:   true,
		Expires:   o.Until,
	})
	o.URL = prefix + address.Escape(f.Artifact.Entrypoint)
	return o, err
}

// noMember is the target of a look-up by an e-mail address that no member has.
const noMember = "none"

// records returns the events of a look-up.
func (f Finding) records(by credential.Actor, detail string) []event.Event {
	e := f.record(by, event.LookedUp, detail)
	if f.ID != "" {
		return []event.Event{e}
	}
	if e.Target.ID = noMember; len(f.Members) == 0 {
		return []event.Event{e}
	}
	all := make([]event.Event, len(f.Members))
	for n, m := range f.Members {
		all[n] = e
		all[n].ID = id.NewEvent()
		all[n].Workspace, all[n].Target.ID = m.Workspace, string(m.Member)
	}
	return all
}

// record returns the event of an operator's action on a finding, in the record of its owner.
func (f Finding) record(by credential.Actor, action event.Action, detail string) event.Event {
	e := event.Event{
		ID:        id.NewEvent(),
		Workspace: id.NoWorkspace,
		At:        f.At,
		Action:    action,
		Actor:     event.ByOperator(by.Member),
		Target:    event.Target{Type: f.Kind, ID: f.ID},
		Detail:    detail,
		RequestID: by.RequestID,
	}
	if f.Workspace != nil {
		e.Workspace = f.Workspace.ID
	}
	return e
}
