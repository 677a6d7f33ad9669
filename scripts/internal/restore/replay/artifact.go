package replay

import (
	"context"
	"time"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
)

func deleteArtifact(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	found, missing, err := a.live(ctx, id.Artifact(e.Target.ID))
	if found == nil {
		return missing, err
	}
	if found.ClaimedFrom == "" { // and if a claim was not done again, the artifact is where it was before
		e.Workspace = found.Owner
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Artifacts.Delete(ctx, artifact.Deletion{
			Command:   a.command(e),
			Result:    result,
			Workspace: found.Owner,
			Artifact:  *found,
			At:        e.At,
			Event:     e,
		})
	})
}

// expireArtifact leaves an artifact whose own end is later in the restored set. The jobs end it at that time.
func expireArtifact(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	found, missing, err := a.live(ctx, id.Artifact(e.Target.ID))
	switch {
	case found == nil:
		return missing, err
	case found.Active(e.At):
		return "it lives longer in the restored set, until its own end", nil
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Queue.Expire(ctx, sweep.Artifact{Artifact: *found}, e.At, e)
	})
}

func pin(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	found, missing, err := a.live(ctx, id.Artifact(e.Target.ID))
	switch {
	case found == nil:
		return missing, err
	case !found.PinnedAt.IsZero():
		return Already, nil
	case !found.Active(e.At) || found.Current == "":
		// It was kept alive by what the set does not have, such as its publication.
		return "it has ended or has no published revision in the restored set", nil
	}
	owner, err := a.stores.Workspaces.Workspace(ctx, found.Owner)
	if err != nil || owner == nil {
		return Unknown, err
	}
	p := a.pinning(e, *found)
	p.Most = a.set.Limits.Tiers[owner.Tier()].LiveArtifacts
	out, err := a.commit(ctx, e, func() error { return a.stores.Artifacts.Pin(ctx, p) })
	if fault.CodeOf(err) == fault.PinnedArtifactCap {
		return "its workspace has pinned as many as it may in the restored set", nil
	}
	return out, err
}

func unpin(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	found, missing, err := a.live(ctx, id.Artifact(e.Target.ID))
	switch {
	case found == nil:
		return missing, err
	case found.PinnedAt.IsZero():
		return Already, nil
	}
	if least := e.At.Add(limits.UnpinnedLife); found.ExpiresAt.Before(least) {
		found.ExpiresAt = least
	}
	return a.commit(ctx, e, func() error { return a.stores.Artifacts.Unpin(ctx, a.pinning(e, *found)) })
}

func (a *applier) pinning(e event.Event, of artifact.Artifact) artifact.Pinning {
	return artifact.Pinning{
		Command:   a.command(e),
		Result:    result,
		Workspace: of.Owner,
		Artifact:  of,
		At:        e.At,
		Event:     e,
	}
}

// keepPublished gives an artifact of an ephemeral workspace at least the life of the publication, which elsewhere does
// not depend on publications. The revision itself is in the set only if it was there at the instant.
func keepPublished(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	found, missing, err := a.live(ctx, e.Artifact)
	if found == nil {
		return missing, err
	}
	owner, err := a.stores.Workspaces.Workspace(ctx, found.Owner)
	if err != nil || owner == nil {
		return Unknown, err
	}
	tier := owner.Tier()
	end := limits.End(e.At, a.set.Limits.Tiers[tier].DefaultLife)
	if tier != limits.Ephemeral || found.ExpiresAt.After(end) {
		return Already, nil
	}
	out := Applied
	if found.ExpiresAt.Equal(end) { // an earlier application may have ended before the second step of keep
		out = Already
	}
	return out, a.keep(ctx, found.ID, end)
}

// keepRestored closes the links that an artifact had before it was deleted and restored, as the restore did. The rest of
// it is as in the set.
func keepRestored(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	found, missing, err := a.live(ctx, id.Artifact(e.Target.ID))
	switch {
	case err != nil || missing == Unknown:
		return Unknown, err
	case found == nil:
		return "it has ended in the restored set; restore it again", nil
	case !found.LinksRevokedBefore.Before(e.At):
		return Already, nil
	}
	return Applied, a.close(ctx, *found, e.At)
}

// keep lets a live artifact end at an instant at the earliest. No store does that alone, so it writes the end itself
// and has the store reschedule. The second step is repeated if the first was done before, because the two are not one
// transaction.
func (a *applier) keep(ctx context.Context, name id.Artifact, end time.Time) error {
	key := rows.Key("A#"+string(name), "META")
	_, err := a.Change(ctx, rows.Update{
		Key:    key,
		Set:    "SET #exp = :end ADD #ver :one",
		Only:   "#status = :live AND #exp < :end",
		Values: rows.Item{":end": rows.Millis(end), ":one": rows.Number(1), ":live": rows.Text(string(artifact.Live))},
		Names:  map[string]string{"#exp": "exp", "#ver": "ver", "#status": "status"},
	})
	if err != nil {
		return err
	}
	row, err := a.Get(ctx, key)
	if err != nil {
		return err
	}
	found, err := a.stores.Artifacts.Artifact(ctx, name)
	if err != nil || found == nil {
		return err
	}
	return a.stores.Queue.RescheduleArtifact(ctx, sweep.Artifact{Artifact: *found, Version: row.Number("ver")})
}

// live returns an artifact as the workspace that has it sees it. If there is none to act on, it returns nil and the
// outcome: the set does not have it, or it has ended already.
func (a *applier) live(ctx context.Context, name id.Artifact) (*artifact.Artifact, Outcome, error) {
	found, err := a.stores.Artifacts.Artifact(ctx, name)
	if err != nil || found == nil {
		return nil, Unknown, err
	}
	if found.Status != artifact.Live {
		return nil, Already, nil
	}
	owner, err := a.stores.Workspaces.Workspace(ctx, found.Owner)
	if err != nil {
		return nil, "", err
	}
	if owner != nil && owner.ClaimedInto != "" {
		found = found.AfterClaimOf(*owner)
	}
	return found, "", nil
}
