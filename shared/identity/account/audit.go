package account

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Position is a place in a record: the last event that was shown, or looked at.
type Position struct {
	At time.Time
	ID id.Event
}

func position(p cursor.Position) Position { return Position{p.At, id.Event(p.ID)} }

func (p Position) bare() cursor.Position { return cursor.Position{At: p.At, ID: string(p.ID)} }

// Page is which part of a list is asked for. A limit of zero is limits.DefaultPage for members; operators always give
// one.
type Page = cursor.Page

const auditName = "audit"

// shown are the types of actors in the audit log of a workspace; the service and its operators are not among them.
var shown = []string{event.Member, event.Key, event.Admin}

// AuditLog answers one page of the record of the caller's workspace. It may have few rows, or none, where others
// follow.
func (s *Service) AuditLog(ctx context.Context, by credential.Actor, p Page) (contract.AuditList, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.AuditList{}, err
	}
	now := s.Now()
	if p.Limit == 0 {
		p.Limit = limits.DefaultPage
	}
	list := cursor.List{Workspace: by.Workspace.ID, Name: auditName, Now: now}
	after, err := s.Cursors.Start(list, p)
	if err != nil {
		return contract.AuditList{}, err
	}
	of := Filter{Workspace: by.Workspace.ID, Actors: shown}
	events, last, more, err := s.Events.List(ctx, of, now, position(after), p.Limit)
	if err != nil {
		return contract.AuditList{}, err
	}
	out := contract.AuditList{Items: make([]contract.AuditRow, len(events))}
	for i, e := range events {
		out.Items[i] = row(e)
	}
	if more {
		out.PageInfo, err = s.Cursors.Info(list, last.bare())
	}
	return out, err
}

func row(e event.Event) contract.AuditRow {
	said, known := summaries[e.Action]
	if !known {
		said = string(e.Action) // written by a newer version of us
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

// summaries say for people what each action did.
var summaries = map[event.Action]string{
	event.WorkspaceCreated:     "Made the workspace",
	event.SettingsUpdated:      "Changed the settings",
	event.WorkspaceProvisioned: "Made an ephemeral workspace",
	event.WorkspaceClaimed:     "Took over an ephemeral workspace",
	event.KeyCreated:           "Made an API key",
	event.KeyRevoked:           "Revoked an API key",
	event.RegistrationCreated:  "Registered an agent",
	event.ClaimCompleted:       "Took over an agent with its workspace",
	event.TokenIssued:          "Gave an agent an access token",
	event.TokenRevoked:         "Revoked an agent's access token",
	event.DelegationCreated:    "Let an agent act",
	event.DelegationRevoked:    "Ended what an agent may do",
	event.SessionCreated:       "Began an upload",
	event.ArtifactCreated:      "Made an artifact",
	event.ArtifactPublished:    "Published a revision",
	event.ArtifactDeleted:      "Deleted an artifact",
	event.DraftCreated:         "Uploaded a draft",
	event.ArtifactPinned:       "Pinned an artifact",
	event.ArtifactUnpinned:     "Unpinned an artifact",
	event.ArtifactRenamed:      "Renamed an artifact",
	event.LockdownSet:          "Locked by the operator",
	event.LockdownLifted:       "Unlocked by the operator",
	event.LinksLocked:          "Locked the access links of an artifact",
	event.LinksUnlocked:        "Unlocked the access links of an artifact",

	// Of the contract, for those who do them.
	"workspace.plan.updated":   "Changed the plan",
	"artifact.expired":         "An artifact's time was up",
	"revision.retained":        "Let the bytes of an old revision go",
	"safety_warnings.replaced": "Looked an artifact over for dangers",
	"cleanup.run":              "Cleaned up",

	event.MemberConfirmed: "Took the workspace over from the agents that made it",
	event.ClaimLocked:     "Locked an agent's claim after too many wrong codes",
	event.SessionStarted:  "Signed in",
	event.SessionEnded:    "Signed out",
	event.SessionsEnded:   "Signed out everywhere",
	event.ConsentGranted:  "Let an app act",
	event.GrantRevoked:    "Ended what an app may do",
	event.RefreshReused:   "Ended an app's access because a used refresh token came again",
	event.DeviceApproved:  "Let a device act",
	event.DeviceDenied:    "Refused a device",

	event.LinkCreated:       "Made an access link",
	event.LinkRevoked:       "Revoked an access link",
	event.VisibilityUpdated: "Closed all access links of an artifact",
}
