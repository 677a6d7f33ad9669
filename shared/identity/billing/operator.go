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

// Override asks for the plan of a workspace, also against its subscription.
type Override struct {
	Workspace id.Workspace
	Plan      *string // nil returns it to that of its subscription, which is recorded meanwhile
	Reason    *string // for the record; nil: the caller is not asked for one
}

// check refuses a plan that there is not and an empty reason.
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

// Granted is what operators see of the plan of a workspace.
type Granted struct {
	Account
	Has workspace.Plan // that the workspace has now, also where billing was never asked
}

// Granted tells operators what a workspace pays and was given. Other callers get not_found.
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

// SetPlan gives a workspace a plan for operators. Other callers get not_found.
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

// override commits what an operator asks for, if the account is still as it was read.
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
