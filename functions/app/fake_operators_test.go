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

func (b bolts) Set(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, asked contract.SetLockdown,
) (contract.Lockdown, error) {
	b.commands = append(b.commands, c)
	err := b.called(ctx, "SetLock "+asked.Scope+" "+asked.TargetID+" "+asked.ReasonCode)
	if asked.ReasonCode == "" {
		err = fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	return contract.Lockdown{}, err
}

func (b bolts) Lift(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, scope lockdown.Scope,
	target string,
) (contract.Lockdown, error) {
	b.commands = append(b.commands, c)
	return contract.Lockdown{}, b.called(ctx, "Lift "+string(scope)+" "+target)
}

func (b bolts) List(
	ctx context.Context, _ credential.Actor, after string, _ int,
) (contract.LockdownList, error) {
	next, err := b.turn(cursor.Page{Cursor: after})
	if b.empty || err != nil {
		return contract.LockdownList{}, err
	}
	lifted := contract.At(noon)
	return contract.LockdownList{PageInfo: contract.Page(next), Items: []contract.Lockdown{
		{Scope: "artifact", TargetID: artifactID, ReasonCode: b.title, SetAt: contract.At(noon), SetBy: string(memberID)},
		{
			Scope:      "workspace",
			TargetID:   string(strangerID),
			ReasonCode: "phishing_report",
			SetAt:      contract.At(noon.Add(-time.Hour)),
			SetBy:      string(memberID),
			LiftedAt:   &lifted,
		},
	}}, b.failing(ctx)
}

func (i inbox) List(
	ctx context.Context, _ credential.Actor, of id.Artifact, p cursor.Page,
) ([]abuse.Report, string, error) {
	next, err := i.turn(p)
	if i.empty || err != nil {
		return nil, next, err
	}
	waits := abuse.Report{
		ID:        "rpt_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9",
		Artifact:  artifactID,
		Workspace: strangerID,
		Reporter:  "c29tZSBuZXR3b3Jr",
		Reason:    abuse.Phishing,
		Text:      "It asks for my password.\n" + i.title,
		Email:     i.email,
		At:        noon,
	}
	handled := waits
	handled.Text, handled.Email, handled.HandledAt = "", "", noon
	return []abuse.Report{waits, handled}, next, i.failing(ctx)
}

func (i inbox) Handle(ctx context.Context, _ credential.Actor, a id.Artifact, place string) error {
	return i.called(ctx, "Handle "+string(a)+" "+place)
}

func (f findings) Find(ctx context.Context, _ credential.Actor, pasted string) (lookup.Finding, error) {
	if strings.Contains(pasted, "nonsense") {
		return lookup.Finding{}, fault.New(fault.InvalidRequest, "this is neither")
	}
	found := lookup.Finding{Kind: event.OnArtifact, ID: artifactID, At: noon}
	if strings.Contains(pasted, "@example.org") {
		found.Kind, found.ID = event.OnMember, ""
		if !f.empty {
			found.Members = []member.Addressee{{Workspace: strangerID, Member: memberID}}
		}
	}
	if f.empty || found.ID == "" {
		return found, f.called(ctx, "Find "+pasted)
	}
	found.Artifact = &artifact.Artifact{
		ID:          artifactID,
		Title:       f.title,
		Status:      artifact.Live,
		Current:     newestID,
		CreatedAt:   noon,
		PublishedAt: noon,
		ExpiresAt:   noon.Add(time.Hour),
		FileCount:   3,
		Size:        2_000_000,
	}
	found.Workspace = &workspace.Workspace{ID: strangerID, Name: f.name, CreatedAt: noon}
	if f.scene == "locked" {
		found.Locks = []lockdown.Lockdown{
			{Scope: lockdown.Artifact, Target: artifactID, Reason: "other", SetAt: noon, SetBy: memberID},
		}
	}
	return found, f.called(ctx, "Find "+pasted)
}

func (f findings) Hot(ctx context.Context, _ credential.Actor) ([]rate.Hot, error) {
	if f.empty {
		return nil, f.failing(ctx)
	}
	return []rate.Hot{{Artifact: artifactID, At: noon}}, f.failing(ctx)
}

func (f findings) Open(ctx context.Context, _ credential.Actor, a id.Artifact, reason string) (lookup.Opened, error) {
	if reason == "" {
		return lookup.Opened{}, fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	return lookup.Opened{
		Artifact: a,
		Revision: newestID,
		URL:      f.contentURL + "/v/token-of-the-operator/report.html",
		Until:    noon.Add(15 * time.Minute),
	}, f.called(ctx, "Open "+string(a)+" "+reason)
}

func (l logbook) OperatorLog(
	ctx context.Context, _ credential.Actor, asked account.Query, p account.Page,
) (contract.OperatorEventList, error) {
	if asked.Workspace != nil && *asked.Workspace == "x" {
		return contract.OperatorEventList{}, fault.New(fault.InvalidRequest, "the filter workspace_id has no such value")
	}
	next, err := l.turn(p)
	if l.empty || err != nil {
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
			ChangeSummary: "Published a revision: " + l.title,
			RequestID:     "request-1",
		},
		ActorType:   "api_key",
		TargetType:  "artifact",
		WorkspaceID: &w,
	}}}, l.failing(ctx)
}

func (g grantor) Granted(ctx context.Context, _ credential.Actor, w id.Workspace) (billing.Granted, error) {
	if w != strangerID {
		return billing.Granted{}, fault.NewCode(fault.NotFound)
	}
	a := g.account
	return billing.Granted{Account: a, Has: a.Plan()}, g.called(ctx, "Granted "+string(w))
}

func (g grantor) SetPlan(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, o billing.Override,
) (contract.BillingStatus, error) {
	g.commands = append(g.commands, c)
	if *o.Reason == "" {
		return contract.BillingStatus{}, fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	plan := "none"
	if o.Plan != nil {
		plan = *o.Plan
	}
	return contract.BillingStatus{}, g.called(ctx, "SetPlan "+string(o.Workspace)+" "+plan+" "+*o.Reason)
}

func (g gate) Quota(ctx context.Context, _ credential.Actor) (ephemeral.Usage, error) {
	return ephemeral.Usage{Quota: ephemeral.Quota{PerMinute: 17}, Made: 3}, g.failing(ctx)
}

func (g gate) SetQuota(ctx context.Context, _ credential.Actor, from, to int) error {
	if to > ephemeral.MostQuota {
		return fault.New(fault.InvalidRequest, "the quota is a number from 1 to 100")
	}
	return g.called(ctx, "SetQuota "+strconv.Itoa(from)+" "+strconv.Itoa(to))
}
