package dynamo

import (
	"context"
	"math/rand/v2"
	"time"

	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Workspaces stores workspaces and the quota of ephemeral ones.
type Workspaces struct{ *db }

var (
	_ account.Workspaces  = Workspaces{}
	_ ephemeral.Store     = Workspaces{}
	_ ephemeral.GateStore = Workspaces{}
)

func workspaceItem(w workspace.Workspace) item {
	return encode(workspaceKey(w.ID), &w, workspaceFields)
}

func workspaceFields(f fields, w *workspace.Workspace) {
	text(f, "name", &w.Name)
	text(f, "plan", &w.Plan)
	f.time("created", &w.CreatedAt)
	f.time("claimed_at", &w.ClaimedAt)
	text(f, "into", &w.ClaimedInto)
	text(f, "lock", &w.Lock)
	f.time("lock_at", &w.LockedAt)
	integer(f, "epoch", &w.Epoch)
	integer(f, "adays", &w.AutoDays)
	f.time("floor", &w.MinExpiry)
	f.time("logins_out", &w.LoginsEndedAt)
	f.time("keys_out", &w.KeysEndedAt)
	f.terms("terms_out", &w.EndedTerms)
	f.time("deletes", &w.DeletesAt)
	f.time("removed", &w.RemovedAt)
}

func readWorkspace(i item, w id.Workspace) *workspace.Workspace {
	return decode(i, &workspace.Workspace{ID: w}, workspaceFields)
}

// raiseEpoch ends all credentials of an open workspace, on condition that its epoch is still the one that was read.
func (t *transaction) raiseEpoch(w id.Workspace, was int64, changed refusal) {
	open := "attribute_exists(#pk) AND " + opened
	v := values{"next": was + 1}
	if was == 0 {
		open += " AND attribute_not_exists(#epoch)"
	} else {
		open, v["was"] = open+" AND #epoch = :was", was
	}
	t.update(workspaceKey(w), "SET #epoch = :next", open, v, changed)
}

// Workspace implements artifact.Workspaces.
func (s Workspaces) Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error) {
	return s.workspace(ctx, w)
}

// checkFence requires that a workspace is open. It checks one of several fences at random, because checking the
// metadata would make all writers of a tenant conflict on one item. Closing a workspace sets all fences.
func (t *transaction) checkFence(w id.Workspace) {
	t.check(fenceKey(w, rand.IntN(fences)), opened, nil, closed)
}

func closed(item) error {
	return fault.New(fault.NotAuthenticated, "the workspace of this credential was claimed, closed or is being deleted")
}

// Provision implements ephemeral.Store.
func (s Workspaces) Provision(ctx context.Context, p ephemeral.Provision) error {
	t := s.begin()
	t.create(workspaceItem(p.Workspace))
	t.create(apiKeyItem(p.Key))
	t.create(claimTokenItem(p.Claim))
	t.record(p.Event)
	return s.commit(ctx, t)
}

// Quota implements ephemeral.Store.
func (s Workspaces) Quota(ctx context.Context) (ephemeral.Quota, error) {
	i, err := s.get(ctx, quotaKey())
	if err != nil {
		return ephemeral.Quota{}, err
	}
	if i == nil {
		return ephemeral.Quota{}, ephemeral.NoQuota()
	}
	return ephemeral.Quota{PerMinute: int(i.getNum("per_minute")), ValidUntil: i.getTime("valid_until")}, nil
}

// SetQuota stores how many ephemeral workspaces may be made in a minute.
func (s Workspaces) SetQuota(ctx context.Context, g ephemeral.Quota, now time.Time) error {
	t := s.begin()
	t.put(newItem(quotaKey()).
		num("per_minute", int64(g.PerMinute)).time("valid_until", g.ValidUntil).time("set_at", now), "", nil, nil)
	return s.commit(ctx, t)
}

// ChangeQuota implements ephemeral.GateStore.
func (s Workspaces) ChangeQuota(ctx context.Context, from int, to ephemeral.Quota, e event.Event) error {
	t := s.begin()
	condition, v := "#per_minute = :from", values{"from": from}
	if from == 0 {
		condition, v = "attribute_not_exists(#pk)", nil
	}
	t.put(newItem(quotaKey()).
		num("per_minute", int64(to.PerMinute)).time("valid_until", to.ValidUntil).time("set_at", e.At),
		condition, v, func(item) error { return ephemeral.ErrQuotaChanged })
	t.record(e)
	return s.commit(ctx, t)
}

// InitQuota stores a quota if there is none.
func (s Workspaces) InitQuota(ctx context.Context, g ephemeral.Quota, now time.Time) error {
	if _, err := s.Quota(ctx); fault.CodeOf(err) != fault.ProvisionUnavailable {
		return err
	}
	return s.SetQuota(ctx, g, now)
}

// UpdateSettings implements account.Workspaces. It checks no fence, because it writes the metadata, which says whether
// the workspace is open.
func (s Workspaces) UpdateSettings(ctx context.Context, f account.SettingsUpdate) error {
	t := s.begin()
	t.finish(f.Command, f.Result, f.At)
	t.update(workspaceKey(f.Workspace), "SET #name = :name, #adays = :days",
		"attribute_exists(#pk) AND "+opened,
		values{"name": f.Name, "days": f.AutoDays}, closed)
	t.record(f.Event)
	return s.commit(ctx, t)
}
