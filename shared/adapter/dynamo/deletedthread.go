package dynamo

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/sweep"
)

var _ sweep.DeletedThreads = Queue{}

// maxRemoved is how many messages one transaction removes. Each has at most 8 KiB.
const maxRemoved = 25

// DueThreads implements sweep.DeletedThreads.
func (s Queue) DueThreads(ctx context.Context, now time.Time, n int) (out []sweep.DeletedThread, err error) {
	found, err := s.dueItems(ctx, threadDue, now, n)
	for _, d := range found {
		out = append(out, sweep.DeletedThread{
			Artifact:  partitionID[id.Artifact](d.key),
			Thread:    sortID[id.Thread](d.key),
			QueueItem: d.queueItem(),
		})
	}
	return out, err
}

// RemoveMessages implements sweep.DeletedThreads.
func (s Queue) RemoveMessages(ctx context.Context, d sweep.DeletedThread) error {
	first, last := messageKey(d.Artifact, d.Thread, 1), messageKey(d.Artifact, d.Thread, maxMessageNumber)
	for {
		t, text := s.begin(), 0
		err := s.between(ctx, first, last, maxRemoved, func(i item) bool {
			t.remove(i.key(), "attribute_exists(#pk)", nil, overtaken)
			text += len(i.getStr("body"))
			return len(t.actions) < maxRemoved
		})
		switch {
		case err != nil:
			return err
		case len(t.actions) == 0:
			_, _, err := s.change(ctx, threadKey(d.Artifact, d.Thread), "REMOVE #g2p, #g2s", "attribute_exists(#pk)", nil)
			return err
		}
		t.update(countsKey(d.Artifact), "ADD #text :text", "attribute_exists(#pk)", values{"text": -text}, overtaken)
		if err := s.commit(ctx, t); err != nil && !errors.Is(err, errOvertaken) {
			return err
		} else if err != nil { // another job removes the same, or the whole artifact; what is left is still due
			return nil
		}
	}
}
