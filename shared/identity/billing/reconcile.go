package billing

import (
	"context"
	"errors"
)

// Reconciled counts what a reconciliation met.
type Reconciled struct {
	Read   int // subscriptions at the provider
	Healed int // workspaces that did not reflect theirs
	More   bool
}

// maxReconciliations is how many workspaces one reconciliation changes.
const maxReconciliations = 500

// Reconcile compares all subscriptions of the provider with what is stored, and makes workspaces follow those that they
// do not reflect, because an event may be lost. It cancels those of workspaces that are removed. It changes up to
// maxReconciliations workspaces. Its error joins the failures, which do not stop it.
func (s *Service) Reconcile(ctx context.Context) (Reconciled, error) {
	var out Reconciled
	var failed []error
	for after, more := SubscriptionID(""), true; more; {
		page, rest, err := s.Subscriptions.List(ctx, after)
		if err != nil {
			return out, errors.Join(append(failed, err)...)
		}
		for _, x := range page {
			if out.Healed == maxReconciliations {
				out.More = true
				return out, errors.Join(failed...)
			}
			healed, err := s.heal(ctx, x)
			if err != nil {
				failed = append(failed, err)
			}
			out.Read++
			if healed {
				out.Healed++
			}
		}
		if more = rest && len(page) > 0; more {
			after = page[len(page)-1].ID
		}
	}
	return out, errors.Join(failed...)
}

// heal makes the workspace of a subscription follow it unless it does.
func (s *Service) heal(ctx context.Context, x Subscription) (healed bool, err error) {
	w, err := s.holder(ctx, x)
	if err != nil || w == "" {
		return false, err
	}
	a, err := s.Store.Account(ctx, w)
	if err != nil {
		return false, err
	}
	if !a.ClosedAt.IsZero() && x.Status.Payable() {
		if err := s.Subscriptions.Cancel(ctx, x.ID); err != nil {
			return false, err
		}
	} else if a.reflects(x) {
		return false, nil
	}
	_, err = s.sync(ctx, change{workspace: w, customer: x.Customer})
	if errors.Is(err, ErrNoWorkspace) {
		return false, nil
	}
	return err == nil, err
}
