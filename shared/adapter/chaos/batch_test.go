package chaos_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
)

func TestKeysOfABatchComeBackUnprocessed(t *testing.T) {
	for name, c := range map[string]struct{ n, got, rest int }{
		"the last one": {1, 2, 1}, "more than a table has": {2, 1, 2}, "all": {3, 0, 3}, "more than all": {9, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			inj := chaos.For(t)
			d := newDatabase(t, inj)
			other := d.table + "-other"
			d.create(t, other)
			fill(t, d, d.table, "a", "b")
			fill(t, d, other, "c")
			inj.On("BatchGetItem").Unprocessed(c.n)
			in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				d.table: {Keys: []item{key("a"), key("b")}, ConsistentRead: aws.Bool(true)},
				other:   {Keys: []item{key("c")}, ConsistentRead: aws.Bool(true)},
			}}
			out := expect.Value(d.BatchGetItem(t.Context(), in))(t)
			got, rest := 0, 0
			for _, items := range out.Responses {
				got += len(items)
			}
			for _, one := range out.UnprocessedKeys {
				if rest += len(one.Keys); !*one.ConsistentRead {
					t.Error("the consistency got lost")
				}
			}
			if got != c.got || rest != c.rest {
				t.Errorf("%d items and %d unprocessed keys, want %d and %d", got, rest, c.got, c.rest)
			}
			in.RequestItems = out.UnprocessedKeys
			if again, err := d.BatchGetItem(t.Context(), in); err != nil || len(again.UnprocessedKeys) != 0 {
				t.Errorf("the rest: %v, %v", again, err)
			}
		})
	}
}

func TestUnprocessedWritesAreNotWritten(t *testing.T) {
	for name, c := range map[string]struct {
		n          int
		a, b, rest bool
	}{"the last one": {1, true, false, true}, "all": {2, false, false, true}} {
		t.Run(name, func(t *testing.T) {
			inj := chaos.For(t)
			d := newDatabase(t, inj)
			inj.On("BatchWriteItem").Unprocessed(c.n)
			rest := fill(t, d, d.table, "a", "b")
			if len(rest[d.table]) != c.n {
				t.Errorf("unprocessed: %v", rest)
			}
			d.wantItem(t, "a", c.a)
			d.wantItem(t, "b", c.b)
			expect.Value(d.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: rest}))(t)
			d.wantItem(t, "b", true)
		})
	}
}

func TestUnprocessedIsForBatches(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	inj.On("PutItem").Unprocessed(1)
	if err := d.put(t.Context(), "a"); err == nil {
		t.Error("no error")
	}
	defer func() {
		if recover() == nil {
			t.Error("a rule mixes operations and attempts")
		}
	}()
	chaos.New().On("BatchGetItem").Unprocessed(1).Before(chaos.Throttle)
}

func fill(t *testing.T, d database, table string, keys ...string) map[string][]types.WriteRequest {
	t.Helper()
	var requests []types.WriteRequest
	for _, k := range keys {
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: key(k)}})
	}
	out, err := d.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{table: requests},
	})
	expect.OK(t, err)
	return out.UnprocessedItems
}
