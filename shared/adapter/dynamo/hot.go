package dynamo

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/lookup"
)

var (
	_ rate.Marks   = Counters{}
	_ lookup.Marks = Counters{}
)

// hotSlot is how long marks of hot artifacts go to the same item. Each artifact is an attribute of that item, and holds
// the time of its last mark.
const hotSlot = 10 * time.Minute

// maxMarks bounds the size of an item. Further artifacts that become hot are left out.
const maxMarks = 500

func hotKey(at time.Time) string {
	return "r:hot:" + strconv.FormatInt(at.Truncate(hotSlot).UnixMilli(), 10)
}

// Mark implements rate.Marks.
func (s Counters) Mark(ctx context.Context, h rate.Hot) error {
	v := values{"at": h.At, "ttl": h.At.Add(limits.Day).Unix(), "one": 1, "most": maxMarks}
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.tables.Hot,
		Key:                       key{pk: hotKey(h.At)}.attributes(),
		UpdateExpression:          aws.String("SET #art = :at, #ttl = :ttl ADD #c :one"),
		ConditionExpression:       aws.String(belowLimit),
		ExpressionAttributeNames:  map[string]string{"#art": string(h.Artifact), "#ttl": "ttl", "#c": "c"},
		ExpressionAttributeValues: v.attributes(),
	}, attempts(1))
	_, err = held(err)
	return err
}

// Hot implements lookup.Marks with eventually consistent reads.
func (s Counters) Hot(ctx context.Context, since, now time.Time) ([]rate.Hot, error) {
	var slots []time.Time
	for at := now.Truncate(hotSlot); !at.Before(since.Truncate(hotSlot)); at = at.Add(-hotSlot) {
		slots = append(slots, at)
	}
	found := make([]*async.Future[item], len(slots))
	for n, at := range slots {
		found[n] = async.Go(func() (item, error) { return s.getIn(ctx, s.tables.Hot, key{pk: hotKey(at)}, false) })
	}
	marks := map[id.Artifact]rate.Hot{}
	for _, slot := range found {
		i, err := slot.Wait()
		if err != nil {
			return nil, err
		}
		for name := range i {
			h := rate.Hot{Artifact: id.Artifact(name), At: i.getTime(name)}
			if strings.HasPrefix(name, "art_") && h.At.After(since) && h.At.After(marks[h.Artifact].At) {
				marks[h.Artifact] = h
			}
		}
	}
	rows := slices.Collect(maps.Values(marks))
	slices.SortFunc(rows, func(x, y rate.Hot) int { return y.At.Compare(x.At) })
	return rows, nil
}
