package account

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Events reads what was done.
type Events interface {
	// List returns up to limit events that f lets through, newest first with the id as tie-breaker, after the position
	// (zero: from now on back), as far back as events are kept. more tells that others may follow, after next: reading
	// ends early where too many in a row do not pass.
	List(
		ctx context.Context, f Filter, now time.Time, after Position, limit int,
	) (rows []event.Event, next Position, more bool, err error)
}

// Filter is which events are wanted, of one workspace or of all; empty fields let everything through.
type Filter struct {
	Workspace  id.Workspace   `json:"w,omitempty"`
	ActorType  string         `json:"a,omitempty"`
	Actors     []string       `json:"b,omitempty"` // one of these types, which most events are by
	Actions    []event.Action `json:"i,omitempty"` // one of these
	Others     []event.Action `json:"o,omitempty"` // none of these
	TargetType string         `json:"t,omitempty"`
	RequestID  string         `json:"r,omitempty"`
}

// Query is which events an operator asks for, as it was sent; nil: not sent.
type Query struct {
	Workspace, ActorType, Action, TargetType, RequestID, Focus *string
}

const recordName = "record"

// OperatorLog answers one page of what was done in all workspaces. Only operators may ask; to all others it is not
// there.
func (s *Service) OperatorLog(
	ctx context.Context, by credential.Actor, asked Query, p Page,
) (contract.OperatorEventList, error) {
	now := s.Now()
	if err := by.Operates(now); err != nil {
		return contract.OperatorEventList{}, err
	}
	f, err := asked.filter()
	if err != nil {
		return contract.OperatorEventList{}, err
	}
	of := cursor.List{Workspace: by.Workspace.ID, Name: f.list(), Now: now}
	after, err := s.Cursors.Start(of, p)
	if err != nil {
		return contract.OperatorEventList{}, err
	}
	events, last, more, err := s.Events.List(ctx, f, now, position(after), p.Limit)
	if err != nil {
		return contract.OperatorEventList{}, err
	}
	out := contract.OperatorEventList{Items: make([]contract.OperatorEvent, len(events))}
	for i, e := range events {
		out.Items[i] = operatorRow(e)
	}
	if more {
		next, err := s.Cursors.Seal(of, last.bare())
		out.PageInfo = contract.Page(next)
		return out, err
	}
	return out, nil
}

// list names the list that a filter makes, because a cursor is valid only for the list that made it.
func (f Filter) list() string {
	text, _ := json.Marshal(f)
	sum := sha256.Sum256(text)
	return recordName + "/" + base64.RawURLEncoding.EncodeToString(sum[:])
}

func operatorRow(e event.Event) contract.OperatorEvent {
	out := contract.OperatorEvent{AuditRow: AuditRow(e), ActorType: e.Actor.Type, TargetType: e.Target.Type}
	if e.Workspace != "" && e.Workspace != id.NoWorkspace {
		out.WorkspaceID = &e.Workspace
	}
	if e.Actor.ID == "" {
		out.Actor = "unknown"
	}
	return out
}

// security are the actions that tell of an end or a lock; all others belong to the lifecycle.
var security = []event.Action{
	event.LockdownSet, event.LockdownLifted, event.LinksLocked, event.LinksUnlocked, event.KeyRevoked, event.TokenRevoked,
	event.DelegationRevoked, event.ArtifactDeleted, event.PlanUpdated, event.ExportCreated,
}

var actorTypes = []string{event.Key, event.Member, event.Admin, event.System, event.Platform}

// filter checks what was asked. What was sent has to be right, and what is empty is not.
func (q Query) filter() (f Filter, err error) {
	text := func(sent *string, name string, fits func(string) bool) string {
		if sent == nil {
			return ""
		}
		if !fits(*sent) {
			err = fault.New(fault.InvalidRequest, "the filter %s has no such value", name)
		}
		return *sent
	}
	f.Workspace = id.Workspace(text(q.Workspace, "workspace_id", func(s string) bool { _, err := id.Workspace(s).Bits(); return err == nil }))
	f.ActorType = text(q.ActorType, "actor_type", func(s string) bool { return slices.Contains(actorTypes, s) })
	known := func(s string) bool { return event.Summaries[event.Action(s)] != "" }
	if action := text(q.Action, "action", known); action != "" {
		f.Actions = []event.Action{event.Action(action)}
	}
	f.TargetType = text(q.TargetType, "target_type", func(s string) bool { return slices.Contains(targetTypes, s) })
	f.RequestID = text(q.RequestID, "request_id", func(s string) bool { n := utf8.RuneCountInString(s); return n >= 1 && n <= requestIDMost })
	switch focus := text(q.Focus, "focus", func(s string) bool { return slices.Contains(strings.Fields("all security lifecycle"), s) }); {
	case focus == "security" && f.Actions == nil:
		f.Actions = security
	case focus == "security" && !slices.Contains(security, f.Actions[0]):
		f.Others = f.Actions // nothing is left
	case focus == "lifecycle":
		f.Others = security
	}
	return f, err
}

const requestIDMost = 128

// Actions returns the actions that an operator may ask for, in order.
func Actions() []string {
	names := make([]string, 0, len(event.Summaries))
	for a := range event.Summaries {
		names = append(names, string(a))
	}
	slices.Sort(names)
	return names
}

// ActorTypes returns the types of actors that an operator may ask for.
func ActorTypes() []string { return slices.Clone(actorTypes) }

// TargetTypes returns the types of targets that an operator may ask for.
func TargetTypes() []string { return slices.Clone(targetTypes) }

// targetTypes are what events are about.
var targetTypes = []string{
	event.OnWorkspace, event.OnKey, event.OnSession, event.OnArtifact, event.OnRevision, event.OnDelegation,
	event.OnRegistration, event.OnCleanup,
	event.OnLink, event.OnDevice, event.OnClient, event.OnBrowser,
	event.OnMember, event.OnLockdown, event.OnReport, event.OnQuota, event.OnExport,
}
