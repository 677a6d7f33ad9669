package billing

import (
	"context"
	"errors"
)

// Reconciled counts the work of a reconciliation.
type Reconciled struct {
	Read   int  // subscriptions at the provider
	Healed int  // workspaces that were out of step with theirs
	More   bool // the limit ended the reconciliation early
}

// Reconcile compares all subscriptions of the provider with the stored accounts, because an event may be lost. It makes
// workspaces follow subscriptions that they do not reflect, and cancels subscriptions of removed workspaces. It changes
// up to maxReconciliations workspaces. A failure does not stop it; its error joins all failures.
// maxReconciliations is how many workspaces one reconciliation changes.
const maxReconciliations = 500

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
		// An empty page has no last subscription to go on from, so it would be read for ever.
		if more = rest && len(page) > 0; more {
			after = page[len(page)-1].ID
		}
	}
	return out, errors.Join(failed...)
}

// heal makes the workspace of a subscription follow it, and reports whether that was needed.
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
