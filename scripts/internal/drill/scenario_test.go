package main

import (
	"testing"
	"time"

	"vitrine/scripts/internal/crowd"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// TestAMassDeletionByMistakeIsLeftOut deletes more by one key than is done again without a decision, and revokes
// meanwhile.
func TestAMassDeletionByMistakeIsLeftOut(t *testing.T) {
	e := newEnv(t)
	kept := e.publishMany(t, 2)
	expect.OK(t, e.Share(t.Context(), kept[0]), e.Share(t.Context(), kept[1]))
	deleted := e.publishMany(t, 150)
	expect.OK(t, e.copy(t.Context()))
	expect.OK(t, parallel.Calls(len(deleted), func(n int) error { return e.Delete(t.Context(), deleted[n]) })...)
	expect.OK(t, e.Revoke(t.Context(), kept[0]))
	expect.OK(t, e.living.StopHosts(t.Context()))

	undecided := e.machine()
	undecided.Except = nil
	expect.Error(t, undecided.Run(t.Context()), "150 events artifact.deleted", "--except")

	decided := e.machine()
	decided.Except = []replay.Exception{{Actor: string(e.Current.Key.ID), Deletions: true}}
	expect.OK(t, e.restoreWith(t.Context(), decided))
	for _, a := range deleted {
		a.Deleted = crowd.Mark{}
	}
	expect.OK(t, e.verify(t.Context()))
}

// TestATheftIsUndone forges deletions as a thief with the role of one function can, who writes events and deletes
// objects.
func TestATheftIsUndone(t *testing.T) {
	e := newEnv(t)
	all := e.publishMany(t, 12)
	expect.OK(t, e.Share(t.Context(), all[0]), e.Share(t.Context(), all[1]))
	expect.OK(t, e.copy(t.Context()))
	began := time.Now().Truncate(time.Millisecond) // as precise as events are
	e.forge(t, all)
	expect.OK(t, e.Revoke(t.Context(), all[0])) // an honest one meanwhile
	expect.OK(t, e.living.StopHosts(t.Context()))
	expect.OK(t, deleteObjects(t.Context(), e.round))

	m := e.machine()
	m.Except = []replay.Exception{{From: began, Deletions: true}}
	expect.OK(t, e.restoreWith(t.Context(), m))
	expect.OK(t, e.verify(t.Context()))
}

// forge writes events that say that artifacts were deleted.
func (e env) forge(t *testing.T, all []*crowd.Artifact) {
	t.Helper()
	d := e.living.Deployment()
	var forged []event.Event
	for _, a := range all {
		forged = append(forged, event.Event{
			ID:        id.NewEvent(),
			Workspace: e.Current.Workspace,
			At:        time.Now(),
			Action:    event.ArtifactDeleted,
			Actor:     event.ByMember(id.NewMember()),
			Target:    event.Target{Type: event.OnArtifact, ID: string(a.ID)},
		})
	}
	expect.OK(t, dynamo.New(d.DynamoDB, d.Tables).Lookups.Record(t.Context(), forged...))
}
