package sweep

import (
	"context"
	"time"

	"vitrine/shared/platform/id"
)

// DeletedThread is a thread of feedback that was deleted and may still have its messages, which are not shown.
type DeletedThread struct {
	Artifact id.Artifact
	Thread   id.Thread
	QueueItem
}

// String names the removal in errors.
func (t DeletedThread) String() string { return "removal of the messages of " + string(t.Thread) }

// DeletedThreads is the sweeper's view of threads in the tables.
type DeletedThreads interface {
	// DueThreads reads strongly up to n deleted threads whose messages are due to be removed.
	DueThreads(ctx context.Context, now time.Time, n int) ([]DeletedThread, error)
	// RemoveMessages removes the messages of a deleted thread, takes their bytes out of the counts of the artifact in the
	// same transactions, and then removes the thread from the queue. A thread that another job removes meanwhile stays in
	// the queue.
	RemoveMessages(ctx context.Context, t DeletedThread) error
}

// DueThreads does one round for the messages of deleted threads.
func (s *Sweeper) DueThreads(ctx context.Context) (Round, error) {
	return run(ctx, round{rows: s.Store, now: s.Now}, batchSize, s.Threads.DueThreads, s.Threads.RemoveMessages)
}
