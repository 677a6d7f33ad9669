package replay

import (
	"context"
	"time"

	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/limits"
)

// pageSize is how many events one page of Read has.
const pageSize = 1000

// Read returns the events of all workspaces since an instant and of the 5 minutes before it, the oldest first. It reads
// an index that follows the table after a moment, so who needs the last events ends all writes and waits.
func Read(ctx context.Context, living invariant.Deployment, since time.Time) ([]event.Event, error) {
	filter := account.Filter{Since: since.Add(-window)}
	store := dynamo.New(living.DynamoDB, living.Tables).Events
	now := time.Now().Add(limits.Day) // events of a host whose clock is ahead count too
	var all []event.Event
	var after account.Position
	for {
		page, next, more, err := store.List(ctx, filter, now, after, pageSize)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if !more {
			return inOrder(all), nil
		}
		after = next
	}
}
