package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// holdBack sends a batch without its last n parts, and returns those as unprocessed together with what the engine left.
func holdBack(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler, n int) (
	out middleware.InitializeOutput, md middleware.Metadata, err error,
) {
	switch input := in.Parameters.(type) {
	case *dynamodb.BatchGetItemInput:
		send, hold := splitKeys(input.RequestItems, n)
		out.Result = &dynamodb.BatchGetItemOutput{}
		if len(send) > 0 {
			c := *input
			c.RequestItems = send
			out, md, err = next.HandleInitialize(ctx, middleware.InitializeInput{Parameters: &c})
		}
		if got, ok := out.Result.(*dynamodb.BatchGetItemOutput); ok && err == nil {
			got.UnprocessedKeys = joinKeys(got.UnprocessedKeys, hold)
		}
		return out, md, err
	case *dynamodb.BatchWriteItemInput:
		send, hold := splitLists(input.RequestItems, n)
		out.Result = &dynamodb.BatchWriteItemOutput{}
		if len(send) > 0 {
			c := *input
			c.RequestItems = send
			out, md, err = next.HandleInitialize(ctx, middleware.InitializeInput{Parameters: &c})
		}
		if got, ok := out.Result.(*dynamodb.BatchWriteItemOutput); ok && err == nil {
			got.UnprocessedItems = joinLists(got.UnprocessedItems, hold)
		}
		return out, md, err
	}
	return out, md, fmt.Errorf("chaos: Unprocessed is for batches, not for %T", in.Parameters)
}

// splitLists splits the last n elements off. It orders tables by name, so that the split is the same each time.
func splitLists[T any](all map[string][]T, n int) (send, hold map[string][]T) {
	send, hold = map[string][]T{}, map[string][]T{}
	for _, table := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		list := all[table]
		at := max(len(list)-n, 0)
		n -= len(list) - at
		if at > 0 {
			send[table] = list[:at]
		}
		if at < len(list) {
			hold[table] = list[at:]
		}
	}
	return send, hold
}

func joinLists[T any](a, b map[string][]T) map[string][]T {
	joined := map[string][]T{}
	for _, m := range []map[string][]T{a, b} {
		for table, list := range m {
			joined[table] = append(joined[table], list...)
		}
	}
	return joined
}

type keys = map[string]types.KeysAndAttributes

func splitKeys(all keys, n int) (send, hold keys) {
	sent, held := splitLists(lists(all), n)
	return withLists(all, sent), withLists(all, held)
}

func joinKeys(a, b keys) keys {
	settings := maps.Clone(b)
	maps.Copy(settings, a)
	return withLists(settings, joinLists(lists(a), lists(b)))
}

func lists(k keys) map[string][]map[string]types.AttributeValue {
	l := map[string][]map[string]types.AttributeValue{}
	for table, one := range k {
		l[table] = one.Keys
	}
	return l
}

// withLists returns a copy of k with other keys, for each part of it with the same consistency and projection.
func withLists(k keys, l map[string][]map[string]types.AttributeValue) keys {
	out := keys{}
	for table, list := range l {
		one := k[table]
		one.Keys = list
		out[table] = one
	}
	return out
}
