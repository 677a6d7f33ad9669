package dynamo

import (
	"context"
	"slices"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
)

// Inbox implements feedback.Store. It reads partitions as Artifacts.List does and for the same reasons: those of the
// sources of a claim before the workspace's own.
func (s Feedback) Inbox(ctx context.Context, q feedback.InboxQuery) (rows []feedback.InboxRow, next string, err error) {
	sources, again, unknown := s.sourcesBeside(ctx, q.Workspace, q.Claimed, func() {
		rows, next, err = s.inboxIn(ctx, q, nil)
	})
	if unknown != nil {
		return nil, "", unknown
	}
	if again {
		rows, next, err = s.inboxIn(ctx, q, sources)
	}
	return rows, next, err
}

// inboxIn reads the rows that the inboxes of a workspace and of the sources of its claims hold together.
func (s Feedback) inboxIn(
	ctx context.Context, q feedback.InboxQuery, sources []workspace.Workspace,
) ([]feedback.InboxRow, string, error) {
	of := make(map[id.Workspace]workspace.Workspace, len(sources))
	var parts []partition
	for _, source := range sources {
		of[source.ID] = source
		parts = append(parts, partition{listIndex, openThreadsOf(source.ID), q.After})
	}
	parts = append(parts, partition{listIndex, openThreadsOf(q.Workspace), q.After})
	pick := func(ctx context.Context, found []item) (map[string]feedback.InboxRow, error) {
		return s.inboxRows(ctx, found, of, q.Live)
	}
	return pageOf(ctx, s.db, parts, q.Limit, pick)
}

// inboxRows reads the artifacts and the counts of entries of inboxes strongly, and returns those that are live by their
// sort keys.
func (s Feedback) inboxRows(
	ctx context.Context, found []item, sources map[id.Workspace]workspace.Workspace, live func(feedback.InboxRow) bool,
) (map[string]feedback.InboxRow, error) {
	listed := keysIn(found)
	keys := make([]key, len(found))
	for n, k := range listed {
		keys[n] = artifactKey(partitionID[id.Artifact](k))
	}
	f, err := s.all(ctx, slices.Concat(keys, listed), true)
	rows := make(map[string]feedback.InboxRow, len(found))
	for n, k := range listed {
		a := readArtifact(f.at(keys[n]), partitionID[id.Artifact](k))
		if a == nil {
			continue
		}
		if source, moving := sources[a.Owner]; moving {
			a = a.AfterClaimOf(source)
		}
		counts := f.at(k)
		row := feedback.InboxRow{Artifact: *a, Counts: readCounts(counts), UpdatedAt: counts.getTime("updated")}
		if live(row) {
			rows[found[n].getStr("g1s")] = row
		}
	}
	return rows, err
}

// MoveInbox implements claim.LinkMigrations.
func (s Claims) MoveInbox(
	ctx context.Context, source, destination id.Workspace, n int,
) (moved int, clear bool, err error) {
	return s.moveListed(ctx, openThreadsOf(source), n, "SET #g1p = :list", "#g1p = :from",
		values{"list": openThreadsOf(destination), "from": openThreadsOf(source)})
}
