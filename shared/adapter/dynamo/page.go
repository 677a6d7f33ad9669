package dynamo

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/platform/cursor"
)

// partition is a list of an index.
type partition struct {
	index string
	name  string
	after string // the sort key that reading goes on after, backwards; empty: the newest item is the first
}

// attributes are the names of the index's keys.
func (p partition) attributes() (name, sort string) {
	if p.index == dueIndex {
		return "g2p", "g2s"
	}
	return "g1p", "g1s"
}

// newest reads a partition backwards, n items first, until take has enough or the partition ends.
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

// pageOf reads one page of a list that partitions of an index hold together: the newest rows of all, each once, and
// the place of the last one, which is its sort key, if others follow. pick turns items into rows by their places, and
// leaves out what the list does not show. Partitions are read in the given order; where an item is on its way from
// one to the next, it is met at least once, and what was read last counts.
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

// afterText is greater than every text that begins with ASCII.
const afterText = "\x7f"

// tableRows reads from the table what items of the index name, by their places. What is not there any more is left out.
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

// liveRows reads one page of the rows that one partition of the list index names and the query lists, as the table has
// them.
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
