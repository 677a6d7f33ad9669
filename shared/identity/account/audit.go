package account

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Position is a place in an audit log: the last event that was shown or examined.
type Position struct {
	At time.Time
	ID id.Event
}

func position(p cursor.Position) Position { return Position{p.At, id.Event(p.ID)} }

func (p Position) bare() cursor.Position { return cursor.Position{At: p.At, ID: string(p.ID)} }

// Page selects a part of a list. A limit of zero means limits.DefaultPage for members; operators always give a limit.
type Page = cursor.Page

const auditName = "audit"

// shown are the types of actors in the audit log of a workspace. The service and its operators are not among them.
var shown = []string{event.Member, event.Key, event.Admin}

// AuditLog returns one page of the audit log of the caller's workspace. A page may have few rows, or none, although
// others follow.
func (s *Service) AuditLog(ctx context.Context, by credential.Actor, p Page) (contract.AuditList, error) {
	events, next, err := s.recorded(ctx, by, auditName, Filter{Actors: shown}, p)
	if err != nil {
		return contract.AuditList{}, err
	}
	out := contract.AuditList{Items: make([]contract.AuditRow, len(events)), PageInfo: contract.Page(next)}
	for i, e := range events {
		out.Items[i] = AuditRow(e)
	}
	return out, nil
}

const storyName = "story"

// told are the actions of the service itself that Story includes: those that gave or ended access, and those that ended
// content. All others, such as reports, are for operators.
var told = []event.Action{
	event.ArtifactExpired, event.RevisionRetained, event.WorkspaceProvisioned, event.RegistrationCreated,
	event.ClaimLocked, event.TokenIssued, event.TokenRevoked, event.DelegationCreated, event.DelegationRevoked,
	event.GrantRevoked, event.RefreshReused,
}

// Story returns one page of the audit log of the caller's workspace for people. It includes the rows of AuditLog and
// the actions of the service itself that concern members. A page may have few events, or none, although others follow.
func (s *Service) Story(
	ctx context.Context, by credential.Actor, p Page,
) (_ []event.Event, next string, _ error) {
	events, next, err := s.recorded(ctx, by, storyName, StoryOf(by.Workspace.ID), p)
	return slices.DeleteFunc(events, func(e event.Event) bool { return !Told(e) }), next, err
}

// StoryOf returns the filter for the events of a workspace that Story reads. Story shows those that are Told.
func StoryOf(w id.Workspace) Filter {
	return Filter{Workspace: w, Actors: append([]string{event.System}, shown...)}
}

// Told reports whether an event that StoryOf lets through is for members.
func Told(e event.Event) bool {
	return e.Actor.Type != event.System || e.Actor.Guest() || slices.Contains(told, e.Action)
}

// recorded reads one page of the audit log of the caller's workspace. list names the list in cursors.
func (s *Service) recorded(
	ctx context.Context, by credential.Actor, list string, f Filter, p Page,
) (_ []event.Event, next string, _ error) {
	if err := by.Require(credential.Admin); err != nil {
		return nil, "", err
	}
	now := s.Now()
	if p.Limit == 0 {
		p.Limit = limits.DefaultPage
	}
	of := cursor.List{Workspace: by.Workspace.ID, Name: list, Now: now}
	after, err := s.Cursors.Start(of, p)
	if err != nil {
		return nil, "", err
	}
	f.Workspace = by.Workspace.ID
	events, last, more, err := s.Events.List(ctx, f, now, position(after), p.Limit)
	if err == nil && more {
		next, err = s.Cursors.Seal(of, last.bare())
	}
	return events, next, err
}

// AuditRow returns the wire form of an event for members of its workspace.
func AuditRow(e event.Event) contract.AuditRow {
	said, known := event.Summaries[e.Action]
	if !known {
		said = string(e.Action) // a newer version of this service wrote the event
	}
	if e.Detail != "" {
		said += ": " + e.Detail
	}
	return contract.AuditRow{
		ID:            e.ID,
		Time:          contract.At(e.At),
		Actor:         e.Actor.Type + ":" + e.Actor.ID,
		Action:        string(e.Action),
		Target:        e.Target.Type + ":" + e.Target.ID,
		ChangeSummary: said,
		RequestID:     e.RequestID,
	}
}
