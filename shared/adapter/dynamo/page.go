package dynamo

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/platform/cursor"
)

// partition is one list in an index.
type partition struct {
	index string
	name  string
	after string // the sort key before which reading starts; empty: it starts at the newest item
}

// attributes returns the names of the index's key attributes.
func (p partition) attributes() (name, sort string) {
	if p.index == dueIndex {
		return "g2p", "g2s"
	}
	return "g1p", "g1s"
}

// newest reads a partition from the newest item to the oldest, n items at a time, until take reports that it has enough
// or the partition ends.
func (s *db) newest(ctx context.Context, p partition, n int, take func([]item) (enough bool, err error)) error {
	name, sort := p.attributes()
	condition, v := "#"+name+" = :list", values{"list": p.name}
	if p.after != "" {
		condition += " AND #" + sort + " < :after"
		v["after"] = p.after
	}
	in := &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		IndexName:                 &p.index,
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: v.attributes(),
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(int32(n)),
	}
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return unavailable(err)
		}
		rows := make([]item, len(out.Items))
		for i, row := range out.Items {
			rows[i] = row
		}
		if enough, err := take(rows); enough || err != nil || out.LastEvaluatedKey == nil {
			return err
		}
		in.ExclusiveStartKey, in.Limit = out.LastEvaluatedKey, aws.Int32(int32(max(n, maxBatch)))
	}
}

// pageOf reads one page of a list that several partitions of an index hold together. It returns the newest rows, each
// once, and the sort key of the last one if more follow. pick converts items to rows by their sort keys, and leaves out
// what the list does not show. The partitions are read in the given order. An item that moves from one to the next is
// met at least once, and the later reading counts.
func pageOf[row any](
	ctx context.Context, s *db, parts []partition, limit int, pick func(context.Context, []item) (map[string]row, error),
) ([]row, string, error) {
	all := map[string]row{}
	for _, p := range parts {
		found := 0
		err := s.newest(ctx, p, limit+1, func(items []item) (bool, error) {
			some, err := pick(ctx, items)
			maps.Copy(all, some)
			found += len(some)
			return found > limit, err
		})
		if err != nil {
			return nil, "", err
		}
	}
	places, next := slices.Sorted(maps.Keys(all)), ""
	slices.Reverse(places)
	if len(places) > limit {
		places, next = places[:limit], places[limit-1]
	}
	rows := make([]row, len(places))
	for i, at := range places {
		rows[i] = all[at]
	}
	return rows, next, nil
}

// afterText sorts after every string that begins with an ASCII character.
const afterText = "\x7f"

// tableRows reads the items that the index names from the table, and returns them by their sort keys. It leaves out
// items that are gone.
func tableRows[row any](ctx context.Context, s *db, found []item, read func(item) *row) (map[string]row, error) {
	f, err := s.all(ctx, keysIn(found), true)
	rows := make(map[string]row, len(f))
	for _, listed := range found {
		if i := f.at(listed.key()); i != nil {
			rows[listed.getStr("g1s")] = *read(i)
		}
	}
	return rows, err
}

// liveRows reads one page of a partition of the list index. It takes the rows from the table, and keeps those that the
// query lists.
func liveRows[row any](
	ctx context.Context, s *db, of string, q cursor.Query[row], read func(item) *row,
) ([]row, string, error) {
	return pageOf(ctx, s, []partition{{listIndex, of, q.After}}, q.Limit,
		func(ctx context.Context, found []item) (map[string]row, error) {
			rows, err := tableRows(ctx, s, found, read)
			maps.DeleteFunc(rows, func(_ string, r row) bool { return !q.Live(r) })
			return rows, err
		})
}
