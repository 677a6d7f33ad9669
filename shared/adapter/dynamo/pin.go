package dynamo

import (
	"context"
	"strings"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// Pin implements artifact.Pins. Nothing falls due of a pinned artifact but its draft.
func (s Artifacts) Pin(ctx context.Context, p artifact.Pinning) error {
	if p.Noop {
		return s.keepPin(ctx, p, "attribute_exists(#pin_at)")
	}
	c := changeOf(p.Workspace, p.Artifact, p.At)
	c.sets("pin_at", p.At)
	c.holds("attribute_exists(#cur) AND attribute_not_exists(#pin_at)")
	if p.Artifact.ClaimedFrom == "" { // else it ends as the claim said
		c.holds("#exp > :updated")
	}
	pinned := p.Artifact
	pinned.PinnedAt = p.At
	c.fallsDue(pinned)
	return s.repin(ctx, p, c, func(t *transaction) {
		t.update(s.tables.Core, pinsKey(p.Workspace), "ADD #n :one", "attribute_not_exists(#n) OR #n < :most", values{"one": 1, "most": p.Most},
			func(item) error { return fault.NewCode(fault.PinnedArtifactCap) })
	})
}

// Unpin implements artifact.Pins.
func (s Artifacts) Unpin(ctx context.Context, p artifact.Pinning) error {
	if p.Noop {
		return s.keepPin(ctx, p, "attribute_not_exists(#pin_at)")
	}
	c := changeOf(p.Workspace, p.Artifact, p.At)
	if p.Artifact.ClaimedFrom == "" {
		c.sets("exp", p.Artifact.ExpiresAt)
	}
	c.removes("pin_at")
	c.holds("attribute_exists(#pin_at)")
	loose := p.Artifact
	loose.PinnedAt = time.Time{}
	c.fallsDue(loose)
	return s.repin(ctx, p, c, func(t *transaction) { s.uncount(t, p.Workspace) })
}

func (s Artifacts) repin(ctx context.Context, p artifact.Pinning, c *gateChange, count func(*transaction)) error {
	var t transaction
	s.finish(&t, p.Command, p.Result, p.At)
	t.update(s.tables.Core, artifactKey(p.Artifact.ID), c.expression(), c.condition, c.v, moved)
	count(&t)
	s.checkFence(&t, p.Workspace)
	t.create(s.tables.Events, eventItem(p.Event))
	return s.commit(ctx, &t)
}

// keepPin records a command while the artifact is what it asks for.
func (s Artifacts) keepPin(ctx context.Context, p artifact.Pinning, found string) error {
	v := values{"live": string(artifact.Live)}
	condition := "#status = :live AND " + ownedBy(v, p.Workspace, p.Artifact.ClaimedFrom) + " AND " + found
	var t transaction
	s.finish(&t, p.Command, p.Result, p.At)
	t.check(s.tables.Core, artifactKey(p.Artifact.ID), condition, v, moved)
	s.checkFence(&t, p.Workspace)
	return s.commit(ctx, &t)
}

// uncount takes one off the pins of a workspace. It holds whatever the counter says, so that a wrong one is in nobody's way.
func (s Artifacts) uncount(t *transaction, w id.Workspace) {
	t.update(s.tables.Core, pinsKey(w), "ADD #n :less", "", values{"less": -1}, nil)
}

// Rename implements artifact.Names.
func (s Artifacts) Rename(ctx context.Context, r artifact.Renaming) error {
	v := values{"title": r.Artifact.Title, "at": r.At, "live": string(artifact.Live), "one": 1}
	condition := "#status = :live AND attribute_not_exists(#lock) AND " + ownedBy(v, r.Workspace, r.Artifact.ClaimedFrom)
	if r.Artifact.ClaimedFrom == "" {
		condition += " AND (#exp > :at OR attribute_exists(#pin_at))"
	}
	var t transaction
	t.update(s.tables.Core, artifactKey(r.Artifact.ID), "SET #title = :title, #updated = :at ADD #ver :one", condition, v, moved)
	s.checkFence(&t, r.Workspace)
	t.create(s.tables.Events, eventItem(r.Event))
	return s.commit(ctx, &t)
}

// gateChange is an update of an artifact's gate that takes it out of the workspace that it was claimed from, if any.
type gateChange struct {
	set, gone []string
	condition string
	v         values
}

// changeOf begins a change of a live artifact that still has the draft that it was read with: what falls due depends on it.
func changeOf(w id.Workspace, a artifact.Artifact, at time.Time) *gateChange {
	c := &gateChange{v: values{"live": string(artifact.Live), "one": 1}, condition: "#status = :live"}
	c.holds(ownedBy(c.v, w, a.ClaimedFrom))
	c.sets("updated", at)
	if a.ClaimedFrom != "" {
		c.sets("own", string(w))
		c.sets("g1p", artifactsOf(w))
		c.sets("exp", a.ExpiresAt)
	}
	if a.Draft == "" {
		c.holds("attribute_not_exists(#draft)")
	} else {
		c.holds("#draft = :draft")
		c.v["draft"] = string(a.Draft)
	}
	return c
}

func (c *gateChange) sets(name string, v any) {
	c.set = append(c.set, "#"+name+" = :"+name)
	c.v[name] = v
}

func (c *gateChange) removes(name string) { c.gone = append(c.gone, "#"+name) }

func (c *gateChange) holds(condition string) { c.condition += " AND " + condition }

// fallsDue says when something has to happen to the artifact, as it is from now on.
func (c *gateChange) fallsDue(a artifact.Artifact) {
	if !a.PinnedAt.IsZero() && a.Draft == "" {
		c.removes("g2p")
		c.removes("g2s")
		return
	}
	c.sets("g2p", queueOf(artifactDue, string(a.ID)))
	c.sets("g2s", nextDue(a, limits.DraftLife))
}

func (c *gateChange) expression() string {
	e := "SET " + strings.Join(c.set, ", ")
	if len(c.gone) > 0 {
		e += " REMOVE " + strings.Join(c.gone, ", ")
	}
	return e + " ADD #ver :one"
}
