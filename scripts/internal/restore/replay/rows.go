package replay

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/rows"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// store is the tables of a set.
type store struct{ rows.Set }

func storeOf(d invariant.Deployment) store { return store{d.Rows()} }

func eventKey(e event.Event) rows.Item {
	return rows.Key("W#"+string(e.Workspace), fmt.Sprintf("%013d#%s", e.At.UnixMilli(), e.ID))
}

// list calls do for each item that a query finds.
func (s store) list(ctx context.Context, in dynamodb.QueryInput, do func(rows.Item) error) error {
	pages := dynamodb.NewQueryPaginator(s.Client, &in)
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

// batchRead is the most keys that one read takes, and recorded the most events that one transaction records.
const batchRead, batchWrite = 100, 100

// which returns which of the events the set has.
func (s store) which(ctx context.Context, events []event.Event) (map[id.Event]bool, error) {
	found := map[id.Event]bool{}
	for part := range slices.Chunk(events, batchRead) {
		keys := map[string]id.Event{}
		var ask []map[string]types.AttributeValue
		for _, e := range part {
			k := eventKey(e)
			keys[k.Text("pk")+" "+k.Text("sk")] = e.ID
			ask = append(ask, k)
		}
		for len(ask) > 0 {
			out, err := s.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{s.Tables.Events: {
					Keys:                 ask,
					ConsistentRead:       aws.Bool(true),
					ProjectionExpression: aws.String("pk, sk"),
				}},
			})
			if err != nil {
				return nil, err
			}
			for _, i := range out.Responses[s.Tables.Events] {
				found[keys[rows.Item(i).Text("pk")+" "+rows.Item(i).Text("sk")]] = true
			}
			ask = out.UnprocessedKeys[s.Tables.Events].Keys
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
