package dynamo

import (
	"errors"
	"testing"
	"time"

	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

func TestThePlanOfAWorkspaceFollowsItsAccount(t *testing.T) {
	s, at := newStore(t), now()
	w := id.NewWorkspace()
	if _, err := s.Billing.Plan(ctx, w); !errors.Is(err, billing.ErrNoWorkspace) {
		t.Errorf("a workspace that there is not has a plan: %v", err)
	}
	a := billing.Account{
		Workspace: w,
		Customer:  billing.CustomerID("cus_" + string(id.NewPublic())),
		Status:    billing.Active,
		PeriodEnd: at.Add(time.Hour),
		EndsAt:    at.Add(time.Hour),
		Interval:  billing.Monthly,
	}
	u := billing.Update{Account: a, Plan: a.Plan(), At: at}
	if err := s.Billing.Update(ctx, u); !errors.Is(err, billing.ErrNoWorkspace) {
		t.Errorf("an account of no workspace: %v", err)
	}
	made := s.Billing.begin()
	made.put(workspaceItem(workspace.Workspace{ID: w, CreatedAt: at}), "attribute_not_exists(#pk)", values(nil), nil)
	noError(t, s.Billing.commit(ctx, made))
	if plan, err := s.Billing.Plan(ctx, w); err != nil || plan != workspace.FreePlan {
		t.Errorf("before: %q, %v", plan, err)
	}
	noError(t, s.Billing.Update(ctx, u))
	if plan, err := s.Billing.Plan(ctx, w); err != nil || plan != workspace.ProPlan {
		t.Errorf("after: %q, %v", plan, err)
	}
	got, err := s.Billing.Account(ctx, w)
	a.Version = 1
	wantSame(t, "account", got, a, err)
	if err := s.Billing.Update(ctx, u); !errors.Is(err, billing.ErrMoved) {
		t.Errorf("an update of what was read before: %v", err)
	}
}
