package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/id"
)

// field copies the items of one artifact: its gate, its revision and the files of that.
type field struct {
	client *dynamodb.Client
	table  string
	gate   item
	others []item
	grown  int // artifacts, with the first
}

type item = map[string]types.AttributeValue

// openField reads the items of an artifact as the store wrote them.
func (b *bench) openField(ctx context.Context, a id.Artifact) (*field, error) {
	f := &field{client: b.engines.DynamoDBClient(), table: dynamo.Named(b.tables).Core, grown: 1}
	out, err := f.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &f.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :artifact"),
		ExpressionAttributeValues: item{":artifact": text("A#" + string(a))},
	})
	if err != nil {
		return nil, err
	}
	for _, i := range out.Items {
		if spelt(i["sk"]) == "META" {
			f.gate = i
		} else {
			f.others = append(f.others, i)
		}
	}
	if f.gate == nil || len(f.others) != 1 {
		return nil, fmt.Errorf("an artifact has %d items, expected its gate and a revision with its files", len(out.Items))
	}
	return f, nil
}

// batchMost is how many items one BatchWriteItem takes.
const batchMost = 25

// grow makes copies until there are so many artifacts.
func (f *field) grow(ctx context.Context, artifacts int) error {
	if artifacts <= f.grown {
		return nil
	}
	perBatch := batchMost / (1 + len(f.others))
	batches := (artifacts - f.grown + perBatch - 1) / perBatch
	_, err := each(ctx, batches, func(ctx context.Context, batch int) (none struct{}, err error) {
		var writes []types.WriteRequest
		for n := f.grown + batch*perBatch; n < min(artifacts, f.grown+(batch+1)*perBatch); n++ {
			writes = append(writes, f.copies(n)...)
		}
		return none, f.write(ctx, writes)
	})
	f.grown = artifacts
	return err
}

// copies are the items of the n-th copy, which is n milliseconds older than the first.
func (f *field) copies(n int) []types.WriteRequest {
	var ordered [16]byte // an engine on a disk takes keys in order many times faster than random ones
	binary.BigEndian.PutUint64(ordered[:], uint64(n))
	a := id.ArtifactOf(ordered)
	gate := maps.Clone(f.gate)
	created, _ := strconv.ParseInt(spelt(f.gate["created"]), 10, 64) // milliseconds
	created -= int64(n)
	gate["created"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(created, 10)}
	gate["g1s"] = text(fmt.Sprintf("%013d#%s", created, a))
	due := spelt(gate["g2p"])
	gate["g2p"] = text(due[:len(due)-1] + strconv.Itoa(n%4)) // one of its parts, whichever
	var writes []types.WriteRequest
	for _, i := range append([]item{gate}, f.others...) {
		i = maps.Clone(i)
		i["pk"] = text("A#" + string(a))
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: i}})
	}
	return writes
}

// write writes, and again what was left undone.
func (f *field) write(ctx context.Context, writes []types.WriteRequest) error {
	for try := range 10 {
		out, err := f.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{f.table: writes},
		})
		if err != nil {
			return err
		}
		if writes = out.UnprocessedItems[f.table]; len(writes) == 0 {
			return nil
		}
		time.Sleep(time.Duration(try) * 50 * time.Millisecond)
	}
	return errors.New("the table does not take the copies")
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func spelt(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}
