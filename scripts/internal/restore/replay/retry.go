package replay

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/rows"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// dayLayout is how counters name a UTC day.
const dayLayout = "20060102"

// counterLife is how long a counter of a day is kept.
const counterLife = 3 * limits.Day

// ForgetRetries deletes the records of commands that began after the instant, because a repetition would be answered
// with what the restored set does not have. Commands of the 5 minutes before may have committed after it, so their
// records go too: a repetition that is done twice is better than one that is not done. What each workspace published
// first on the days since is counted anew. All of it is in the hot table of the set, which may be the living one.
func ForgetRetries(ctx context.Context, set, living invariant.Deployment, instant time.Time) (Report, error) {
	r := storeOf(set)
	day := instant.UTC().Truncate(limits.Day)
	first, err := firstPublished(ctx, set, day)
	if err != nil {
		return Report{}, err
	}
	var gone []rows.Item
	counts := map[string]int{}
	for i, err := range r.Scan(ctx, r.Tables.Hot) {
		if err != nil {
			return Report{}, err
		}
		if kind := staleKind(i, instant, day); kind != "" {
			counts[kind]++
			gone = append(gone, rows.Item{"pk": i["pk"]})
		}
	}
	if err := r.removeAll(ctx, r.Tables.Hot, gone); err != nil {
		return Report{}, err
	}
	for _, d := range sorted(first) {
		if err := r.putCounts(ctx, d, first[d]); err != nil {
			return Report{}, err
		}
	}
	report := counted("forgotten", map[string]int{"i": counts["i"]})
	if set.Tables.Hot == living.Tables.Hot {
		report.say("they were those of the living table, which the restored set uses on")
	}
	return report, nil
}

// staleKind returns the kind of an item of hot that goes: a record of a command that began after the instant, or a
// counter of a day since. It is empty for what stays.
func staleKind(i rows.Item, instant, day time.Time) string {
	parts := strings.Split(i.Text("pk"), ":")
	switch {
	case parts[0] == "i" && i.Number("ttl") >= instant.Add(limits.ReplayLife-window).Unix(),
		parts[0] == "d" && len(parts) == 4 && parts[2] >= day.Format(dayLayout):
		return parts[0]
	}
	return ""
}

// daily is a workspace and a UTC day.
type daily struct {
	workspace id.Workspace
	day       string
}

// firstPublished counts the artifacts that each workspace published first on a day since one. An artifact may belong to
// another workspace since, so the event of its publication says whose allowance it took.
func firstPublished(ctx context.Context, set invariant.Deployment, since time.Time) (map[daily]int, error) {
	events, err := Read(ctx, set, since)
	if err != nil {
		return nil, err
	}
	publishers := map[id.Revision]id.Workspace{}
	for _, e := range events {
		if e.Action == event.ArtifactPublished {
			publishers[id.Revision(e.Target.ID)] = e.Workspace
		}
	}
	counts := map[daily]int{}
	for i, err := range storeOf(set).Scan(ctx, set.Tables.Core) {
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutPrefix(i.Text("sk"), "R#")
		at := time.UnixMilli(i.Number("pub_at")).UTC()
		if ok && strings.HasPrefix(i.Text("pk"), "A#") && i.Number("no") == 1 && !at.Before(since) {
			counts[daily{publishers[id.Revision(name)], at.Format(dayLayout)}]++
		}
	}
	return counts, nil
}

// putCounts writes a count into the counters that share it, evenly, as no counter may have more than its part.
func (s store) putCounts(ctx context.Context, d daily, n int) error {
	day, err := time.Parse(dayLayout, d.day)
	if err != nil {
		return err
	}
	for shard := range limits.AllowanceShards {
		share := n / limits.AllowanceShards
		if shard < n%limits.AllowanceShards {
			share++
		}
		_, err := s.Client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &s.Tables.Hot,
			Item: rows.Item{
				"pk":  rows.Text(fmt.Sprintf("d:%s:%s:%d", d.workspace, d.day, shard)),
				"c":   rows.Number(int64(share)),
				"ttl": rows.Number(day.Add(counterLife).Unix()),
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Finish records that the deployment was restored to an instant, with one event however often it is called.
func Finish(ctx context.Context, set invariant.Deployment, instant, now time.Time) error {
	r := storeOf(set)
	e := event.Event{
		ID:        restoredID(instant, set.Tables),
		Workspace: id.NoWorkspace,
		At:        now.UTC().Truncate(time.Millisecond),
		Action:    event.DeploymentRestored,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: event.OnDeployment, ID: set.Tables.Core},
		Detail:    "to " + instant.UTC().Format(time.RFC3339),
	}
	found := false
	err := r.list(ctx, dynamodb.QueryInput{
		TableName:                 &r.Tables.Events,
		KeyConditionExpression:    aws.String("pk = :of"),
		ExpressionAttributeValues: rows.Item{":of": eventKey(e)["pk"]},
		ConsistentRead:            aws.Bool(true),
	}, func(i rows.Item) error {
		found = found || strings.HasSuffix(i.Text("sk"), "#"+string(e.ID))
		return nil
	})
	if err != nil || found {
		return err
	}
	return dynamo.New(set.DynamoDB, set.Tables).Lookups.Record(ctx, e)
}

// restoredID returns the id of the event of a restore, which follows from what was restored.
func restoredID(instant time.Time, t dynamo.Tables) id.Event {
	sum := sha256.Sum256([]byte("restored\x00" + instant.UTC().Format(time.RFC3339Nano) + "\x00" + t.Events))
	body := id.ArtifactOf(id.Bits(sum[:len(id.Bits{})]))
	return id.Event("evt_" + strings.TrimPrefix(string(body), "art_"))
}
