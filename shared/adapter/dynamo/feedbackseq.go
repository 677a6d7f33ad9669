package dynamo

import (
	"context"

	"vitrine/shared/platform/id"
)

// Seq implements feedback.Store.
func (s Feedback) Seq(ctx context.Context, a id.Artifact) (int64, error) {
	i, err := s.getIn(ctx, s.tables.Core, countsKey(a), false)
	return readCounts(i).Seq, err
}
