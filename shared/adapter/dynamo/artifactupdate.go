package dynamo

import (
	"context"
	"strings"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// artifactUpdate builds a conditional update of an artifact's metadata. Every update raises the version, unless
// keepVersion is set, so that a sweep that read the artifact before notices the change. The methods are not inlined,
// because there are many short calls of them, each of which would enlarge the programs.
type artifactUpdate struct {
	artifact    id.Artifact
	keepVersion bool

	sets       []string
	removes    []string
	conditions []string
	values     values
}

func updateArtifact(a id.Artifact) *artifactUpdate {
	return &artifactUpdate{artifact: a, values: values{}}
}

// updateLive begins an update that requires an artifact that is neither deleted nor expired.
func updateLive(a id.Artifact) *artifactUpdate {
	u := updateArtifact(a)
	u.requireValue("status", string(artifact.Live))
	return u
}

// set writes an attribute.
//
//go:noinline
func (u *artifactUpdate) set(name string, value any) {
	u.sets = append(u.sets, "#"+name+" = :"+name)
	u.values[name] = value
}

// remove removes attributes.
//
//go:noinline
func (u *artifactUpdate) remove(names ...string) {
	for _, name := range names {
		u.removes = append(u.removes, "#"+name)
	}
}

// require adds a condition.
//
//go:noinline
func (u *artifactUpdate) require(condition string) {
	u.conditions = append(u.conditions, condition)
}

// requireValue adds the condition that an attribute has a value.
//
//go:noinline
func (u *artifactUpdate) requireValue(name string, value any) {
	u.require("#" + name + " = :was_" + name)
	u.values["was_"+name] = value
}

// requireAbsent adds the conditions that attributes are absent.
//
//go:noinline
func (u *artifactUpdate) requireAbsent(names ...string) {
	for _, name := range names {
		u.require("attribute_not_exists(#" + name + ")")
	}
}

// requirePresence adds the condition that an attribute is present, or that it is absent.
func (u *artifactUpdate) requirePresence(name string, present bool) {
	if present {
		u.require("attribute_exists(#" + name + ")")
	} else {
		u.requireAbsent(name)
	}
}

// requireOwner adds the condition that the artifact belongs to w, or to claimedFrom, from which a claim takes it to w.
func (u *artifactUpdate) requireOwner(w, claimedFrom id.Workspace) {
	u.values["ws"] = string(w)
	if claimedFrom == "" {
		u.require("#own = :ws")
		return
	}
	u.values["from"] = string(claimedFrom)
	u.require("#own IN (:ws, :from)")
}

// requireDraft adds the condition that r is the draft of the artifact; empty: that it has no draft.
func (u *artifactUpdate) requireDraft(r id.Revision) {
	if r == "" {
		u.requireAbsent("draft")
		return
	}
	u.requireValue("draft", string(r))
}

// move writes the new owner of an artifact that a claim takes along.
func (u *artifactUpdate) move(to id.Workspace) {
	u.set("own", string(to))
	u.set("g1p", artifactsOf(to))
}

// schedule writes when the artifact is due in state a. One that does not expire and has no draft is never due.
func (u *artifactUpdate) schedule(a artifact.Artifact) {
	if a.Lasts() && a.Draft == "" {
		u.unschedule()
		return
	}
	u.set("g2p", queueOf(artifactDue, string(u.artifact)))
	u.set("g2s", nextDue(a, limits.DraftLife))
}

// unschedule removes the artifact from the queue.
func (u *artifactUpdate) unschedule() { u.remove("g2p", "g2s") }

func (u *artifactUpdate) expression() string {
	var parts []string
	if len(u.sets) > 0 {
		parts = append(parts, "SET "+strings.Join(u.sets, ", "))
	}
	if len(u.removes) > 0 {
		parts = append(parts, "REMOVE "+strings.Join(u.removes, ", "))
	}
	if !u.keepVersion {
		parts = append(parts, "ADD #ver :one")
		u.values["one"] = 1
	}
	return strings.Join(parts, " ")
}

func (u *artifactUpdate) condition() string { return strings.Join(u.conditions, " AND ") }

// updateArtifact adds the update to the transaction.
func (t *transaction) updateArtifact(u *artifactUpdate, r refusal) {
	t.update(artifactKey(u.artifact), u.expression(), u.condition(), u.values, r)
}

// checkArtifact makes the conditions of an update conditions of the transaction, without the update.
func (t *transaction) checkArtifact(u *artifactUpdate, r refusal) {
	t.check(artifactKey(u.artifact), u.condition(), u.values, r)
}

// changeArtifact makes the update outside a transaction. It has no effect unless all conditions hold.
func (s *db) changeArtifact(ctx context.Context, u *artifactUpdate) error {
	_, _, err := s.change(ctx, artifactKey(u.artifact), u.expression(), u.condition(), u.values)
	return err
}
