package dynamo

import (
	"context"

	"vitrine/shared/identity/deletion"
)

// Deletions stores which workspaces are being deleted.
type Deletions struct {
	*db
	metadata
}

var _ deletion.Store = Deletions{}

// opened is the condition that a workspace, or one of its fences, is open.
const opened = "attribute_not_exists(#into) AND attribute_not_exists(#lock) AND attribute_not_exists(#deletes)"

func deletionMoved(item) error { return deletion.ErrMoved }

// Request implements deletion.Store. It closes the fences, as a lockdown does, to keep writes under way from
// committing. A deletion and a lockdown are independent of each other.
func (s Deletions) Request(ctx context.Context, c deletion.Change) error {
	v := values{"at": c.DeletesAt}
	t := s.begin()
	t.update(workspaceKey(c.Workspace), "SET #deletes = :at", "attribute_exists(#pk) AND "+opened, v, deletionMoved)
	for n := range fences {
		t.update(fenceKey(c.Workspace, n), "SET #deletes = :at", opened, v, deletionMoved)
	}
	t.update(memberKey(c.Workspace, c.Member), "SET #out_at = :now", "attribute_exists(#pk)",
		values{"now": millis(c.At)}, deletionMoved)
	t.put(newItem(removalKey(c.Workspace)).
		str("g2p", queueOf(removalDue, string(c.Workspace))).str("g2s", millisKey(c.DeletesAt)),
		"attribute_not_exists(#pk)", nil, deletionMoved)
	t.record(c.Event)
	return s.commit(ctx, t)
}

// Cancel implements deletion.Store. Its condition on the metadata contradicts that of Removals.Begin, so only one of
// the two commits.
func (s Deletions) Cancel(ctx context.Context, c deletion.Change) error {
	v := values{"at": c.DeletesAt}
	t := s.begin()
	t.update(workspaceKey(c.Workspace), "REMOVE #deletes",
		"#deletes = :at AND attribute_not_exists(#removed) AND attribute_not_exists(#lock)", v, deletionMoved)
	for n := range fences {
		t.update(fenceKey(c.Workspace, n), "REMOVE #deletes", "#deletes = :at", v, deletionMoved)
	}
	t.remove(removalKey(c.Workspace), "attribute_exists(#pk)", nil, deletionMoved)
	t.record(c.Event)
	return s.commit(ctx, t)
}
