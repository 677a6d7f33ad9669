package dynamo

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/identity/account"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Events lists the audit events of one workspace, or of all.
type Events struct{ *db }

var _ account.Events = Events{}

// eventItem returns an event as it is stored in the record of its workspace and listed in the index of all workspaces.
func eventItem(e event.Event) item {
	k := eventKey(e.Workspace, e.At, e.ID)
	return encode(k, &e, eventFields).
		str("g1p", eventsOn(e.At, eventShard(e.ID))).str("g1s", k.sk).ttl(e.At.Add(limits.EventLife))
}

func eventFields(f fields, e *event.Event) {
	text(f, "action", &e.Action)
	text(f, "by_type", &e.Actor.Type)
	text(f, "by_id", &e.Actor.ID)
	text(f, "on_type", &e.Target.Type)
	text(f, "on_id", &e.Target.ID)
	text(f, "rev", &e.Revision)
	text(f, "art", &e.Artifact)
	integer(f, "no", &e.Number)
	text(f, "detail", &e.Detail)
	text(f, "request", &e.RequestID)
}

func readEvent(i item, w id.Workspace) event.Event {
	at, name := parseTimeKey[id.Event](i.key().sk)
	out := event.Event{ID: name, Workspace: w, At: at}
	eventFields(reading(i), &out)
	return out
}

// How much is read for one page when few events pass the filter.
const (
	maxEventPages = 5                       // DynamoDB pages that are read of one partition
	eventBudget   = 1500 * time.Millisecond // after which neither another of those pages nor another day is begun
)

// eventPartition is one partition of events. It is read from the newest event to the oldest.
type eventPartition struct {
	index *string // nil: the table itself
	key   string  // partition attribute
	sort  string
	value string
	since time.Time // events before it have expired, even if they are still stored, or are not asked for
}

// eventPage is what was read of one partition.
type eventPage struct {
	rows []event.Event
	end  string // sort key of the last event that was read; empty: all were
}

// List implements account.Events. The events of one workspace are a partition of the table. Those of all workspaces are
// partitions of the index, read day by day.
func (s Events) List(
	ctx context.Context, f account.Filter, now time.Time, after account.Position, limit int,
) ([]event.Event, account.Position, bool, error) {
	since := now.Add(-limits.EventLife)
	if f.Since.After(since) {
		since = f.Since
	}
	if f.Workspace != "" {
		one := eventPartition{
			key:   "pk",
			sort:  "sk",
			value: workspaceKey(f.Workspace).pk,
			since: since,
		}
		rows, floor, err := s.merge(ctx, []eventPartition{one}, f, after, limit)
		return cutEvents(rows, floor, limit, err)
	}
	day := after.At
	last := since.UTC().Truncate(limits.Day)
	start := time.Now()
	if after.ID == "" {
		day = now.Add(limits.AssertionLeeway) // the clocks of other functions may be ahead
	}
	var rows []event.Event
	for day = day.UTC().Truncate(limits.Day); !day.Before(last); day = day.Add(-limits.Day) {
		parts := make([]eventPartition, eventShards)
		for n := range parts {
			parts[n] = eventPartition{aws.String(listIndex), "g1p", "g1s", eventsOn(day, n), since}
		}
		found, floor, err := s.merge(ctx, parts, f, after, limit)
		rows = append(rows, found...)
		if floor == "" && time.Since(start) > eventBudget {
			floor = timeKey(day, "evt_") // sorts before every event of the day
		}
		if err != nil || floor != "" || len(rows) > limit {
			return cutEvents(rows, floor, limit, err)
		}
	}
	return rows, account.Position{}, false, nil
}

// cutEvents cuts events to a page. floor is the sort key at which reading stopped; empty: it reached the end.
func cutEvents(rows []event.Event, floor string, limit int, err error) ([]event.Event, account.Position, bool, error) {
	switch {
	case err != nil:
		return nil, account.Position{}, false, err
	case len(rows) > limit:
		last := rows[limit-1]
		return rows[:limit], account.Position{At: last.At, ID: last.ID}, true, nil
	case floor != "":
		at, name := parseTimeKey[id.Event](floor)
		return rows, account.Position{At: at, ID: name}, true, nil
	}
	return rows, account.Position{}, false, nil
}

// merge reads partitions concurrently and returns their newest events, more than limit if there are more. If it stopped
// reading one partition early, it also drops what the others have beyond that point, and returns the point as floor.
func (s Events) merge(
	ctx context.Context, parts []eventPartition, f account.Filter, after account.Position, limit int,
) (rows []event.Event, floor string, err error) {
	pages := make([]*async.Future[eventPage], len(parts))
	for n, p := range parts {
		pages[n] = async.Go(func() (eventPage, error) { return s.readPartition(ctx, p, f, after, limit) })
	}
	for _, page := range pages {
		one, failed := page.Wait()
		rows = append(rows, one.rows...)
		floor = max(floor, one.end)
		err = cmp.Or(err, failed)
	}
	rows = slices.DeleteFunc(rows, func(e event.Event) bool { return eventPlace(e) < floor })
	slices.SortFunc(rows, func(x, y event.Event) int { return strings.Compare(eventPlace(y), eventPlace(x)) })
	return rows, floor, err
}

func eventPlace(e event.Event) string { return timeKey(e.At, e.ID) }

// readPartition reads one partition until it has one event more than a page, reaches the end, or has read enough.
func (s Events) readPartition(
	ctx context.Context, p eventPartition, f account.Filter, after account.Position, limit int,
) (out eventPage, err error) {
	in := s.query(p, f, after, limit)
	for start, pages := time.Now(), 0; pages < maxEventPages && (pages == 0 || time.Since(start) < eventBudget); pages++ {
		found, err := s.client.Query(ctx, in)
		if err != nil {
			return eventPage{}, unavailable(err)
		}
		for _, i := range found.Items {
			if e := readEvent(i, partitionID[id.Workspace](item(i).key())); !e.At.Before(p.since) {
				out.rows = append(out.rows, e)
			}
		}
		end := item(found.LastEvaluatedKey)
		if at, _ := parseTimeKey[id.Event](end.key().sk); end == nil || at.Before(p.since) {
			out.end = ""
			return out, nil
		}
		if out.end = end.key().sk; len(out.rows) > limit {
			return out, nil
		}
		if in.ExclusiveStartKey = end; in.FilterExpression != nil {
			in.Limit = nil // few events passed: read whole pages
		}
	}
	return out, nil
}

// query returns the query for the newest events of a partition after a position.
func (s Events) query(p eventPartition, f account.Filter, after account.Position, limit int) *dynamodb.QueryInput {
	condition, v := "#"+p.key+" = :list", values{"list": p.value}
	if after.ID != "" {
		condition += " AND #" + p.sort + " < :after"
		v["after"] = timeKey(after.At, after.ID)
	}
	filter := filterOf(f, v)
	in := &dynamodb.QueryInput{
		TableName:                 &s.tables.Events,
		IndexName:                 p.index,
		KeyConditionExpression:    &condition,
		FilterExpression:          optional(filter),
		ExpressionAttributeNames:  names(condition, filter),
		ExpressionAttributeValues: v.attributes(),
		ScanIndexForward:          aws.Bool(false),
	}
	if filter == "" || f.Actors != nil { // all or most events pass, so a small read is enough
		in.Limit = aws.Int32(int32(limit + 1))
	}
	return in
}

// filterOf returns the filter expression of f.
func filterOf(f account.Filter, v values) string {
	var all []string
	is := func(attribute, value string) {
		if value != "" {
			all = append(all, "#"+attribute+" = :"+attribute)
			v[attribute] = value
		}
	}
	is("by_type", f.ActorType)
	is("on_type", f.TargetType)
	is("request", f.RequestID)
	if f.Actors != nil {
		all = append(all, among(v, "by_type", "by", f.Actors))
	}
	if f.Actions != nil {
		all = append(all, among(v, "action", "is", f.Actions))
	}
	if f.Others != nil {
		all = append(all, "NOT "+among(v, "action", "not", f.Others))
	}
	return strings.Join(all, " AND ")
}

// among returns a condition that holds if the attribute has one of these values. prefix names their placeholders.
func among[T ~string](v values, attribute, prefix string, any []T) string {
	said := make([]string, len(any))
	for n, one := range any {
		name := prefix + strconv.Itoa(n)
		said[n], v[name] = ":"+name, string(one)
	}
	return "#" + attribute + " IN (" + strings.Join(said, ", ") + ")"
}
