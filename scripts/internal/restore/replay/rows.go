package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// rows reads and writes items by their keys, for what no store does because no request may do it.
type rows struct {
	client *dynamodb.Client
	tables dynamo.Tables
}

type item = map[string]types.AttributeValue

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func millis(t time.Time) types.AttributeValue { return number(t.UnixMilli()) }

func textOf(i item, name string) string {
	v, _ := i[name].(*types.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

func numberOf(i item, name string) int64 {
	v, _ := i[name].(*types.AttributeValueMemberN)
	if v == nil {
		return 0
	}
	n, _ := strconv.ParseInt(v.Value, 10, 64)
	return n
}

// keyOf returns the key of an item of core or events.
func keyOf(pk, sk string) item { return item{"pk": str(pk), "sk": str(sk)} }

func eventKey(e event.Event) item {
	return keyOf("W#"+string(e.Workspace), fmt.Sprintf("%013d#%s", e.At.UnixMilli(), e.ID))
}

func (r rows) get(ctx context.Context, key item) (item, error) {
	out, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &r.tables.Core,
		Key:            key,
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

func (r rows) remove(ctx context.Context, table string, key item) error {
	_, err := r.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key})
	return err
}

// scan calls do for each item of a table, with strong reads.
func (r rows) scan(ctx context.Context, table string, do func(item) error) error {
	pages := dynamodb.NewScanPaginator(r.client, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, i := range page.Items {
			if err := do(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// list calls do for each item that a query finds.
func (r rows) list(ctx context.Context, in dynamodb.QueryInput, do func(item) error) error {
	pages := dynamodb.NewQueryPaginator(r.client, &in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, i := range page.Items {
			if err := do(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// update is a conditional change of an item. Its placeholders have the names of the attributes.
type update struct {
	key    item
	set    string
	only   string // condition
	values item   // by placeholder
	names  map[string]string
}

// change makes an update of an item of core, and reports whether its condition held.
func (r rows) change(ctx context.Context, u update) (bool, error) {
	_, err := r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &r.tables.Core,
		Key:                       u.key,
		UpdateExpression:          &u.set,
		ConditionExpression:       &u.only,
		ExpressionAttributeValues: u.values,
		ExpressionAttributeNames:  u.names,
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return false, nil
	}
	return err == nil, err
}

// batchRead is the most keys that one read takes, and recorded the most events that one transaction records.
const batchRead, batchWrite = 100, 100

// which returns which of the events the set has.
func (r rows) which(ctx context.Context, events []event.Event) (map[id.Event]bool, error) {
	found := map[id.Event]bool{}
	for part := range slices.Chunk(events, batchRead) {
		keys := map[string]id.Event{}
		var ask []map[string]types.AttributeValue
		for _, e := range part {
			k := eventKey(e)
			keys[textOf(k, "pk")+" "+textOf(k, "sk")] = e.ID
			ask = append(ask, k)
		}
		for len(ask) > 0 {
			out, err := r.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{r.tables.Events: {
					Keys:                 ask,
					ConsistentRead:       aws.Bool(true),
					ProjectionExpression: aws.String("pk, sk"),
				}},
			})
			if err != nil {
				return nil, err
			}
			for _, i := range out.Responses[r.tables.Events] {
				found[keys[textOf(i, "pk")+" "+textOf(i, "sk")]] = true
			}
			ask = out.UnprocessedKeys[r.tables.Events].Keys
		}
	}
	return found, nil
}

// copy records the events that the set lacks.
func (a *applier) copy(ctx context.Context, events []event.Event) error {
	have, err := a.which(ctx, events)
	if err != nil {
		return err
	}
	maps.Copy(a.recorded, have)
	missing := slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return have[e.ID] || a.held[e.ID] })
	for part := range slices.Chunk(missing, batchWrite) {
		if err := a.stores.Lookups.Record(ctx, part...); err != nil {
			return err
		}
	}
	return nil
}
