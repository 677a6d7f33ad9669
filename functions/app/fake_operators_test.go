package app

import (
	"context"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/lookup"
)

// What operators work with, in the house.
type (
	bolts    struct{ *house }
	inbox    struct{ *house }
	findings struct{ *house }
	logbook  struct{ *house }
	gate     struct{ *house }
	grantor  struct{ *house }
)

const strangerID = id.Workspace("0b5c1f0e-6a54-4d0b-8f39-2d27a1a0c7f1")

func (s bolts) Set(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, asked contract.SetLockdown,
) (contract.Lockdown, error) {
	s.commands = append(s.commands, c)
	err := s.called(ctx, "SetLock "+asked.Scope+" "+asked.TargetID+" "+asked.ReasonCode)
	if asked.ReasonCode == "" {
		err = fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	return contract.Lockdown{}, err
}

func (s bolts) Lift(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, scope lockdown.Scope,
	target string,
) (contract.Lockdown, error) {
	s.commands = append(s.commands, c)
	return contract.Lockdown{}, s.called(ctx, "Lift "+string(scope)+" "+target)
}

func (s bolts) List(
	ctx context.Context, _ credential.Actor, after string, _ int,
) (contract.LockdownList, error) {
	next, err := s.turn(cursor.Page{Cursor: after})
	if s.empty || err != nil {
		return contract.LockdownList{}, err
	}
	lifted := contract.At(noon)
	return contract.LockdownList{PageInfo: contract.Page(next), Items: []contract.Lockdown{
		{Scope: "artifact", TargetID: artifactID, ReasonCode: s.title, SetAt: contract.At(noon), SetBy: string(memberID)},
		{
			Scope:      "workspace",
			TargetID:   string(strangerID),
			ReasonCode: "phishing_report",
			SetAt:      contract.At(noon.Add(-time.Hour)),
			SetBy:      string(memberID),
			LiftedAt:   &lifted,
		},
	}}, s.failing(ctx)
}

func (s inbox) List(
	ctx context.Context, _ credential.Actor, of id.Artifact, p cursor.Page,
) ([]abuse.Report, string, error) {
	next, err := s.turn(p)
	if s.empty || err != nil {
		return nil, next, err
	}
	waits := abuse.Report{
		ID:        "rpt_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9",
		Artifact:  artifactID,
		Workspace: strangerID,
		Reporter:  "c29tZSBuZXR3b3Jr",
		Reason:    abuse.Phishing,
		Text:      "It asks for my password.\n" + s.title,
		Email:     s.email,
		At:        noon,
	}
	handled := waits
	handled.Text, handled.Email, handled.HandledAt = "", "", noon
	return []abuse.Report{waits, handled}, next, s.failing(ctx)
}

func (s inbox) Handle(ctx context.Context, _ credential.Actor, a id.Artifact, place string) error {
	return s.called(ctx, "Handle "+string(a)+" "+place)
}

func (s findings) Find(ctx context.Context, _ credential.Actor, pasted string) (lookup.Finding, error) {
	if strings.Contains(pasted, "nonsense") {
		return lookup.Finding{}, fault.New(fault.InvalidRequest, "this is neither")
	}
	f := lookup.Finding{Kind: event.OnArtifact, ID: artifactID, At: noon}
	if strings.Contains(pasted, "@example.org") {
		f.Kind, f.ID = event.OnMember, ""
		if !s.empty {
			f.Members = []member.Addressee{{Workspace: strangerID, Member: memberID}}
		}
	}
	if s.empty || f.ID == "" {
		return f, s.called(ctx, "Find "+pasted)
	}
	f.Artifact = &artifact.Artifact{
		ID:          artifactID,
		Title:       s.title,
		Status:      artifact.Live,
		Current:     newestID,
		CreatedAt:   noon,
		PublishedAt: noon,
		ExpiresAt:   noon.Add(time.Hour),
		FileCount:   3,
		Size:        2_000_000,
	}
	f.Workspace = &workspace.Workspace{ID: strangerID, Name: s.name, CreatedAt: noon}
	if s.scene == "locked" {
		f.Locks = []lockdown.Lockdown{
			{Scope: lockdown.Artifact, Target: artifactID, Reason: "other", SetAt: noon, SetBy: memberID},
		}
	}
	return f, s.called(ctx, "Find "+pasted)
}

func (s findings) Hot(ctx context.Context, _ credential.Actor) ([]rate.Hot, error) {
	if s.empty {
		return nil, s.failing(ctx)
	}
	return []rate.Hot{{Artifact: artifactID, At: noon}}, s.failing(ctx)
}

func (s findings) Open(ctx context.Context, _ credential.Actor, a id.Artifact, reason string) (lookup.Opened, error) {
	if reason == "" {
		return lookup.Opened{}, fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	return lookup.Opened{
		Artifact: a,
		Revision: newestID,
		URL:      s.contentURL + "/v/token-of-the-operator/report.html",
		Until:    noon.Add(15 * time.Minute),
	}, s.called(ctx, "Open "+string(a)+" "+reason)
}

func (s logbook) OperatorLog(
	ctx context.Context, _ credential.Actor, asked account.Query, p account.Page,
) (contract.OperatorEventList, error) {
	if asked.Workspace != nil && *asked.Workspace == "x" {
		return contract.OperatorEventList{}, fault.New(fault.InvalidRequest, "the filter workspace_id has no such value")
	}
	next, err := s.turn(p)
	if s.empty || err != nil {
		return contract.OperatorEventList{}, err
	}
	w := strangerID
	return contract.OperatorEventList{PageInfo: contract.Page(next), Items: []contract.OperatorEvent{{
		AuditRow: contract.AuditRow{
			ID:            "evt_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9",
			Time:          contract.At(noon),
			Actor:         "api_key:" + keyID,
			Action:        "artifact.published",
			Target:        "artifact:" + artifactID,
			ChangeSummary: "Published a revision: " + s.title,
			RequestID:     "request-1",
		},
		ActorType:   "api_key",
		TargetType:  "artifact",
		WorkspaceID: &w,
	}}}, s.failing(ctx)
}

func (s grantor) Granted(ctx context.Context, _ credential.Actor, w id.Workspace) (billing.Granted, error) {
	if w != strangerID {
		return billing.Granted{}, fault.NewCode(fault.NotFound)
	}
	a := s.account
	return billing.Granted{Account: a, Has: a.Plan()}, s.called(ctx, "Granted "+string(w))
}

func (s grantor) SetPlan(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, o billing.Override,
) (contract.BillingStatus, error) {
	s.commands = append(s.commands, c)
	if *o.Reason == "" {
		return contract.BillingStatus{}, fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	plan := "none"
	if o.Plan != nil {
		plan = *o.Plan
	}
	return contract.BillingStatus{}, s.called(ctx, "SetPlan "+string(o.Workspace)+" "+plan+" "+*o.Reason)
}

func (s gate) Quota(ctx context.Context, _ credential.Actor) (ephemeral.Usage, error) {
	return ephemeral.Usage{Quota: ephemeral.Quota{PerMinute: 17}, Made: 3}, s.failing(ctx)
}

func (s gate) SetQuota(ctx context.Context, _ credential.Actor, from, to int) error {
	if to > ephemeral.MostQuota {
		return fault.New(fault.InvalidRequest, "the quota is a number from 1 to 100")
	}
	return s.called(ctx, "SetQuota "+strconv.Itoa(from)+" "+strconv.Itoa(to))
}
