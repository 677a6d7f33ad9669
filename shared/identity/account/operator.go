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

// Events reads events.
type Events interface {
	// List returns up to limit events that pass f, newest first with the id as tie-breaker, as far back as events are
	// kept. It begins after the position; zero: at now. more reports that others may follow after next. A page may be
	// short, because List stops reading after too many events in a row that do not pass.
	List(
		ctx context.Context, f Filter, now time.Time, after Position, limit int,
	) (rows []event.Event, next Position, more bool, err error)
}

// Filter selects events of one workspace or of all. An empty field lets every event pass.
type Filter struct {
	Since      time.Time      `json:"-"` // events before it do not pass; no caller over the network sets it
	Workspace  id.Workspace   `json:"w,omitempty"`
	ActorType  string         `json:"a,omitempty"`
	Actors     []string       `json:"b,omitempty"` // one of these types; most events are of them
	Actions    []event.Action `json:"i,omitempty"` // one of these
	Others     []event.Action `json:"o,omitempty"` // none of these
	TargetType string         `json:"t,omitempty"`
	RequestID  string         `json:"r,omitempty"`
}

// Query is an operator's selection of events as it was sent. A nil field was not sent.
type Query struct {
	Workspace, ActorType, Action, TargetType, RequestID, Focus *string
}

const recordName = "record"

// OperatorLog returns one page of the events of all workspaces. Only operators may ask; other callers get not_found.
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

// list returns the name of the filter's list in cursors. Each filter has its own, because a cursor must not continue
// another list.
func (f Filter) list() string {
	text, _ := json.Marshal(f) // a Filter always has a JSON form
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

// security are the actions in the focus "security": those that end, lock, give a plan or export. All others are in the
// focus "lifecycle".
var security = []event.Action{
	event.LockdownSet, event.LockdownLifted, event.LinksLocked, event.LinksUnlocked, event.KeyRevoked, event.TokenRevoked,
	event.DelegationRevoked, event.ArtifactDeleted, event.PlanUpdated, event.ExportCreated,
}

var actorTypes = []string{event.Key, event.Member, event.Admin, event.System, event.Platform}

// filter checks the query and returns its filter. It refuses a field that was sent with an unknown or empty value.
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
		f.Others = f.Actions // Actions and Others exclude each other, so no event passes
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

// targetTypes are the types of targets of events.
var targetTypes = []string{
	event.OnWorkspace, event.OnKey, event.OnSession, event.OnArtifact, event.OnRevision, event.OnDelegation,
	event.OnRegistration, event.OnCleanup,
	event.OnLink, event.OnDevice, event.OnClient, event.OnBrowser,
	event.OnMember, event.OnLockdown, event.OnReport, event.OnQuota, event.OnExport, event.OnDeployment,
}
