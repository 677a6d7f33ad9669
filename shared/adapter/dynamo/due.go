package dynamo

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/sweep"
)

// dueRows returns up to n entries of a queue that are due at an instant, the oldest first. Each shard gets an equal
// share of n, so that failing entries in one shard do not hold up the others. The index may be behind, so callers must
// read the items again.
func (s *db) dueRows(ctx context.Context, kind string, now time.Time, n int) ([]item, error) {
	condition := "#g2p = :kind AND #g2s <= :now"
	parts, ctx := async.WithContext(ctx)
	found := make([][]map[string]types.AttributeValue, queueShards)
	for part := range queueShards {
		parts.Go(func() error {
			out, err := s.client.Query(ctx, &dynamodb.QueryInput{
				TableName:                 &s.tables.Core,
				IndexName:                 aws.String(dueIndex),
				KeyConditionExpression:    &condition,
				ExpressionAttributeNames:  names(condition),
				ExpressionAttributeValues: values{"kind": queueShard(kind, part), "now": millisKey(now)}.attributes(),
				Limit:                     aws.Int32(int32((n + queueShards - 1) / queueShards)),
			})
			if err != nil {
				return unavailable(err)
			}
			found[part] = out.Items
			return nil
		})
	}
	if err := parts.Wait(); err != nil {
		return nil, err
	}
	var rows []item
	for _, i := range slices.Concat(found...) {
		rows = append(rows, i)
	}
	slices.SortStableFunc(rows, func(a, b item) int { return cmp.Compare(a.getStr("g2s"), b.getStr("g2s")) })
	return rows, nil
}

// queued is an item that is due.
type queued struct {
	item
	key key
}

// dueItems returns up to n items of a kind that are due at an instant, the oldest first. It reads them strongly.
func (s *db) dueItems(ctx context.Context, kind string, now time.Time, n int) ([]queued, error) {
	rows, err := s.dueRows(ctx, kind, now, n)
	if err != nil {
		return nil, err
	}
	keys := keysIn(rows)
	f, err := s.all(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	var out []queued
	for _, k := range keys {
		// The index may be behind: the item itself says whether it is still due.
		if i := f.at(k); strings.HasPrefix(i.getStr("g2p"), queuePrefix(kind)) && i.getStr("g2s") <= millisKey(now) {
			out = append(out, queued{i, k})
		}
	}
	return out, nil
}

// queueItem returns the item's place in its queue. Failures count since the last Reschedule. A later change of the due
// time resets them.
func (q queued) queueItem() sweep.QueueItem {
	r := sweep.QueueItem{Key: rowKey(q.key), Due: parseMillis(q.getStr("g2s"))}
	if q.getStr("tried") == q.getStr("g2s") {
		r.Failures = int(q.getNum("tries"))
	}
	return r
}

// rowKey encodes the key of a queued item for the callers of this package. parseRowKey decodes it.
func rowKey(k key) string { return k.pk + "\n" + k.sk }

func parseRowKey(s string) (k key) {
	k.pk, k.sk, _ = strings.Cut(s, "\n")
	return k
}

// dueSessions reads the upload sessions that are due in a queue.
func (s *db) dueSessions(ctx context.Context, kind string, now time.Time, n int) (out []sweep.Session, err error) {
	found, err := s.dueItems(ctx, kind, now, n)
	for _, d := range found {
		out = append(out, sweep.Session{Session: readUploadItem(d.item, partitionID[id.Session](d.key)), QueueItem: d.queueItem()})
	}
	return out, err
}
