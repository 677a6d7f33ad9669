package billing

import (
	"context"
	"encoding/json"
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
)

// SetPlan gives a workspace a plan for operators, also against its subscription, which is recorded meanwhile; nil returns
// it to that of its subscription. Other callers get not_found.
func (s *Service) SetPlan(
	ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, w id.Workspace, plan *string,
) (contract.BillingStatus, error) {
	now := s.Now().UTC().Truncate(time.Millisecond)
	if err := by.Operates(now); err != nil {
		return contract.BillingStatus{}, err
	}
	if _, err := w.Bits(); err != nil {
		return contract.BillingStatus{}, fault.NewCode(fault.NotFound)
	}
	if plan != nil && *plan != string(workspace.FreePlan) && *plan != string(workspace.ProPlan) {
		return contract.BillingStatus{}, fault.New(fault.InvalidRequest, "plan must be free, pro or null")
	}
	return idempotency.Do(c, r, now, func() (contract.BillingStatus, error) {
		return conflict.Retry(races, func() (contract.BillingStatus, error) {
			a, err := s.Store.Account(ctx, w)
			if err != nil {
				return contract.BillingStatus{}, err
			}
			if a.Override = ""; plan != nil {
				a.Override = workspace.Plan(*plan)
			}
			answer := a.status(s.Limits, nil)
			result, err := json.Marshal(answer)
			if err != nil {
				return answer, err
			}
			err = s.Store.Update(ctx, Update{
				Account: a,
				Plan:    a.Plan(),
				At:      now,
				Event:   planned(a, now, event.ByOperator(by.Member), by.RequestID),
				Command: &Command{Command: c, Result: result},
			})
			if errors.Is(err, ErrNoWorkspace) {
				err = fault.NewCode(fault.NotFound)
			}
			return answer, err
		})
	})
}
