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
	"vitrine/shared/platform/rate"
)

// The bounds of a quota.
const (
	LeastQuota = 1
	MostQuota  = 100
)

// ErrQuotaChanged means that the quota is not the one that was read.
var ErrQuotaChanged = errors.New("the quota changed meanwhile")

// GateStore keeps the quota.
type GateStore interface {
	// Quota is that of Store.
	Quota(ctx context.Context) (Quota, error)
	// ChangeQuota replaces the quota and records the event in one transaction, conditional on the number that it has.
	// Errors: ErrQuotaChanged, database_unavailable.
	ChangeQuota(ctx context.Context, from int, to Quota, e event.Event) error
}

// GateCounters tells how many workspaces were made.
type GateCounters interface {
	CountOf(ctx context.Context, w rate.Window) (int, error)
}

// Gate shows the quota to operators, and changes it. Other callers get not_found.
type Gate struct {
	Store    GateStore
	Counters GateCounters
	Now      func() time.Time
}

// Usage is the quota with what was made of it in this minute.
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
	quota, err := g.Store.Quota(ctx)
	if err != nil && fault.CodeOf(err) != fault.ProvisionUnavailable {
		return Usage{}, err
	}
	made, err := g.Counters.CountOf(ctx, minute(now))
	return Usage{Quota: quota, Made: made}, err
}

// SetQuota changes the quota from what the operator saw, for good. Errors: invalid_request for a number out of range,
// and for a quota that is another one by now.
func (g *Gate) SetQuota(ctx context.Context, by credential.Actor, from, to int) error {
	now := g.Now().UTC().Truncate(time.Millisecond) // as it is stored
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
