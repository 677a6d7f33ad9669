package main

import (
	"testing"
	"time"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// wantAll checks what a worker was told on the restored site, and the invariants.
func (e env) wantAll(t *testing.T) {
	t.Helper()
	for _, err := range e.outcome.check(t.Context(), e.worker) {
		t.Error(err)
	}
	expect.OK(t, e.restored.stopHosts(t.Context()))
	d := e.restored.deployment()
	d.Gap = e.gap
	for _, err := range invariant.Check(t.Context(), d) {
		t.Error(err)
	}
}

// TestAMassDeletionByMistakeIsLeftOut deletes more by one key than is done again without a decision, and revokes
// meanwhile.
func TestAMassDeletionByMistakeIsLeftOut(t *testing.T) {
	e := newEnv(t)
	kept := e.publishMany(t, 2)
	expect.OK(t, e.share(t.Context(), kept[0]), e.share(t.Context(), kept[1]))
	deleted := e.publishMany(t, 150)
	expect.OK(t, e.copy(t.Context()))
	expect.OK(t, parallel.Calls(len(deleted), func(n int) error { return e.erase(t.Context(), deleted[n]) })...)
	expect.OK(t, e.unshare(t.Context(), kept[0]))
	e.stopLiving(t)

	undecided := e.machine()
	undecided.Except = nil
	expect.Error(t, undecided.Run(t.Context()), "150 events artifact.deleted", "--except")

	decided := e.machine()
	decided.Except = []replay.Exception{{Actor: string(e.current.key.id), Deletions: true}}
	expect.OK(t, e.restoreWith(t.Context(), decided))
	for _, a := range deleted {
		a.deleted = mark{}
	}
	e.wantAll(t)
}

// TestATheftIsUndone forges deletions as a thief with the role of one function can, who writes events and deletes
// objects.
func TestATheftIsUndone(t *testing.T) {
	e := newEnv(t)
	all := e.publishMany(t, 12)
	expect.OK(t, e.share(t.Context(), all[0]), e.share(t.Context(), all[1]))
	expect.OK(t, e.copy(t.Context()))
	began := time.Now().Truncate(time.Millisecond) // as precise as events are
	e.forge(t, all)
	expect.OK(t, e.unshare(t.Context(), all[0])) // an honest one meanwhile
	e.stopLiving(t)
	expect.OK(t, deleteObjects(t.Context(), e.round))

	m := e.machine()
	m.Except = []replay.Exception{{From: began, Deletions: true}}
	expect.OK(t, e.restoreWith(t.Context(), m))
	e.wantAll(t)
}

// forge writes events that say that artifacts were deleted.
func (e env) forge(t *testing.T, all []*artifact) {
	t.Helper()
	d := e.living.deployment()
	var forged []event.Event
	for _, a := range all {
		forged = append(forged, event.Event{
			ID:        id.NewEvent(),
			Workspace: e.current.workspace,
			At:        time.Now(),
			Action:    event.ArtifactDeleted,
			Actor:     event.ByMember(id.NewMember()),
			Target:    event.Target{Type: event.OnArtifact, ID: string(a.id)},
		})
	}
	expect.OK(t, dynamo.New(d.DynamoDB, d.Tables).Lookups.Record(t.Context(), forged...))
}
