package api

import (
	"context"
	"log/slog"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/payment"
	"vitrine/shared/identity/billing"
)

// Billing returns the service that follows subscriptions; nil if billing is off.
func Billing(s *assembly.Services) *billing.Service {
	if !s.Config.Billing.On() {
		return nil
	}
	return payment.Service(s)
}

// Reconcile returns the task that compares subscriptions at the payment provider with the plans of workspaces, and logs
// what it did.
func Reconcile(s *assembly.Services, log *slog.Logger) func(context.Context) error {
	service := Billing(s)
	return func(ctx context.Context) error {
		if service == nil {
			return nil
		}
		done, err := service.Reconcile(ctx)
		log.InfoContext(ctx, "reconcile", "read", done.Read, "healed", done.Healed, "more", done.More)
		if err != nil {
			log.ErrorContext(ctx, "reconcile", "cause", err)
		}
		return err
	}
}
