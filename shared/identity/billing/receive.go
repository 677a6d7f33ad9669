package billing

import (
	"context"
	"crypto/rand"
	"errors"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Receive processes an event of the provider. It accepts without effect an event that was processed before or is not
// about a subscription. Errors: invalid_request for an event that the provider did not sign, database_unavailable for
// one that the provider has to send again.
func (s *Service) Receive(ctx context.Context, payload []byte, signature, requestID string) error {
	n, err := s.Events.Read(payload, signature)
	if err != nil || n.Subscription == "" {
		return err
	}
	r := Receipt{Event: n.ID, Owner: rand.Text(), At: s.Now()}
	if done, err := s.Ledger.Claim(ctx, r); done || err != nil {
		return err
	}
	err = s.process(ctx, n, r, requestID)
	if errors.Is(err, ErrReceiptLost) {
		return fault.New(fault.DatabaseUnavailable, "another delivery of this event is being processed")
	}
	if err != nil {
		_ = s.Ledger.Release(context.WithoutCancel(ctx), r) // if this fails, the lease ends by itself
	}
	return err
}

// process makes the workspace of an event follow its subscription. It finishes an event without a workspace.
func (s *Service) process(ctx context.Context, n Notice, r Receipt, requestID string) error {
	found, err := s.Subscriptions.Subscription(ctx, n.Subscription)
	if err != nil {
		return err
	}
	if found == nil {
		return s.Ledger.Finish(ctx, r)
	}
	w, err := s.holder(ctx, *found)
	if err != nil {
		return err
	}
	if w == "" {
		return s.Ledger.Finish(ctx, r)
	}
	_, err = s.sync(ctx, change{
		workspace: w,
		customer:  found.Customer,
		receipt:   &r,
		requestID: requestID,
	})
	if errors.Is(err, ErrNoWorkspace) {
		return s.Ledger.Finish(ctx, r)
	}
	return err
}

// holder returns the workspace of a subscription: that of its customer, or else that of its checkout. It is empty for a
// subscription of another service.
func (s *Service) holder(ctx context.Context, x Subscription) (id.Workspace, error) {
	w, err := s.Store.Holder(ctx, x.Customer)
	if err != nil || w != "" {
		return w, err
	}
	if _, err := x.Workspace.Bits(); err != nil {
		return "", nil
	}
	return x.Workspace, nil
}
