package dynamo

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/account"
	"vitrine/shared/event"
	"vitrine/shared/id"
)

// Events implements account.Events. What other actors did is filtered, and the query goes on until the page is full.
func (s *Store) Events(ctx context.Context, w id.Workspace, actors []string, after account.Position, limit int) ([]event.Event, bool, error) {
	condition, v := "#pk = :ws", values{"ws": eventKey(w, time.Time{}, "").pk}
	if after.ID != "" {
		condition += " AND #sk < :after"
		v["after"] = eventKey(w, after.At, after.ID).sk
	}
	asked := make([]string, len(actors))
	for n, a := range actors {
		name := "by" + strconv.Itoa(n)
		asked[n], v[name] = ":"+name, a
	}
	filter := "#by_type IN (" + strings.Join(asked, ", ") + ")"
	in := &dynamodb.QueryInput{
		TableName: &s.tables.Events, KeyConditionExpression: &condition, FilterExpression: &filter, ExpressionAttributeNames: names(condition, filter),
		ExpressionAttributeValues: v.attributes(), ScanIndexForward: aws.Bool(false), Limit: aws.Int32(int32(limit + 1)),
	}
	var rows []event.Event
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return nil, false, unavailable(err)
		}
		for _, i := range out.Items {
			rows = append(rows, readEvent(i, w))
		}
		if len(rows) > limit {
			return rows[:limit], true, nil
		}
		if out.LastEvaluatedKey == nil {
			return rows, false, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func readEvent(i item, w id.Workspace) event.Event {
	at, name, _ := strings.Cut(i.getStr("sk"), "#")
	ms, _ := strconv.ParseInt(at, 10, 64) // we wrote it
	return event.Event{
		ID: id.Event(name), Workspace: w, At: time.UnixMilli(ms).UTC(), Action: event.Action(i.getStr("action")),
		Actor:  event.Actor{Type: i.getStr("by_type"), ID: i.getStr("by_id")},
		Target: event.Target{Type: i.getStr("on_type"), ID: i.getStr("on_id")}, Detail: i.getStr("detail"), RequestID: i.getStr("request"),
	}
}
