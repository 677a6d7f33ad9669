package billing

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/text"
)

// Override asks for a plan of a workspace, even against its subscription.
type Override struct {
	Workspace id.Workspace
	Plan      *string // nil: the plan follows the subscription again, which is kept up to date meanwhile
	Reason    *string // for the audit log; nil: the caller was not asked for one
}

// check refuses a malformed workspace, an unknown plan and an empty reason. It trims the reason.
func (o *Override) check() error {
	if _, err := o.Workspace.Bits(); err != nil {
		return fault.NewCode(fault.NotFound)
	}
	if p := o.Plan; p != nil && *p != string(workspace.FreePlan) && *p != string(workspace.ProPlan) {
		return fault.New(fault.InvalidRequest, "plan must be free, pro or null")
	}
	if o.Reason == nil {
		return nil
	}
	clean, err := text.Reason.Clean(*o.Reason)
	o.Reason = &clean
	return err
}

// Granted is the plan of a workspace as operators see it.
type Granted struct {
	Account
	Has workspace.Plan // the plan that the workspace has now, even if it has no stored account
}

// Granted returns the account and the plan of a workspace to operators. Other callers get not_found.
func (s *Service) Granted(ctx context.Context, by credential.Actor, w id.Workspace) (Granted, error) {
	if err := by.Operates(s.Now()); err != nil {
		return Granted{}, err
	}
	if _, err := w.Bits(); err != nil {
		return Granted{}, fault.NewCode(fault.NotFound)
	}
	has, err := s.Store.Plan(ctx, w)
	if errors.Is(err, ErrNoWorkspace) {
		return Granted{}, fault.NewCode(fault.NotFound)
	}
	if err != nil {
		return Granted{}, err
	}
	a, err := s.Store.Account(ctx, w)
	return Granted{Account: a, Has: has}, err
}

// SetPlan sets the plan of a workspace for operators. Other callers get not_found.
func (s *Service) SetPlan(
	ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, o Override,
) (contract.BillingStatus, error) {
	now := s.Now().UTC().Truncate(time.Millisecond)
	if err := by.Operates(now); err != nil {
		return contract.BillingStatus{}, err
	}
	if err := o.check(); err != nil {
		return contract.BillingStatus{}, err
	}
	return idempotency.Do(c, r, now, func() (contract.BillingStatus, error) {
		return conflict.Retry(races, func() (contract.BillingStatus, error) {
			return s.override(ctx, by, c, o, now)
		})
	})
}

// override commits an operator's override unless the account changed since it was read.
func (s *Service) override(
	ctx context.Context, by credential.Actor, c idempotency.Command, o Override, now time.Time,
) (contract.BillingStatus, error) {
	a, err := s.Store.Account(ctx, o.Workspace)
	if err != nil {
		return contract.BillingStatus{}, err
	}
	if a.Override = ""; o.Plan != nil {
		a.Override = workspace.Plan(*o.Plan)
	}
	answer := a.status(s.Limits, nil)
	e := planned(a, now, event.ByOperator(by.Member), by.RequestID)
	if o.Reason != nil {
		e.Detail += ": " + *o.Reason
	}
	err = s.Store.Update(ctx, Update{
		Account: a,
		Plan:    a.Plan(),
		At:      now,
		Event:   e,
		Command: &Command{Command: c, Result: idempotency.Encode(answer)},
	})
	if errors.Is(err, ErrNoWorkspace) {
		err = fault.NewCode(fault.NotFound)
	}
	return answer, err
}
