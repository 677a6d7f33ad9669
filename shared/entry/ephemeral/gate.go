package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// The bounds of a quota.
const (
	LeastQuota = 1
	MostQuota  = limits.MaxProvisionQuota
)

// ErrQuotaChanged reports that the quota changed since it was read.
var ErrQuotaChanged = errors.New("the quota changed meanwhile")

// GateStore stores the quota.
type GateStore interface {
	// Quota reads the quota like Quota of Store.
	Quota(ctx context.Context) (Quota, error)
	// ChangeQuota replaces a quota of from a minute and records the event in one transaction. A from of 0 means that no
	// quota is stored. Errors: ErrQuotaChanged, database_unavailable.
	ChangeQuota(ctx context.Context, from int, to Quota, e event.Event) error
}

// GateCounters reads how many workspaces were made.
type GateCounters interface {
	CountOf(ctx context.Context, w rate.Window) (int, error)
}

// Gate shows and changes the quota for operators. Other callers get not_found.
type Gate struct {
	Store    GateStore
	Counters GateCounters
	Now      func() time.Time
}

// Usage is the quota with the number of workspaces made in this minute.
type Usage struct {
	Quota
	Made int
}

// Quota returns the quota and its use. A quota that was never set is zero.
func (g *Gate) Quota(ctx context.Context, by credential.Actor) (Usage, error) {
	now := g.Now()
	if err := by.Operates(now); err != nil {
		return Usage{}, err
	}
	// A missing quota is not a failure here, because this is where an operator sets the first one.
	quota, err := g.Store.Quota(ctx)
	if err != nil && fault.CodeOf(err) != fault.ProvisionUnavailable {
		return Usage{}, err
	}
	made, err := g.Counters.CountOf(ctx, minute(now))
	return Usage{Quota: quota, Made: made}, err
}

// SetQuota changes the quota that the operator saw, without an end. It fails with invalid_request for a number out of
// range and for a quota that has changed since.
func (g *Gate) SetQuota(ctx context.Context, by credential.Actor, from, to int) error {
	now := g.Now().UTC().Truncate(time.Millisecond) // the precision of the store
	if err := by.Operates(now); err != nil {
		return err
	}
	if to < LeastQuota || to > MostQuota {
		return fault.New(fault.InvalidRequest, "the quota is a number from %d to %d", LeastQuota, MostQuota)
	}
	err := g.Store.ChangeQuota(ctx, from, Quota{PerMinute: to}, event.Event{
		ID:        id.NewEvent(),
		Workspace: id.NoWorkspace,
		At:        now,
		Action:    event.QuotaUpdated,
		Actor:     event.ByOperator(by.Member),
		Target:    event.Target{Type: event.OnQuota, ID: "provision"},
		Detail:    fmt.Sprintf("from %d to %d a minute", from, to),
		RequestID: by.RequestID,
	})
	if errors.Is(err, ErrQuotaChanged) {
		return fault.Wrap(fault.InvalidRequest, err, "the quota was changed meanwhile; look at it again")
	}
	return err
}
