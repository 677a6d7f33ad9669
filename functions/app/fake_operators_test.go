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
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/lookup"
)

// What operators work with.
type (
	fakeLockdowns   struct{ *fakeServices }
	fakeInbox       struct{ *fakeServices }
	fakeOperatorLog struct{ *fakeServices }
	fakeGate        struct{ *fakeServices }
	fakePlans       struct{ *fakeServices }
	fakeLookups     struct {
		*fakeServices
		locks []lockdown.Lockdown // of what is looked up
	}
)

const strangerID = id.Workspace("0b5c1f0e-6a54-4d0b-8f39-2d27a1a0c7f1")

func (f fakeLockdowns) Set(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, asked contract.SetLockdown,
) (contract.Lockdown, error) {
	if asked.ReasonCode == "" {
		return contract.Lockdown{}, fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	what := "SetLock " + asked.Scope + " " + asked.TargetID + " " + asked.ReasonCode
	return contract.Lockdown{}, f.commanded(ctx, c, what)
}

func (f fakeLockdowns) Lift(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, scope lockdown.Scope,
	target string,
) (contract.Lockdown, error) {
	return contract.Lockdown{}, f.commanded(ctx, c, "Lift "+string(scope)+" "+target)
}

func (f fakeLockdowns) List(
	ctx context.Context, _ credential.Actor, after string, _ int,
) (contract.LockdownList, error) {
	next, err := f.turn(ctx, after)
	if f.empty || err != nil {
		return contract.LockdownList{}, err
	}
	lifted := contract.At(noon)
	return contract.LockdownList{PageInfo: contract.Page(next), Items: []contract.Lockdown{
		{Scope: "artifact", TargetID: artifactID, ReasonCode: f.title, SetAt: contract.At(noon), SetBy: string(memberID)},
		{
			Scope:      "workspace",
			TargetID:   string(strangerID),
			ReasonCode: "phishing_report",
			SetAt:      contract.At(noon.Add(-time.Hour)),
			SetBy:      string(memberID),
			LiftedAt:   &lifted,
		},
	}}, nil
}

func (f fakeInbox) List(
	ctx context.Context, _ credential.Actor, of id.Artifact, p cursor.Page,
) ([]abuse.Report, string, error) {
	next, err := f.turn(ctx, p.Cursor)
	if f.empty || err != nil {
		return nil, next, err
	}
	waits := abuse.Report{
		ID:        "rpt_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9",
		Artifact:  artifactID,
		Workspace: strangerID,
		Reporter:  "c29tZSBuZXR3b3Jr",
		Reason:    abuse.Phishing,
		Text:      "It asks for my password.\n" + f.title,
		Email:     f.email,
		At:        noon,
	}
	handled := waits
	handled.Text, handled.Email, handled.HandledAt = "", "", noon
	return []abuse.Report{waits, handled}, next, nil
}

func (f fakeInbox) Handle(ctx context.Context, _ credential.Actor, a id.Artifact, place string) error {
	return f.changed(ctx, "Handle "+string(a)+" "+place)
}

func (f *fakeLookups) Find(ctx context.Context, _ credential.Actor, pasted string) (lookup.Finding, error) {
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
	found.Artifact = f.found(artifactID)
	found.Workspace = &workspace.Workspace{ID: strangerID, Name: f.actor.Workspace.Name, CreatedAt: noon}
	found.Locks = f.locks
	return found, f.called(ctx, "Find "+pasted)
}

func (f *fakeLookups) Hot(ctx context.Context, _ credential.Actor) ([]rate.Hot, error) {
	if f.empty {
		return nil, f.failing(ctx)
	}
	return []rate.Hot{{Artifact: artifactID, At: noon}}, f.failing(ctx)
}

func (f *fakeLookups) OldCopy(ctx context.Context, _ credential.Actor) (time.Time, error) {
	if f.empty {
		return time.Time{}, f.failing(ctx)
	}
	return noon, f.failing(ctx)
}

func (f *fakeLookups) Open(
	ctx context.Context, _ credential.Actor, a id.Artifact, reason string,
) (lookup.Opened, error) {
	if reason == "" {
		return lookup.Opened{}, fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	return lookup.Opened{
		Artifact: a,
		Revision: newestID,
		URL:      f.contentURL + "/v/token-of-the-operator/report.html",
		Until:    noon.Add(15 * time.Minute),
	}, f.changed(ctx, "Open "+string(a)+" "+reason)
}

func (f fakeOperatorLog) OperatorLog(
	ctx context.Context, _ credential.Actor, asked account.Query, p account.Page,
) (contract.OperatorEventList, error) {
	if asked.Workspace != nil && *asked.Workspace == "x" {
		return contract.OperatorEventList{}, fault.New(fault.InvalidRequest, "the filter workspace_id has no such value")
	}
	next, err := f.turn(ctx, p.Cursor)
	if f.empty || err != nil {
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
			ChangeSummary: "Published a revision: " + f.title,
			RequestID:     "request-1",
		},
		ActorType:   "api_key",
		TargetType:  "artifact",
		WorkspaceID: &w,
	}}}, nil
}

func (f fakePlans) Granted(ctx context.Context, _ credential.Actor, w id.Workspace) (billing.Granted, error) {
	if w != strangerID {
		return billing.Granted{}, fault.NewCode(fault.NotFound)
	}
	a := f.billing
	return billing.Granted{Account: a, Has: a.Plan()}, f.called(ctx, "Granted "+string(w))
}

func (f fakePlans) SetPlan(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, o billing.Override,
) (contract.BillingStatus, error) {
	if *o.Reason == "" {
		return contract.BillingStatus{}, fault.New(fault.InvalidRequest, "reason_code must have 1 to 120 characters")
	}
	plan := "none"
	if o.Plan != nil {
		plan = *o.Plan
	}
	return contract.BillingStatus{}, f.commanded(ctx, c, "SetPlan "+string(o.Workspace)+" "+plan+" "+*o.Reason)
}

func (f fakeGate) Quota(ctx context.Context, _ credential.Actor) (ephemeral.Usage, error) {
	return ephemeral.Usage{Quota: ephemeral.Quota{PerMinute: 17}, Made: 3}, f.failing(ctx)
}

func (f fakeGate) SetQuota(ctx context.Context, _ credential.Actor, from, to int) error {
	if to > ephemeral.MostQuota {
		return fault.New(fault.InvalidRequest, "the quota is a number from 1 to 100")
	}
	return f.changed(ctx, "SetQuota "+strconv.Itoa(from)+" "+strconv.Itoa(to))
}
