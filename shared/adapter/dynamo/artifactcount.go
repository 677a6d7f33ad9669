package dynamo

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// The filters for artifacts that can be viewed, and for those of them that end soon.
const (
	viewable = "attribute_exists(#cur) AND #status = :live AND (#exp > :end OR attribute_exists(#pin_at))"
	expiring = "attribute_exists(#cur) AND #status = :live AND attribute_not_exists(#pin_at) AND " +
		"#exp > :end AND #exp <= :soon"
)

// counting describes one query of a count.
type counting struct {
	list   string
	filter string // empty: all items pass
	owner  workspace.Workspace
}

// tally is the result of one query: how many items a partition has, and how many pass the filter.
type tally struct {
	counting
	all, passed int
	more        bool // the query stopped before the end of the partition
}

// Count implements artifact.Listing. It counts the partitions that List merges, all at once, so an artifact that moves
// from one to another may be counted twice. DynamoDB returns numbers only, but charges for all items that it reads.
func (s Artifacts) Count(ctx context.Context, q artifact.Query) (out artifact.Counts, err error) {
	owners := []workspace.Workspace{{ID: q.Workspace}}
	if q.Claimed {
		sources, err := s.sources(ctx, q.Workspace)
		if err != nil {
			return out, err
		}
		owners = append(owners, sources...)
	}
	var all []counting
	for _, owner := range owners {
		all = append(all, counting{artifactsOf(owner.ID), viewable, owner},
			counting{artifactsOf(owner.ID), expiring, owner}, counting{deletedOf(owner.ID), "", owner})
	}
	found := make([]*async.Future[tally], len(all))
	for n, one := range all {
		found[n] = async.Go(func() (tally, error) { return s.count(ctx, q, one) })
	}
	for _, one := range found {
		t, failed := one.Wait()
		err = cmp.Or(err, failed)
		t.addTo(&out, q.Limit)
	}
	return out, err
}

// addTo adds a tally to counts that are capped at most.
func (t tally) addTo(c *artifact.Counts, most int) {
	add := func(to *artifact.Count, n int) {
		to.More = to.More || t.more || to.N+n > most
		to.N = min(to.N+n, most)
	}
	switch t.filter {
	case viewable:
		add(&c.All, t.all)
		add(&c.Published, t.passed)
	case expiring:
		add(&c.Expiring, t.passed)
	default:
		add(&c.All, t.all)
	}
}

// count counts one partition, up to q.Limit of its items.
func (s Artifacts) count(ctx context.Context, q artifact.Query, c counting) (tally, error) {
	t := tally{counting: c}
	in := s.countQuery(q, c)
	for t.all < q.Limit {
		in.Limit = aws.Int32(int32(q.Limit - t.all))
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return t, unavailable(err)
		}
		t.all += int(out.ScannedCount)
		t.passed += int(out.Count)
		if t.more = out.LastEvaluatedKey != nil; !t.more {
			return t, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return t, nil
}

func (s Artifacts) countQuery(q artifact.Query, c counting) *dynamodb.QueryInput {
	condition, v := "#g1p = :list", values{"list": c.list}
	if c.filter != "" {
		v["live"], v["end"] = string(artifact.Live), q.Now
		if q.Now.Before(c.owner.MinExpiry) { // what was live when it was claimed stays live
			v["end"] = c.owner.ClaimedAt
		}
	}
	if c.filter == expiring {
		v["soon"] = q.Now.Add(limits.ExpiringSoon)
	}
	return &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		IndexName:                 aws.String(listIndex),
		KeyConditionExpression:    &condition,
		FilterExpression:          optional(c.filter),
		ExpressionAttributeNames:  names(condition, c.filter),
		ExpressionAttributeValues: v.attributes(),
		Select:                    types.SelectCount,
		ScanIndexForward:          aws.Bool(false),
	}
}
