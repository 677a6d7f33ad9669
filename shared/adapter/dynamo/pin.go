package dynamo

import (
	"context"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// Pin implements artifact.Pins.
func (s Artifacts) Pin(ctx context.Context, p artifact.Pinning) error {
	if p.Noop {
		return s.keepPin(ctx, p, true)
	}
	u := updatePin(p)
	u.set("pin_at", p.At)
	u.require("attribute_exists(#cur)")
	u.requireAbsent("pin_at")
	if p.Artifact.ClaimedFrom == "" {
		u.require("#exp > :updated")
	} else { // the artifact ends when the claim said
		u.set("exp", p.Artifact.ExpiresAt)
	}
	pinned := p.Artifact
	pinned.PinnedAt = p.At
	u.schedule(pinned)
	return s.repin(ctx, p, u, func(t *transaction) {
		t.update(pinsKey(p.Workspace), "ADD #n :one", "attribute_not_exists(#n) OR #n < :most",
			values{"one": 1, "most": p.Most}, func(item) error { return fault.NewCode(fault.PinnedArtifactCap) })
	})
}

// Unpin implements artifact.Pins.
func (s Artifacts) Unpin(ctx context.Context, p artifact.Pinning) error {
	if p.Noop {
		return s.keepPin(ctx, p, false)
	}
	u := updatePin(p)
	u.set("exp", p.Artifact.ExpiresAt)
	u.remove("pin_at")
	u.require("attribute_exists(#pin_at)")
	unpinned := p.Artifact
	unpinned.PinnedAt = time.Time{}
	u.schedule(unpinned)
	return s.repin(ctx, p, u, func(t *transaction) { t.uncountPin(p.Workspace) })
}

// updatePin begins an update of a live artifact. It requires that the draft has not changed since it was read, because
// what is due depends on it. It moves an artifact that a claim takes along.
func updatePin(p artifact.Pinning) *artifactUpdate {
	u := updateLive(p.Artifact.ID)
	u.requireOwner(p.Workspace, p.Artifact.ClaimedFrom)
	u.requireDraft(p.Artifact.Draft)
	u.set("updated", p.At)
	if p.Artifact.ClaimedFrom != "" {
		u.move(p.Workspace)
	}
	return u
}

// repin commits an update that pins or unpins, together with its count.
func (s Artifacts) repin(
	ctx context.Context, p artifact.Pinning, u *artifactUpdate, count func(*transaction),
) error {
	t := s.begin()
	t.finish(p.Command, p.Result, p.At)
	t.updateArtifact(u, moved)
	count(t)
	t.checkFence(p.Workspace)
	t.record(p.Event)
	return s.commit(ctx, t)
}

// keepPin records a command that has no effect, because the artifact is already pinned, or not pinned, as it asks.
func (s Artifacts) keepPin(ctx context.Context, p artifact.Pinning, pinned bool) error {
	u := updateLive(p.Artifact.ID)
	u.requireOwner(p.Workspace, p.Artifact.ClaimedFrom)
	u.requirePresence("pin_at", pinned)
	t := s.begin()
	t.finish(p.Command, p.Result, p.At)
	t.checkArtifact(u, moved)
	t.checkFence(p.Workspace)
	return s.commit(ctx, t)
}

// uncountPin subtracts one from the pins of a workspace. It has no condition, so that a wrong counter does not block
// the command.
func (t *transaction) uncountPin(w id.Workspace) {
	t.update(pinsKey(w), "ADD #n :less", "", values{"less": -1}, nil)
}

// Rename implements artifact.Names.
func (s Artifacts) Rename(ctx context.Context, r artifact.Renaming) error {
	u := updateLive(r.Artifact.ID)
	u.set("title", r.Artifact.Title)
	u.set("updated", r.At)
	u.requireAbsent("lock")
	u.requireOwner(r.Workspace, r.Artifact.ClaimedFrom)
	if r.Artifact.ClaimedFrom == "" {
		u.require("(#exp > :updated OR attribute_exists(#pin_at))")
	}
	t := s.begin()
	t.updateArtifact(u, moved)
	t.checkFence(r.Workspace)
	t.record(r.Event)
	return s.commit(ctx, t)
}
